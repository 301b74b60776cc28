package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"sync"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/observe"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/statestore/pebblestore"
)

// Runner is one pipeline at work, as a node sees it. *Job is one. Run is called once; the other methods may be called at
// any time by any goroutine.
type Runner interface {
	Run(ctx context.Context) error
	Plan() *plan.Plan
	Stats() *engine.Stats
	Plugins() []PluginStatus
	// Reload replaces plugins, while Run runs: see Job.Reload.
	Reload(ctx context.Context, blocks []*config.Plugin, late func(error)) (proven bool, err error)
}

// NodeOptions are what a node is made of. DataDir and Log are required.
type NodeOptions struct {
	DataDir  string // everything that the node keeps: pipelines, modules, state, caches
	Files    string // the folder in which pipelines may read and write files; empty: they may not
	Embedded string // address of the embedded broker; empty: there is none
	Version  string
	Log      *slog.Logger
	Job      Options // what is passed on to jobs; the node fills in what it knows better
	// NewJob makes a job; nil means NewJob of this package.
	NewJob func(*config.Pipeline, Options) (Runner, error)
	// Forget deletes the offsets that the pipeline whose state lies in dir has committed on b; nil means that of host/kafka.
	Forget func(ctx context.Context, p *config.Pipeline, b *config.Broker, dir string) error
}

// The times that a node waits, at most.
const (
	stopWait  = 30 * time.Second // for a pipeline's last commit
	startWait = 10 * time.Second // for a pipeline to run, before a request is answered with "starting"
)

// cacheBytes is the size of the cache that the states of all pipelines share.
const cacheBytes = 128 << 20

// Node keeps pipelines and runs them: what `wgate serve` is. It implements admin.Node. A pipeline that fails stays listed
// with its error, and the others go on.
type Node struct {
	opts    NodeOptions
	store   *store
	lock    *lockFile
	cache   *pebblestore.Cache // of all pipelines' states together
	started time.Time

	mu      sync.Mutex // guards what follows; held for moments only
	entries map[string]*entry
	closing bool
	quit    chan struct{} // closed with closing

	wg sync.WaitGroup // every goroutine of the node
}

var _ admin.Node = (*Node)(nil)

// OpenNode locks the data folder and reads what is deployed. Nothing runs yet.
func OpenNode(o NodeOptions) (*Node, error) {
	if o.NewJob == nil {
		o.NewJob = func(p *config.Pipeline, jo Options) (Runner, error) { return NewJob(p, jo) }
	}
	if o.Forget == nil {
		o.Forget = forgetOffsets
	}
	if o.Files != "" {
		dir, err := filepath.Abs(o.Files)
		if err != nil {
			return nil, fmt.Errorf("folder of files %s: %w", o.Files, err)
		}
		o.Files = dir
	}
	lock, err := lockFolder(o.DataDir)
	if err != nil {
		return nil, err
	}
	n := &Node{opts: o, lock: lock, started: time.Now(), entries: map[string]*entry{}, quit: make(chan struct{})}
	if n.store, err = openStore(o.DataDir); err == nil {
		err = n.read()
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	n.cache = pebblestore.NewCache(cacheBytes)
	if n.opts.Job.Stdout == nil {
		n.opts.Job.Stdout = os.Stdout
	}
	n.opts.Job.Stdout = &lockedWriter{w: n.opts.Job.Stdout}
	return n, nil
}

// read makes an entry of every pipeline on disk.
func (n *Node) read() error {
	deps, err := n.store.deployments()
	if err != nil {
		return err
	}
	for _, d := range deps {
		e := n.newEntry(d.Name)
		e.dep, e.state, e.since = d, admin.Stopped, n.started
		n.entries[d.Name] = e
	}
	return nil
}

// StartAll starts the pipelines that are not to stay stopped. It returns at once; what fails shows in their status.
func (n *Node) StartAll() {
	slots := make(chan struct{}, max(2, runtime.GOMAXPROCS(0))) // compiling plugins takes processors and memory
	for _, e := range n.all() {
		if e.dep.Stopped {
			continue
		}
		e.set(admin.Starting, nil)
		n.wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := e.boot(); err != nil {
				e.log.Error("pipeline does not start", "error", err)
			}
		})
	}
}

