package wasm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"github.com/wgate/wgate/abi"
	"github.com/wgate/wgate/abi/wasmbin"
)

// Pack asks the plugin file path what it is, by calling its export wgate_describe once, and writes the answer into the
// file as its manifest, in place of any other one. It is for build time: wgate never runs a plugin to learn what it is.
func Pack(path string) error {
	ctx := context.Background()
	o := Options{}
	if err := o.complete(); err != nil {
		return err
	}
	b, err := o.readFile(path)
	if err != nil {
		return err
	}
	a, err := o.admit(path, b, false)
	if err != nil {
		return err
	}
	if e := a.module.Export("wgate_describe"); e == nil || e.Kind != wasmbin.KindFunc {
		return o.refuse(path, "it lacks the export wgate_describe", "build it with a wgate SDK, or write the section "+abi.ManifestSection+" when building it")
	}
	if t, ok := a.module.FuncType(a.module.Export("wgate_describe").Index); !ok || t.String() != "() -> i32" {
		return o.refuse(path, "its export wgate_describe is not of type () -> i32", "build it with a wgate SDK")
	}
	text, err := describe(ctx, path, a.module.Capped(o.pages(), tableElements), &o)
	if err != nil {
		return err
	}
	if _, err := abi.ParseManifest(text); err != nil {
		r := o.refuse(path, err.Error(), "correct what the plugin registers (names are letters, digits and _)")
		r.Err = err
		return r
	}
	return replaceFile(path, a.module.WithCustom(abi.ManifestSection, text))
}

// describe runs wgate_describe. The code runs once, so that interpreting it is faster than compiling it.
func describe(ctx context.Context, path string, b []byte, o *Options) (text []byte, err error) {
	rt, err := newRuntime(ctx, wazero.NewRuntimeConfigInterpreter())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rt.Close(ctx)) }()
	code, err := rt.CompileModule(ctx, b)
	if err != nil {
		return nil, o.refuse(path, "it does not compile: "+err.Error(), "build it for core WebAssembly 2.0")
	}
	g, f, err := newGuest(ctx, rt, code, o)
	if err != nil {
		return nil, err
	}
	if f == nil {
		g.reset()
		f = g.invoke(context.WithValue(ctx, guestKey{}, g), g.mod.ExportedFunction("wgate_describe"), startTime)
	}
	switch {
	case f != nil:
		return nil, o.refuse(path, "wgate_describe failed: "+f.text, "correct the plugin")
	case g.stack[0] != 0 || len(g.ends) != 1:
		return nil, o.refuse(path, g.words(fmt.Sprintf("wgate_describe returned %d and gave %d texts", g.stack[0], len(g.ends))), "correct the plugin")
	}
	return g.staged, nil
}

// replaceFile writes b in place of path at one go.
func replaceFile(path string, b []byte) (err error) {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".pack-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp.Name()))
		}
	}()
	_, err = tmp.Write(b)
	err = errors.Join(err, tmp.Chmod(st.Mode().Perm()), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

// Info is what can be told of a plugin file without running it.
type Info struct {
	Path     string        `json:"path"`
	Digest   string        `json:"sha256"`
	Bytes    int           `json:"bytes"`
	Manifest *abi.Manifest `json:"manifest"`
	Exports  []string      `json:"exports"` // of functions with their types, of memories
	Imports  []string      `json:"imports"` // MODULE.NAME
	Funcs    int           `json:"functions"`
	Pages    uint32        `json:"memory_pages"` // of 64 KiB, at the start
}

// Inspect reads a plugin file. Errors are those of Registry.Load: what it accepts can be loaded, as far as that can be told
// without compiling it.
func Inspect(path string) (Info, error) {
	o := Options{}
	if err := o.complete(); err != nil {
		return Info{}, err
	}
	b, err := o.readFile(path)
	if err != nil {
		return Info{}, err
	}
	a, err := o.admit(path, b, true)
	if err != nil {
		return Info{}, err
	}
	m := a.module
	info := Info{Path: path, Digest: a.digest, Bytes: len(b), Manifest: a.manifest, Funcs: len(m.Funcs)}
	for _, e := range m.Exports {
		text := e.Name
		if t, ok := m.FuncType(e.Index); ok && e.Kind == wasmbin.KindFunc {
			text += t.String()
		}
		info.Exports = append(info.Exports, text)
	}
	for _, i := range m.Imports {
		info.Imports = append(info.Imports, i.Module+"."+i.Name)
	}
	for _, l := range m.Memories {
		info.Pages = l.Min
	}
	return info, nil
}
