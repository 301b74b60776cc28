package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host"
	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/broker"
)

func (s streams) devCommand() *cli.Command {
	return &cli.Command{
		Name:      "dev",
		Usage:     "run a pipeline and replace it with each save",
		ArgsUsage: "[FOLDER]",
		Description: "Starts a node and a broker in this process, runs the pipeline of the folder, shows its results as they are\n" +
			"committed, and watches its files: a saved pipeline is deployed in place, a saved Go plugin is built first (its\n" +
			"source is the folder beside NAME.wasm that is called NAME, or the one that NAME.wasm lies in). While a file is\n" +
			"broken the version before it runs. Topics are made as they are needed. The other commands work on this node.",
		Category: "Try it",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "listen", Value: defaultNode, Usage: "`HOST:PORT` of the admin API (default: another port if that one is taken)", EnvVars: []string{"WGATE_LISTEN"}},
			&cli.StringFlag{Name: "data", Value: filepath.Join(dataDir, "dev"), Usage: "`FOLDER` of topics and state", EnvVars: []string{"WGATE_DATA"}},
			newOptionalFlag("embedded-broker", defaultBroker, "WGATE_EMBEDDED_BROKER", "run the broker at =HOST:PORT (another port if none is given and that one is taken)"),
			&cli.BoolFlag{Name: "fresh", Usage: "begin with empty topics and no state"},
			&cli.StringFlag{Name: "plugin-cache", EnvVars: []string{"WGATE_PLUGIN_CACHE"}, Usage: "keep compiled plugins in `FOLDER` (default: in --data)"},
			&cli.StringFlag{Name: "log-level", Value: "warn", EnvVars: []string{"WGATE_LOG_LEVEL"}, Usage: "log what is at least of `LEVEL`: debug, info, warn or error"},
			&cli.StringFlag{Name: "log-format", Value: "text", EnvVars: []string{"WGATE_LOG_FORMAT"}, Usage: "log as `FORMAT`: text or json"},
		}, pipelineFlags...),
		Action: s.dev,
	}
}

// devSession is one run of `wgate dev`. One goroutine owns it; results are shown by another.
type devSession struct {
	streams
	c       *cli.Context
	out     *sharedPrinter
	client  *admin.Client
	broker  string // address of the embedded one
	watch   *watcher
	results *resultView

	deployed string        // name of the pipeline that runs
	bundle   *admin.Bundle // and what it is
	broken   bool          // the files are not what runs
}

func (s streams) dev(c *cli.Context) (err error) {
	if _, err := arguments(c, 0, 1); err != nil {
		return err
	}
	data := c.String("data")
	if c.Bool("fresh") {
		for _, part := range []string{"broker", "pipelines", "state"} {
			if err := os.RemoveAll(filepath.Join(data, part)); err != nil {
				return err
			}
		}
	}
	ctx, cancel := context.WithCancel(c.Context)
	node, err := s.devNode(ctx, c)
	if err != nil {
		cancel()
		return err
	}
	// The node stops last: what runs commits once more.
	defer func() { cancel(); err = errors.Join(err, <-node.done) }()
	d := &devSession{streams: s, c: c, out: &sharedPrinter{p: newPrinter(s.out)}, broker: node.broker}
	d.results = &resultView{out: d.out}
	defer d.results.stop()
	if d.client, err = admin.NewClient(node.address); err != nil {
		return err
	}
	defer d.client.Close()
	if d.watch, err = newWatcher(); err != nil {
		return err
	}
	defer d.watch.close()
	d.out.printf("node http://%s, broker %s; Ctrl-C ends both\n", node.address, d.broker)
	d.reload(ctx, nil)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-node.done:
			node.done <- nil
			return err
		case changed := <-d.watch.changes:
			d.reload(ctx, changed)
		}
	}
}

// devNode is the node in this process.
type devNode struct {
	address, broker string
	done            chan error // gives one value when the node has stopped
}

// devNode starts a node and its broker, and waits until both listen.
func (s streams) devNode(ctx context.Context, c *cli.Context) (*devNode, error) {
	log, err := s.logger(c)
	if err != nil {
		return nil, err
	}
	n := &devNode{done: make(chan error, 2)}
	listening := make(chan string, 1)
	o := host.ServeOptions{
		NodeOptions: host.NodeOptions{
			DataDir: c.String("data"), Files: devFolder(c), Version: version, Log: log,
			Job: host.Options{Stdout: s.out, PluginCache: c.String("plugin-cache"), CreateTopics: true},
		},
		Listen:   c.String("listen"),
		OnListen: func(address string) { listening <- address },
		Broker: func() (string, func() error, error) {
			b, err := devBroker(c.String("embedded-broker"), filepath.Join(c.String("data"), "broker"))
			if err != nil {
				return "", nil, err
			}
			n.broker = b.Addr()
			return b.Addr(), closer(b), nil
		},
	}
	for try := 0; ; try++ {
		go func() { n.done <- host.Serve(ctx, o) }()
		select {
		case n.address = <-listening:
			return n, nil
		case err = <-n.done:
		}
		if err == nil {
			err = ctx.Err()
		}
		if try > 0 || c.IsSet("listen") || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
		o.Listen = "127.0.0.1:0"
	}
}

