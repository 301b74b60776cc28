package broker

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/twmb/franz-go/pkg/kfake"
)

// advertised is a listener that gives itself out for another address.
type advertised struct {
	net.Listener
	addr address
}

// Addr returns the advertised address.
func (a *advertised) Addr() net.Addr { return a.addr }

// address is a host:port that clients are told.
type address string

// Network returns "tcp".
func (address) Network() string { return "tcp" }

// String returns the host:port.
func (a address) String() string { return string(a) }

// logger passes the broker's messages on.
type logger struct{ log *slog.Logger }

// Logf passes a message on: its errors as warnings, the rest as debug.
func (l logger) Logf(level kfake.LogLevel, format string, args ...any) {
	to := slog.LevelDebug
	if level <= kfake.LogLevelError {
		to = slog.LevelWarn
	}
	if l.log.Enabled(context.Background(), to) {
		l.log.Log(context.Background(), to, fmt.Sprintf(format, args...))
	}
}
