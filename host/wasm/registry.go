package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/wgate/wgate/abi/wasmbin"
	"github.com/wgate/wgate/host/wasm/meter"
)

// Registry admits and compiles plugins. All modules that it gave share one runtime. It is safe for concurrent use.
type Registry struct {
	rt    wazero.Runtime
	cache wazero.CompilationCache // nil without a folder

	mu       sync.Mutex
	compiled map[codeKey]*code
	closed   bool
}

// codeKey says what makes machine code different.
type codeKey struct {
	digest string
	guard  string
	pages  uint32
}

// code is one compiled module. It is compiled once, however many ask for it at the same time.
type code struct {
	ready  chan struct{} // closed when mod and err are set
	mod    wazero.CompiledModule
	err    error
	shared int // users; guarded by Registry.mu
}

// tableElements is how far a plugin's tables may grow.
const tableElements = 100_000

// NewRegistry makes a registry that keeps machine code in folder cacheDir, which it makes if need be and to which only the
// user may have access: what lies there is run. An empty cacheDir means no cache.
func NewRegistry(ctx context.Context, cacheDir string) (*Registry, error) {
	r := &Registry{compiled: map[codeKey]*code{}}
	cfg := wazero.NewRuntimeConfig()
	if cacheDir != "" {
		if err := privateDir(cacheDir); err != nil {
			return nil, fmt.Errorf("plugin cache: %w", err)
		}
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return nil, fmt.Errorf("plugin cache %s: %w", cacheDir, err)
		}
		r.cache = cache
		cfg = cfg.WithCompilationCache(cache)
	}
	rt, err := newRuntime(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, r.closeCache(ctx))
	}
	r.rt = rt
	return r, nil
}

// newRuntime makes a runtime with everything that plugins may import.
func newRuntime(ctx context.Context, cfg wazero.RuntimeConfig) (wazero.Runtime, error) {
	rt := wazero.NewRuntimeWithConfig(ctx, cfg)
	_, err := wasi_snapshot_preview1.Instantiate(ctx, rt)
	if err == nil {
		err = addImports(ctx, rt)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("plugin runtime: %w", err), rt.Close(ctx))
	}
	return rt, nil
}

// privateDir makes dir and takes the rights of everybody else away.
func privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	st, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// Load admits and compiles the plugin file path. Errors are *Refused where the plugin is to blame.
func (r *Registry) Load(ctx context.Context, path string, o Options) (*Module, error) {
	b, err := o.readFile(path)
	if err != nil {
		return nil, err
	}
	return r.LoadBytes(ctx, path, b, o)
}

// LoadBytes is Load for a file that was read already; path is for messages. It keeps b.
func (r *Registry) LoadBytes(ctx context.Context, path string, b []byte, o Options) (*Module, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	a, err := o.admit(path, b, true)
	if err != nil {
		return nil, err
	}
	key := codeKey{a.digest, o.Guard, o.pages()}
	c, err := r.compile(ctx, key, a)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ref := o.refuse(path, "it does not compile: "+cut(err.Error(), messageBytes), "build it for core WebAssembly 2.0 with WASI preview 1")
		ref.Err = err
		return nil, ref
	}
	return newModule(r, key, c, a, path, o), nil
}

// compile returns the code for key. Whoever comes first compiles; the others wait.
func (r *Registry) compile(ctx context.Context, key codeKey, a *admitted) (*code, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, errors.New("plugin registry: it is closed")
	}
	c, ok := r.compiled[key]
	if !ok {
		c = &code{ready: make(chan struct{})}
		r.compiled[key] = c
	}
	c.shared++
	r.mu.Unlock()
	if !ok {
		// The result is for everybody who waits: one caller's cancellation must not spoil it.
		c.mod, c.err = r.build(context.WithoutCancel(ctx), key, a)
		close(c.ready)
	}
	select {
	case <-c.ready:
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), r.release(context.WithoutCancel(ctx), key, c))
	}
	if c.err != nil {
		return nil, errors.Join(c.err, r.release(ctx, key, c))
	}
	return c, nil
}

// build makes machine code of a plugin under its limits.
func (r *Registry) build(ctx context.Context, key codeKey, a *admitted) (wazero.CompiledModule, error) {
	b, err := a.module.Bytes, error(nil)
	if key.guard == Metered {
		if b, err = meter.Rewrite(b); err != nil {
			return nil, err
		}
	}
	m, err := wasmbin.Parse(b)
	if err != nil {
		return nil, err
	}
	ctx = experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0))
	return r.rt.CompileModule(ctx, m.Capped(key.pages, tableElements))
}

// release gives up one use of c; the last one frees it.
func (r *Registry) release(ctx context.Context, key codeKey, c *code) error {
	r.mu.Lock()
	c.shared--
	last := c.shared == 0
	if last && r.compiled[key] == c {
		delete(r.compiled, key)
	}
	r.mu.Unlock()
	if !last {
		return nil
	}
	<-c.ready
	if c.mod == nil {
		return nil
	}
	return c.mod.Close(ctx)
}

// Close frees everything. Modules must be closed before.
func (r *Registry) Close(ctx context.Context) error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	return errors.Join(r.rt.Close(ctx), r.closeCache(ctx))
}

func (r *Registry) closeCache(ctx context.Context) error {
	if r.cache == nil {
		return nil
	}
	return r.cache.Close(ctx)
}
