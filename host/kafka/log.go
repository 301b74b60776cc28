package kafka

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"
)

// clientLog passes the client's own messages on, all as debug: what a user must know of them is said by this package.
type clientLog struct{ log *slog.Logger }

// Level returns how much the client is to say.
func (l *clientLog) Level() kgo.LogLevel {
	if l.log.Enabled(context.Background(), slog.LevelDebug) {
		return kgo.LogLevelInfo
	}
	return kgo.LogLevelNone
}

// Log passes a message on.
func (l *clientLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	l.log.Debug(msg, append(keyvals, "kafka_level", level.String())...)
}
