package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host"
	"github.com/wgate/wgate/host/broker"
	"github.com/wgate/wgate/host/observe"
	"github.com/wgate/wgate/host/plan"
)

// logFlags are those of every command that goes on for a while.
var logFlags = []cli.Flag{
	&cli.StringFlag{Name: "log-level", Value: "info", EnvVars: []string{"WGATE_LOG_LEVEL"}, Usage: "log what is at least of `LEVEL`: debug, info, warn or error"},
	&cli.StringFlag{Name: "log-format", Value: "text", EnvVars: []string{"WGATE_LOG_FORMAT"}, Usage: "log as `FORMAT`: text or json"},
}

// logger logs to standard error: standard output is for results.
func (s streams) logger(c *cli.Context) (*slog.Logger, error) {
	l, err := observe.NewLogger(s.err, c.String("log-format"), c.String("log-level"))
	if err != nil {
		return nil, invalidError{err}
	}
	return l, nil
}

// dataDir is the folder of state where none is given.
const dataDir = ".wgate"

func (s streams) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a pipeline in this shell",
		ArgsUsage: "[FILE|FOLDER]...",
		Description: "Runs until the files that it reads are through, or until it is interrupted; then it commits once more. State is\n" +
			"kept in --data; a pipeline that reads no topic keeps none, so that it gives the same results each time.",
		Category: "Pipelines",
		Flags: append(append([]cli.Flag{
			&cli.StringFlag{Name: "data", EnvVars: []string{"WGATE_DATA"}, Usage: "keep state in `FOLDER` (default: ./.wgate if the pipeline uses topics)"},
			newOptionalFlag("embedded-broker", defaultBroker, "WGATE_EMBEDDED_BROKER",
				"for development: run a broker in this process, for kafka blocks that name none; =HOST:PORT says where"),
			&cli.StringFlag{Name: "plugin-cache", EnvVars: []string{"WGATE_PLUGIN_CACHE"}, Usage: "keep compiled plugins in `FOLDER` (default: in the user's cache)"},
		}, pipelineFlags...), logFlags...),
		Action: func(c *cli.Context) error {
			log, err := s.logger(c)
			if err != nil {
				return err
			}
			p, err := s.load(c, true)
			if err != nil {
				return err
			}
			return s.run(c, p, log)
		},
	}
}

func (s streams) run(c *cli.Context, p *config.Pipeline, log *slog.Logger) (err error) {
	o := host.Options{Stdout: s.out, Log: log, PluginCache: c.String("plugin-cache")}
	data := c.String("data")
	listen := c.String("embedded-broker")
	if data == "" && (plan.UsesKafka(p) || listen != "") {
		data = dataDir
	}
	if data != "" {
		o.StateDir = filepath.Join(data, "run", p.Name)
	}
	if listen != "" {
		b, err := startBroker(broker.Options{Listen: listen, Flag: embeddedFlag, DataDir: filepath.Join(data, "broker"), Log: log.With("part", "broker")})
		if err != nil {
			return err
		}
		defer b.Close()
		log.Info("embedded broker listens", "address", b.Addr())
		o.Embedded, o.CreateTopics = b.Addr(), true
	}
	if plan.UsesKafka(p) { // what reads files alone is through before anybody could wonder
		o.OnReady = func() { log.Info("pipeline runs", "pipeline", p.Name) }
	}
	job, err := host.NewJob(p, o)
	if err != nil {
		return invalidError{err}
	}
	err = job.Run(c.Context)
	if errors.Is(err, context.Canceled) && c.Context.Err() != nil {
		return nil // it was interrupted before it had begun
	}
	return err
}

// startBroker starts an embedded broker, whose folder is made if it is missing.
func startBroker(o broker.Options) (*broker.Broker, error) {
	if o.DataDir != "" {
		if err := os.MkdirAll(o.DataDir, 0o750); err != nil {
			return nil, err
		}
	}
	return broker.Start(o)
}
