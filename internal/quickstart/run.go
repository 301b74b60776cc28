package quickstart

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host"
	"github.com/wgate/wgate/host/broker"
)

// Pipeline is the text of the example pipeline, plugins/examples/scores/pipeline.hcl; a test keeps the two the same.
//
//go:embed pipeline.hcl
var Pipeline []byte

// Plugin is the file name under which the pipeline asks for its plugin, seen from the folder of the pipeline.
const Plugin = "../scores.wasm"

// Names of the pipeline.
const (
	pipelineName = "team-scores"
	inputTopic   = "events"
	outputTopic  = "team-scores"
)

// Options say what is run and how it is shown.
type Options struct {
	Seed   uint64
	Events int           // at least 1
	Plugin string        // path of the example plugin
	Pace   time.Duration // how long it takes to produce the events; 0: as fast as they can be
	Limit  time.Duration // the longest that all of it may take
	Log    *slog.Logger  // of broker and pipeline
	Show   func(Pane)    // is called for each pane when it has been read back, on the goroutine of Run
}

// Report is what came of it.
type Report struct {
	Seed        uint64   `json:"seed"`
	Events      int      `json:"events"`
	Results     int      `json:"results"`
	Late        int      `json:"late"`
	Equal       bool     `json:"equal"` // the results are those of the independent computation
	Differences []string `json:"differences"`
	Panes       []Pane   `json:"panes"`
}

// Run runs the quickstart. It starts a broker in memory and the pipeline, produces the events, reads what was committed,
// and compares it with what should be. What it puts on the disk lies in a temporary folder, which is gone when it returns.
// Results that differ are no error: they are in the report.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	dir, err := os.MkdirTemp("", "wgate-quickstart-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	job, stop, addr, err := prepare(dir, o)
	if err != nil {
		return nil, err
	}
	defer stop()

	ctx, cancel := context.WithTimeoutCause(ctx, o.Limit, fmt.Errorf("quickstart: not through after %s", o.Limit))
	defer cancel()
	done := make(chan error, 1)
	running, halt := context.WithCancelCause(ctx)
	go func() {
		err := job.Run(running)
		if err != nil {
			halt(err) // nobody waits for the results of a pipeline that has failed
		}
		done <- err
	}()
	events := Events(o.Seed, o.Events)
	panes, late, err := exchange(running, addr, events, o)
	if err != nil && running.Err() != nil {
		err = context.Cause(running)
	}
	halt(nil)
	if jobErr := <-done; err == nil {
		err = jobErr
	}
	if err != nil {
		return nil, err
	}
	diffs := append([]string{}, Compare(Expect(events, PipelineRules), panes, late)...)
	return &Report{
		Seed: o.Seed, Events: len(events), Results: len(panes), Late: late, Equal: len(diffs) == 0, Differences: diffs, Panes: panes,
	}, nil
}

// prepare lays the pipeline and its plugin out in dir, starts the broker and makes the job. The caller calls stop.
func prepare(dir string, o Options) (_ *host.Job, stop func(), addr string, err error) {
	home := filepath.Join(dir, "pipeline")
	if err := os.Mkdir(home, 0o750); err != nil {
		return nil, nil, "", err
	}
	wasm, err := os.ReadFile(o.Plugin)
	if err != nil {
		return nil, nil, "", fmt.Errorf("example plugin: %w", err)
	}
	if err := os.WriteFile(filepath.Join(home, Plugin), wasm, 0o600); err != nil {
		return nil, nil, "", err
	}
	p, diags := config.LoadBytes(filepath.Join(home, "pipeline.hcl"), Pipeline, config.Options{})
	if diags.HasErrors() {
		return nil, nil, "", fmt.Errorf("example pipeline: %w", diags)
	}
	b, err := broker.Start(broker.Options{Topics: []broker.Topic{{Name: inputTopic, Partitions: 1}}, Log: o.Log})
	if err != nil {
		return nil, nil, "", err
	}
	job, err := host.NewJob(p, host.Options{
		StateDir: filepath.Join(dir, "state"), PluginCache: filepath.Join(dir, "cache"), Embedded: b.Addr(), Log: o.Log,
	})
	if err != nil {
		b.Close()
		return nil, nil, "", err
	}
	return job, b.Close, b.Addr(), nil
}
