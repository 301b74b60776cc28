package scenario

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/host/wasm"
)

// plugins admits and compiles the plugins of the pipelines under test.
type plugins struct {
	cache string // folder of machine code; empty: one in the user's cache
	reg   *wasm.Registry
	seen  []string // paths of the plugins of the file at hand, each once
}

// load returns the modules of a plan. The caller closes them.
func (p *plugins) load(ctx context.Context, pl *plan.Plan) (map[*config.Plugin]*wasm.Module, error) {
	mods := map[*config.Plugin]*wasm.Module{}
	if len(pl.Plugins) == 0 {
		return mods, nil
	}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	for _, one := range pl.Plugins {
		if !slices.Contains(p.seen, one.Path) {
			p.seen = append(p.seen, one.Path)
		}
		m, err := p.reg.Load(ctx, one.Path, wasm.OptionsOf(one))
		if err != nil {
			closeModules(ctx, mods)
			return nil, err
		}
		mods[one] = m
	}
	for _, n := range pl.Nodes {
		if n.Kind == plan.Do && mods[n.Plugin].Manifest().Function(n.Func) == nil {
			closeModules(ctx, mods)
			return nil, fmt.Errorf("%s: plugin %q has no function %q; `wgate plugin inspect %s` lists those that it has", n.Block, n.Plugin.Name, n.Func, n.Plugin.Path)
		}
	}
	return mods, nil
}

func (p *plugins) open(ctx context.Context) error {
	if p.reg != nil {
		return nil
	}
	if p.cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("plugin cache: %w: set HOME, or name a folder with --plugin-cache", err)
		}
		p.cache = filepath.Join(dir, "wgate", "plugins")
	}
	reg, err := wasm.NewRegistry(ctx, p.cache)
	p.reg = reg
	return err
}

func (p *plugins) close(ctx context.Context) error {
	if p.reg == nil {
		return nil
	}
	return p.reg.Close(ctx)
}

func closeModules(ctx context.Context, mods map[*config.Plugin]*wasm.Module) {
	for _, m := range mods { // order does not matter: they do not know one another
		_ = m.Close(ctx)
	}
}