// devBroker starts the embedded broker: where it is told to, else at the usual address or, if that is taken, at another.
func devBroker(at, dir string) (*broker.Broker, error) {
	if at == "" {
		at = defaultBroker
		l, err := net.Listen("tcp", at)
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			at = "127.0.0.1:0"
		case err == nil:
			err = l.Close()
		}
		if err != nil && !errors.Is(err, syscall.EADDRINUSE) {
			return nil, err
		}
	}
	return startBroker(broker.Options{Listen: at, Flag: embeddedFlag, DataDir: dir})
}

// devFolder is where the pipeline's files are.
func devFolder(c *cli.Context) string {
	path := c.Args().First()
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return filepath.Dir(path)
	}
	if path == "" {
		return "."
	}
	return path
}

// reload builds and deploys what there is now. Whatever goes wrong is shown, and what runs goes on.
func (d *devSession) reload(ctx context.Context, changed []string) {
	began := time.Now()
	p, check, err := d.check(d.c, true)
	if err == nil && len(check.Diagnostics) > 0 {
		d.out.do(func(pr *printer) { pr.err = config.RenderJSON(pr.w, check.Diagnostics, pr.colour) })
	}
	if err == nil && p == nil {
		err = errors.New("the pipeline is not valid")
	}
	if err == nil {
		err = d.watch.set(watched(d.c, p))
	} else {
		// Without a pipeline the plugins that were watched go on to be.
		err = errors.Join(err, d.watch.add(devFolder(d.c)))
	}
	if err == nil {
		err = d.build(ctx, p, changed)
	}
	if err == nil {
		err = d.deployNow(ctx, p, began)
	}
	if err != nil && ctx.Err() == nil {
		d.failed(err)
	}
}

// failed shows why nothing has changed.
func (d *devSession) failed(err error) {
	f := failureOf(err)
	d.broken = true
	d.out.do(func(p *printer) {
		p.printf("%s %s\n", p.paint(red, "not deployed:"), f.Error)
		if f.Next != "" {
			p.printf("  next: %s\n", f.Next)
		}
		if d.deployed != "" {
			p.printf("  pipeline %q runs as it was\n", d.deployed)
		}
	})
}

// deployNow replaces what runs, unless it is the same.
func (d *devSession) deployNow(ctx context.Context, p *config.Pipeline, began time.Time) error {
	up, err := newUpload(d.c, p)
	if err != nil {
		return err
	}
	if d.deployed == up.name && sameJSON(d.bundle, &up.bundle) {
		if d.broken {
			d.out.printf("pipeline %q is again what runs\n", up.name)
		}
		d.broken = false
		return nil
	}
	if err := d.results.follow(ctx, p, d.broker); err != nil {
		return err
	}
	ch, err := d.client.Compare(ctx, up.name, &up.bundle)
	if err != nil {
		return diagnosed(d, err)
	}
	if err := up.send(ctx, d.client, ch.Missing); err != nil {
		return err
	}
	st, err := d.client.Deploy(ctx, up.name, &up.bundle, d.resets(ctx, ch))
	if st, err = settled(ctx, d.client, st, err); err != nil {
		return diagnosed(d, err)
	}
	if d.deployed != "" && d.deployed != up.name {
		if err := d.client.Delete(ctx, d.deployed, true); err != nil {
			return err
		}
	}
	d.deployed, d.bundle, d.broken = up.name, &up.bundle, false
	d.out.do(func(pr *printer) {
		pr.printf("pipeline %q is %s after %s\n", st.Name, pr.paintState(st.State), time.Since(began).Round(time.Millisecond))
	})
	return nil
}

// resets reports whether the state of what runs does not fit the new plan. Then it is thrown away: results begin anew from
// the start of the topics, which is what somebody wants who has just changed a window.
func (d *devSession) resets(ctx context.Context, ch *admin.Change) bool {
	st, err := d.client.Pipeline(ctx, ch.Pipeline)
	if err != nil || st.PlanHash == "" || st.PlanHash == ch.Plan.Hash {
		return false
	}
	d.out.printf("the state does not fit the new plan: it begins anew\n")
	return true
}

// diagnosed shows the diagnostics of a refused pipeline.
func diagnosed(d *devSession, err error) error {
	var f *admin.Failure
	if errors.As(err, &f) && len(f.Diagnostics) > 0 {
		d.out.do(func(p *printer) { p.err = config.RenderJSON(p.w, f.Diagnostics, p.colour) })
	}
	return err
}

func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// errBuild says that a plugin could not be built; the compiler's words have been shown.
func errBuild(name string) error { return fmt.Errorf("plugin.%s cannot be built", name) }
