package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/internal/crash"
)

// Reload makes a running pipeline go on with another module of one of its plugins: see entry.reload.
func (n *Node) Reload(ctx context.Context, name, plugin, digest string) (*admin.Status, error) {
	e, err := n.find(name)
	if err != nil {
		return nil, err
	}
	state, _, d, _ := e.look()
	if state != admin.Running {
		return nil, fmt.Errorf("pipeline %q is %s, a plugin is reloaded while it runs: %w", name, state, admin.ErrConflict)
	}
	if _, ok := d.Bundle.Modules[plugin]; !ok {
		return nil, fmt.Errorf("pipeline %q, plugin %q: %w: it has %s", name, plugin, admin.ErrNotFound,
			listOr(slices.Sorted(maps.Keys(d.Bundle.Modules)), "no plugins"))
	}
	b := d.Bundle
	b.Modules = maps.Clone(b.Modules)
	b.Modules[plugin] = digest
	return n.Deploy(ctx, name, &b, false)
}

// sameButPlugins reports whether bundles differ in their plugin blocks and modules alone, if at all.
func sameButPlugins(was, b *admin.Bundle) bool {
	if !slices.Equal(was.VarFiles, b.VarFiles) || !maps.Equal(was.Vars, b.Vars) || len(was.Files) != len(b.Files) {
		return false
	}
	for i, f := range b.Files {
		before, err := config.WithoutPlugins([]byte(was.Files[i].Text))
		if err != nil {
			return false
		}
		after, err := config.WithoutPlugins([]byte(f.Text))
		if err != nil || f.Name != was.Files[i].Name || !bytes.Equal(before, after) {
			return false
		}
	}
	return true
}

// pluginsOnly returns the plugin blocks of b that differ from those of was. ok is false if anything else differs.
func (n *Node) pluginsOnly(name string, was, b *admin.Bundle) (changed []*config.Plugin, ok bool) {
	if !sameButPlugins(was, b) {
		return nil, false
	}
	old, err := n.parse(name, was)
	if err != nil {
		return nil, false
	}
	p, err := n.load(name, b)
	if err != nil || len(old.Plugins) != len(p.Plugins) {
		return nil, false
	}
	for _, pl := range p.Plugins {
		before := pluginOf(old, pl.Name)
		if before == nil {
			return nil, false
		}
		if was.Modules[pl.Name] != b.Modules[pl.Name] || !samePlugin(before, pl) {
			changed = append(changed, pl)
		}
	}
	return changed, true
}

func pluginOf(p *config.Pipeline, name string) *config.Plugin {
	i := slices.IndexFunc(p.Plugins, func(pl *config.Plugin) bool { return pl.Name == name })
	if i < 0 {
		return nil
	}
	return p.Plugins[i]
}

// samePlugin compares everything but the modules.
func samePlugin(a, b *config.Plugin) bool {
	return bytes.Equal(a.Config, b.Config) && a.Guard == b.Guard &&
		a.Memory == b.Memory && a.Time == b.Time && a.Output == b.Output && slices.Equal(a.HTTP, b.HTTP)
}

// swappable returns what of b can be swapped into the run that is alive; nil if b takes a new run.
func (e *entry) swappable(b *admin.Bundle) *reload {
	state, _, d, r := e.look()
	if d == nil || r == nil || state != admin.Running || sameBundle(&d.Bundle, b) {
		return nil
	}
	changed, ok := e.node.pluginsOnly(e.name, &d.Bundle, b)
	if !ok {
		return nil
	}
	return &reload{entry: e, run: r, from: d.Bundle, to: *b, plugins: changed}
}

// reload is the replacement of plugins in a run that goes on.
type reload struct {
	entry    *entry
	run      *run
	from, to admin.Bundle
	plugins  []*config.Plugin

	mu   sync.Mutex
	back error // why the old versions are back
}

// do swaps the plugins and, when that has come through, makes it what the pipeline is. Nobody holds ops meanwhile, so that
// the pipeline can be stopped.
func (l *reload) do(ctx context.Context) error {
	e := l.entry
	n := e.node
	n.mu.Lock()
	if n.closing {
		n.mu.Unlock()
		return fmt.Errorf("the node is shutting down: %w", admin.ErrConflict)
	}
	n.wg.Add(1)
	n.mu.Unlock()
	defer n.wg.Done()
	proven, err := l.run.job.Reload(ctx, l.plugins, l.late)
	if err != nil {
		return l.failed(err)
	}
	crash.Point("reload_committed")
	if err := e.acquire(ctx); err != nil {
		return err
	}
	defer e.release()
	l.mu.Lock()
	back := l.back
	l.mu.Unlock()
	if back != nil {
		return l.failed(back)
	}
	if err := e.record(l.run, &l.from, &l.to, nil); err != nil {
		return err
	}
	crash.Point("reload_recorded")
	e.log.Info("plugins reloaded", "plugins", l.names(), "records_seen", proven)
	return nil
}

func (l *reload) names() []string {
	var names []string
	for _, p := range l.plugins {
		names = append(names, "plugin."+p.Name)
	}
	return names
}

// failed says why the old versions go on.
func (l *reload) failed(err error) error {
	f := failureOf(err).WithStatus(http.StatusConflict)
	switch {
	case errors.Is(err, engine.ErrEnded), errors.Is(err, engine.ErrReloading), errors.Is(err, errNotRunning):
		f.Text = fmt.Sprintf("%s: not reloaded: %s", strings.Join(l.names(), ", "), f.Text)
	default:
		f.Text = fmt.Sprintf("%s: the new version is not taken, the one before goes on: %s", strings.Join(l.names(), ", "), f.Text)
		l.entry.log.Warn("plugins not reloaded", "plugins", l.names(), "error", f.Text)
	}
	return f
}

// late hears that versions which were taken without having seen a record have failed at the first one.
func (l *reload) late(err error) {
	l.mu.Lock()
	l.back = err
	l.mu.Unlock()
	l.entry.node.wg.Go(func() {
		e := l.entry
		ctx, cancel := context.WithTimeout(context.Background(), stopWait)
		defer cancel()
		err := e.acquire(ctx)
		if err == nil {
			defer e.release()
			err = e.record(l.run, &l.to, &l.from, failureOf(l.failed(l.back)))
		}
		if err != nil {
			e.log.Error("the plugins before run again, but a restart will begin with those that failed", "error", err)
		}
	})
}

// record makes bundle to, in place of from, what the pipeline is, for the run r that works by it already. taken says why the
// last deployment was taken back. The caller holds ops.
func (e *entry) record(r *run, from, to *admin.Bundle, taken *admin.Failure) error {
	_, _, d, now := e.look()
	if now != r || d == nil || !sameBundle(&d.Bundle, from) {
		if taken != nil {
			return nil // it never came to be recorded, or something else has been since
		}
		return fmt.Errorf("pipeline %q was changed meanwhile: %w", e.name, admin.ErrConflict)
	}
	c := *d
	c.Revision, c.Deployed, c.Bundle = d.Revision+1, time.Now().UnixMilli(), *to
	if err := e.node.store.put(&c); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.dep == d {
		r.dep = &c
	}
	e.dep, e.taken = &c, taken
	return nil
}
