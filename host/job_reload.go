package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/wgate/wgate/abi"
	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/host/wasm"
)

// loaded is a version of a plugin: the block that it was loaded for and the module.
type loaded struct {
	block  *config.Plugin
	module *wasm.Module
	trial  bool // nothing has been through it yet
}

// loadPlugin admits and compiles a plugin, and sees that it has the functions that the plan calls.
func (j *Job) loadPlugin(ctx context.Context, p *config.Plugin) (*wasm.Module, error) {
	o := wasm.OptionsOf(p)
	log := j.opt.Log.With("plugin", p.Name)
	o.Log = func(level slog.Level, text string) { log.Log(ctx, level, text) }
	m, err := j.registry.Load(ctx, p.Path, o)
	if err != nil {
		return nil, err
	}
	if err := checkCalls(j.plan, p, m); err != nil {
		return nil, errors.Join(err, m.Close(ctx))
	}
	return m, nil
}

// checkCalls sees that a module has what the plan calls of plugin p.
func checkCalls(pl *plan.Plan, p *config.Plugin, m *wasm.Module) error {
	for _, n := range pl.Nodes {
		if n.Kind == plan.Do && n.Plugin.Name == p.Name {
			f, err := findFunction(n.Block, p, m, n.Func, abi.KindDoFn)
			if err != nil {
				return err
			}
			for _, tag := range n.Tags {
				if !slices.Contains(f.Tags, tag) {
					return fmt.Errorf("%s.%s: function %q of plugin %q (%s) has no side output %q; it has %s: correct the name, or the plugin",
						n.Block, tag, n.Func, p.Name, m.Path(), tag, listOr(f.Tags, "none"))
				}
			}
		}
		if n.Kind != plan.Aggregate {
			continue
		}
		for _, a := range n.Agg.Aggs {
			if a.Call == nil || a.Call.Plugin.Name != p.Name {
				continue
			}
			f, err := findFunction(n.Block, p, m, a.Call.Function, abi.KindCombiner)
			if err != nil {
				return err
			}
			if f.Args != len(a.Args) {
				return fmt.Errorf("%s: combiner %q of plugin %q (%s) takes %d arguments, the pipeline gives it %d: correct the call, or the plugin",
					n.Block, f.Name, p.Name, m.Path(), f.Args, len(a.Args))
			}
		}
	}
	return nil
}

// findFunction returns what a block calls.
func findFunction(block string, p *config.Plugin, m *wasm.Module, name, kind string) (*abi.Function, error) {
	f := m.Manifest().Function(name)
	switch {
	case f == nil:
		return nil, fmt.Errorf("%s: plugin %q (%s) has no function %q; it has %s: correct %s, or build the plugin with that function",
			block, p.Name, m.Path(), name, strings.Join(functionNames(m), ", "), map[string]string{abi.KindDoFn: "do", abi.KindCombiner: "the call"}[kind])
	case f.Kind != kind:
		return nil, fmt.Errorf("%s: function %q of plugin %q (%s) is a %s, not a %s: correct the block, or the plugin", block, name, p.Name, m.Path(), f.Kind, kind)
	}
	return f, nil
}

func listOr(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}

func functionNames(m *wasm.Module) []string {
	var names []string
	for _, f := range m.Manifest().Functions {
		names = append(names, f.Name)
	}
	return names
}

// module returns the module of a plugin that instances are made of now.
func (j *Job) module(p *config.Plugin) *wasm.Module {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.plugins[p].module
}

// errNotRunning says that there is nothing to swap in.
var errNotRunning = errors.New("the pipeline does not run yet")

// Reload replaces the plugins that blocks describe, by their names, while the job runs. They are loaded and opened beside
// those that work, take over between two epochs, and are kept when the first epoch in which they were called has committed.
// An error says why the old ones go on. proven is false if nothing has come to call them for; should they then fail at the
// first records, the old ones come back as well, and late is told.
func (j *Job) Reload(ctx context.Context, blocks []*config.Plugin, late func(error)) (proven bool, err error) {
	j.mu.Lock()
	task := j.task
	if task != nil {
		j.reloads.Add(1) // what it loads needs the registry
	}
	j.mu.Unlock()
	if task == nil {
		return false, errNotRunning
	}
	defer j.reloads.Done()
	next := map[*config.Plugin]*loaded{}
	defer func() {
		for _, l := range next { // order does not matter
			err = errors.Join(err, l.module.Close(ctx))
		}
	}()
	s := engine.Swap{Late: late}
	for _, b := range blocks {
		i := slices.IndexFunc(j.plan.Plugins, func(p *config.Plugin) bool { return p.Name == b.Name })
		if i < 0 {
			continue // no block calls it
		}
		m, err := j.loadPlugin(ctx, b)
		if err != nil {
			return false, err
		}
		next[j.plan.Plugins[i]] = &loaded{block: b, module: m, trial: true}
		if err := m.Open(ctx); err != nil {
			return false, err
		}
		s.Plugins = append(s.Plugins, j.plan.Plugins[i])
	}
	if len(next) == 0 {
		return true, nil
	}
	old := map[*config.Plugin]*loaded{}
	taken := next
	s.Use = func() { j.use(taken, old) }
	s.Back = func() { j.use(old, nil); j.closeLater(taken) }
	s.Kept = func() { j.kept(taken); j.closeLater(old) }
	next = nil // the task has them
	proven, err = task.Reload(ctx, s)
	if err != nil && len(old) == 0 {
		next = taken // it never came to the swap
	}
	return proven, err
}

// use makes versions those that instances are made of, and notes in old what was before.
func (j *Job) use(next, old map[*config.Plugin]*loaded) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for p, l := range next { // order does not matter
		if old != nil {
			old[p] = j.plugins[p]
			j.all[l] = true
		}
		j.plugins[p] = l
	}
}

func (j *Job) kept(next map[*config.Plugin]*loaded) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, l := range next { // order does not matter
		l.trial = false
	}
}

// closeLater frees versions that no instance is left of, without keeping the task waiting.
func (j *Job) closeLater(gone map[*config.Plugin]*loaded) {
	j.reloads.Add(1)
	go func() {
		defer j.reloads.Done()
		for _, l := range gone { // order does not matter
			if err := l.module.Close(context.Background()); err != nil {
				j.opt.Log.Warn("a module did not close", "plugin", l.block.Name, "error", err)
			}
			j.mu.Lock()
			delete(j.all, l)
			j.mu.Unlock()
		}
	}()
}
