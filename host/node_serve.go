package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/observe"
)

// ServeOptions are what Serve needs beside the node's own.
type ServeOptions struct {
	NodeOptions
	Listen     string   // HOST:PORT; port 0 takes any free one
	AllowHosts []string // further names under which the API may be asked
	// Broker starts the embedded broker and returns its address and what stops it; nil: there is none.
	Broker func() (address string, stop func() error, err error)
	// OnListen is called with the address that the API listens on.
	OnListen func(address string)
}

// shutdownWait is how long a node takes, at most, to stop its pipelines.
const shutdownWait = stopWait + 5*time.Second

// Serve runs a node with its API until ctx ends, then stops: pipelines after a last commit each, then the API, then the
// embedded broker.
func Serve(ctx context.Context, o ServeOptions) (err error) {
	l, err := listen(o.Listen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeListener(l)) }()
	// The lock comes before the broker, whose files lie in the same folder.
	n, err := OpenNode(o.NodeOptions)
	if err != nil {
		return err
	}
	stopBroker := func() error { return nil }
	if o.Broker != nil {
		if n.opts.Embedded, stopBroker, err = o.Broker(); err != nil {
			return errors.Join(err, n.Close(ctx))
		}
	}
	defer func() { err = errors.Join(err, stopBroker()) }()
	address := l.Addr().String()
	srv := admin.NewServer(n, admin.Options{
		Listen: address, AllowHosts: append([]string{o.Listen}, o.AllowHosts...), Log: o.Log,
		Metrics: observe.Handler(observe.NewCollector(n.Metrics), o.Log),
	})
	served, serveErr := make(chan struct{}), error(nil)
	go func() { defer close(served); serveErr = srv.Serve(l) }()
	if host, _, err := net.SplitHostPort(address); err == nil && !net.ParseIP(host).IsLoopback() {
		o.Log.Warn("the admin API has no password and listens on an address that others may reach", "address", address)
	}
	o.Log.Info("node runs", "address", address, "data", o.DataDir, "pipelines", len(n.all()))
	if o.OnListen != nil {
		o.OnListen(address)
	}
	n.StartAll()
	select {
	case <-ctx.Done():
		o.Log.Info("node stops")
	case <-served:
	}
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWait)
	defer cancel()
	err = n.Close(wait)
	rest, cancelRest := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancelRest()
	err = errors.Join(err, srv.Shutdown(rest))
	<-served
	return errors.Join(serveErr, err)
}

// listen opens the address of the API.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, inUse{fmt.Sprintf("address %s is in use, perhaps by another wgate serve: stop that one, or take another with --listen", address)}
	case err != nil:
		return nil, fmt.Errorf("cannot listen on %s: %w", address, err)
	}
	return l, nil
}

// inUse is EADDRINUSE in other words.
type inUse struct{ text string }

func (e inUse) Error() string { return e.text }
func (e inUse) Unwrap() error { return syscall.EADDRINUSE }

func closeListener(l net.Listener) error {
	if err := l.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