// Close stops all pipelines, each after a last commit, and gives the data folder free. It waits until ctx ends, at most.
// Pipelines that ran are started again by the next node.
func (n *Node) Close(ctx context.Context) error {
	n.mu.Lock()
	if !n.closing {
		n.closing = true
		close(n.quit)
	}
	n.mu.Unlock()
	for _, e := range n.all() {
		e.interrupt()
	}
	done := make(chan struct{})
	go func() { n.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		var late []string
		for _, e := range n.all() {
			if e.alive() {
				late = append(late, e.name)
			}
		}
		// The lock stays: the process still writes into the folder until it ends.
		return fmt.Errorf("pipelines %v did not stop in time: their last epoch is not committed and will be done again", late)
	}
	n.cache.Close()
	return n.lock.Close()
}

// all returns the entries of deployed pipelines by name.
func (n *Node) all() []*entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]*entry, 0, len(n.entries))
	for _, e := range n.entries { // sorted below
		if e.deployed() {
			out = append(out, e)
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].name < out[j].name })
	return out
}

// find returns the entry of a deployed pipeline.
func (n *Node) find(name string) (*entry, error) {
	n.mu.Lock()
	e := n.entries[name]
	n.mu.Unlock()
	if e == nil || !e.deployed() {
		return nil, fmt.Errorf("pipeline %q: %w", name, admin.ErrNotFound)
	}
	return e, nil
}

// place returns the entry of a pipeline that is about to be deployed, new if there is none.
func (n *Node) place(name string) *entry {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.entries[name]
	if e == nil {
		e = n.newEntry(name)
		n.entries[name] = e
	}
	return e
}

func (n *Node) newEntry(name string) *entry {
	e := &entry{node: n, name: name, ops: make(chan struct{}, 1)}
	e.log = observe.Tee(n.opts.Log, &e.journal).With("pipeline", name)
	return e
}

// About describes the node.
func (n *Node) About() admin.About {
	return admin.About{
		Version: n.opts.Version, Started: n.started.UnixMilli(), Pipelines: len(n.all()), EmbeddedBroker: n.opts.Embedded,
	}
}

// List returns all pipelines in the order of their names.
func (n *Node) List() []admin.Summary {
	var out []admin.Summary
	for _, e := range n.all() {
		out = append(out, e.summary())
	}
	return out
}

// Status describes one pipeline.
func (n *Node) Status(name string) (*admin.Status, error) {
	e, err := n.find(name)
	if err != nil {
		return nil, err
	}
	return e.status(), nil
}

// Metrics returns what the metrics are read from.
func (n *Node) Metrics() []observe.Pipeline {
	var out []observe.Pipeline
	for _, e := range n.all() {
		p := observe.Pipeline{Name: e.name}
		state, _, _, r := e.look()
		p.State = string(state)
		if r != nil {
			p.Plan, p.Stats = r.job.Plan(), r.job.Stats()
		}
		out = append(out, p)
	}
	return out
}

// Logs reads the log of one pipeline.
func (n *Node) Logs(ctx context.Context, name string, lines int, follow bool, emit func(admin.LogLine) error) error {
	e, err := n.find(name)
	if err != nil {
		return err
	}
	return e.journal.Read(ctx, lines, follow, func(l observe.Line) error {
		return emit(admin.LogLine{Time: l.Time.UnixMilli(), Level: l.Level.String(), Text: l.Text, Attrs: l.Attrs})
	})
}

// stateDir is where a pipeline's state lies. Its name has been checked.
func (n *Node) stateDir(name string) string { return filepath.Join(n.opts.DataDir, "state", name) }

// Delete stops a pipeline and forgets it; with state, what it keeps on disk goes too.
func (n *Node) Delete(ctx context.Context, name string, state bool) error {
	e, err := n.find(name)
	if err != nil {
		return err
	}
	if err := e.acquire(ctx); err != nil {
		return err
	}
	defer e.release()
	if err := e.halt(ctx); err != nil {
		return err
	}
	if state {
		_, _, d, _ := e.look()
		if err := n.forgetState(ctx, name, &d.Bundle); err != nil {
			return fmt.Errorf("pipeline %q is stopped and not deleted: its state cannot be: %w", name, err)
		}
	}
	if err := n.store.remove(name); err != nil {
		return err
	}
	e.forget()
	n.mu.Lock()
	if n.entries[name] == e {
		delete(n.entries, name)
	}
	n.mu.Unlock()
	n.opts.Log.Info("pipeline deleted", "pipeline", name, "with_state", state)
	return nil
}

// lockedWriter lets several pipelines write to one place, each write undivided.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
