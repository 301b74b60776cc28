package wasm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/wgate/wgate/abi"
)

// Module is one plugin file under one set of options, compiled. It is safe for concurrent use.
type Module struct {
	reg      *Registry
	key      codeKey
	code     *code
	manifest *abi.Manifest
	path     string
	opt      Options
	opening  []byte // the open frame

	mu     sync.Mutex
	spare  *guest // one that is ready, for whoever loses his
	making chan struct{}
	closed bool
}

func newModule(r *Registry, key codeKey, c *code, a *admitted, path string, o Options) *Module {
	m := &Module{reg: r, key: key, code: c, manifest: a.manifest, path: path, opt: o}
	m.opening = abi.AppendOpen(nil, abi.Opening{
		LogLevel: abi.LevelDebug, Memory: uint64(o.Memory), Millis: uint32(min(int64(o.Time), 1<<31)), Output: uint32(o.Output),
		Config: o.Config, Functions: a.manifest.Functions, Grants: o.Granted,
	})
	return m
}

// Manifest returns what the plugin says of itself. It must not be changed.
func (m *Module) Manifest() *abi.Manifest { return m.manifest }

// Digest returns the sha256 of the file in hex.
func (m *Module) Digest() string { return m.key.digest }

// Path returns where the file was read.
func (m *Module) Path() string { return m.path }

// make instantiates and opens a guest. A plugin that does not start or refuses its configuration is *Refused.
func (m *Module) make(ctx context.Context) (*guest, error) {
	g, f, err := newGuest(ctx, m.reg.rt, m.code.mod, &m.opt)
	if err != nil {
		return nil, err
	}
	what := "it does not start: "
	if f == nil {
		if f = g.start(ctx, m.opening); f == nil {
			return g, nil
		}
		if f.code == codeFail {
			what = "it refuses its configuration: "
		}
	}
	r := m.opt.refuse(m.path, what+f.text, "correct config in the plugin block, or the plugin")
	if err := g.close(ctx, broken); err != nil {
		r.Err = err
	}
	return nil, r
}

// take returns the spare guest, or a new one, and has another spare made.
func (m *Module) take(ctx context.Context) (*guest, error) {
	m.mu.Lock()
	if making := m.making; making != nil && m.spare == nil {
		m.mu.Unlock()
		select {
		case <-making:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		m.mu.Lock()
	}
	if m.closed {
		m.mu.Unlock()
		return nil, fmt.Errorf("plugin %q: it is closed", m.opt.Name)
	}
	g := m.spare
	m.spare = nil
	m.mu.Unlock()
	if g == nil {
		var err error
		if g, err = m.make(ctx); err != nil {
			return nil, err
		}
	}
	m.refill(context.WithoutCancel(ctx))
	return g, nil
}

// Open sees that the plugin starts with its configuration, and keeps what it made as the spare guest.
func (m *Module) Open(ctx context.Context) error {
	g, err := m.make(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	if m.spare == nil && m.making == nil && !m.closed {
		m.spare, g = g, nil
	}
	m.mu.Unlock()
	if g != nil {
		return g.close(ctx, orderly)
	}
	return nil
}

// refill makes a spare in the background, if there is none. Close waits for it.
func (m *Module) refill(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed || m.spare != nil || m.making != nil {
		return
	}
	done := make(chan struct{})
	m.making = done
	go func() {
		g, err := m.make(ctx)
		m.mu.Lock()
		defer m.mu.Unlock()
		if err == nil {
			m.spare = g // A failure shows when a guest is needed and made in the foreground.
		}
		m.making = nil
		close(done)
	}()
}

// NewInstance makes an instance for one worker.
func (m *Module) NewInstance(ctx context.Context) (*Instance, error) {
	g, err := m.take(ctx)
	if err != nil {
		return nil, err
	}
	return &Instance{m: m, g: g}, nil
}

// Close frees the module. Its instances must be closed before.
func (m *Module) Close(ctx context.Context) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return nil
	}
	m.closed = true
	making := m.making
	m.mu.Unlock()
	if making != nil {
		<-making
	}
	var err error
	if m.spare != nil {
		err = m.spare.close(ctx, orderly)
		m.spare = nil
	}
	return errors.Join(err, m.reg.release(ctx, m.key, m.code))
}
