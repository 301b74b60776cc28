package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() { os.Exit(mainCode()) }

// mainCode runs the command under a context that ends with the first interrupt or SIGTERM. From then on signals have
// their usual effect again, so that a second Ctrl-C ends a process that does not end by itself.
func mainCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return runApp(ctx, os.Args, streams{in: os.Stdin, out: os.Stdout, err: os.Stderr})
}
