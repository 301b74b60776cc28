package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/host/wasm"
)

// Job is one pipeline at work. NewJob finds out everything that can be found out without starting; Run runs it, once.
type Job struct {
	pipeline *config.Pipeline
	plan     *plan.Plan
	opt      Options
	registry *wasm.Registry
	stats    *engine.Stats

	mu      sync.Mutex // guards what follows
	task    *engine.Task
	plugins map[*config.Plugin]*loaded // by the plan's blocks: what instances are made of now
	all     map[*loaded]bool           // all that are to be closed in the end

	reloads sync.WaitGroup // reloads and the closing of what they replaced
}

// PluginStatus is a loaded plugin as people look at it.
type PluginStatus struct {
	Name      string   `json:"name"`
	Digest    string   `json:"digest"`
	Path      string   `json:"path"`
	Guard     string   `json:"guard"`
	Functions []string `json:"functions"`
	Trial     bool     `json:"trial"` // it has replaced another version, and no record has come to it yet
}

// NewJob plans p and loads its plugins. An error says what is wrong with the pipeline or a plugin, and what to do.
func NewJob(p *config.Pipeline, o Options) (*Job, error) {
	pl, err := plan.Build(p)
	if err != nil {
		return nil, err
	}
	j := &Job{pipeline: p, plan: pl, opt: o.withDefaults(), plugins: map[*config.Plugin]*loaded{}, all: map[*loaded]bool{}}
	j.stats = engine.NewStats(pl)
	if err := j.check(); err != nil {
		return nil, err
	}
	if err := j.load(); err != nil {
		j.unload()
		return nil, err
	}
	return j, nil
}

// Plan returns the job's plan.
func (j *Job) Plan() *plan.Plan { return j.plan }

// Stats returns the job's counters. They may be read at any time.
func (j *Job) Stats() *engine.Stats { return j.stats }

// Plugins returns what is known of the job's plugins.
func (j *Job) Plugins() []PluginStatus {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []PluginStatus
	for _, p := range j.plan.Plugins {
		l := j.plugins[p]
		m := l.module
		s := PluginStatus{Name: p.Name, Digest: m.Digest(), Path: m.Path(), Guard: l.block.Guard, Trial: l.trial}
		for _, f := range m.Manifest().Functions {
			s.Functions = append(s.Functions, f.Name)
		}
		out = append(out, s)
	}
	return out
}

// check refuses what this version cannot run.
func (j *Job) check() error {
	p := j.pipeline
	if p.Durability == "changelog" {
		return fmt.Errorf(`pipeline %q: durability "changelog" is not available in this version: use "local"`, p.Name)
	}
	_, err := brokerOf(p, j.opt.Embedded)
	return err
}

// brokerOf returns the one broker that p reads and writes, nil if it uses no topics.
func brokerOf(p *config.Pipeline, embedded string) (*config.Broker, error) {
	var found *config.Broker
	use := func(b *config.Broker, block string) error {
		if b == nil {
			if embedded == "" {
				return fmt.Errorf("%s names no broker, and there is no embedded one: add a broker block and broker = broker.NAME, or start with --embedded-broker", block)
			}
			b = &config.Broker{Name: "embedded", Addresses: []string{embedded}}
		}
		if found != nil && found.Name != b.Name {
			return fmt.Errorf("%s uses broker %q, an earlier block uses %q: one pipeline with two brokers is not available in this version", block, b.Name, found.Name)
		}
		found = b
		return nil
	}
	for _, s := range p.Sources {
		if s.Kafka != nil {
			if err := use(s.Kafka.Broker, "source."+s.Name); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range p.Sinks {
		if s.Kafka != nil {
			if err := use(s.Kafka.Broker, "sink."+s.Name); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// load admits and compiles the plugins, and sees that they have the functions that the plan calls.
func (j *Job) load() error {
	if len(j.plan.Plugins) == 0 {
		return nil
	}
	ctx := context.Background()
	cache := j.opt.PluginCache
	if cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("plugin cache: %w: set HOME, or name a folder with --plugin-cache", err)
		}
		cache = filepath.Join(dir, "wgate", "plugins")
	}
	reg, err := wasm.NewRegistry(ctx, cache)
	if err != nil {
		return err
	}
	j.registry = reg
	for _, p := range j.plan.Plugins {
		m, err := j.loadPlugin(ctx, p)
		if err != nil {
			return err
		}
		l := &loaded{block: p, module: m}
		j.plugins[p], j.all[l] = l, true
	}
	return nil
}

func (j *Job) unload() {
	j.mu.Lock()
	j.task = nil // no reload begins any more
	j.mu.Unlock()
	j.reloads.Wait()
	ctx := context.Background()
	for l := range j.all { // order does not matter: they do not know one another
		_ = l.module.Close(ctx)
	}
	if j.registry != nil {
		_ = j.registry.Close(ctx)
	}
}

// Run runs the pipeline until its bounded sources are through or ctx ends (then a last epoch is committed), and returns
// nil; or until something stops it, and returns what. The job cannot be run again.
func (j *Job) Run(ctx context.Context) (err error) {
	defer j.unload()
	r, err := j.open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	task := engine.NewTask(r.config(), j.stats)
	j.mu.Lock()
	j.task = task
	j.mu.Unlock()
	return task.Run(ctx)
}
