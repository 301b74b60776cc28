package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/wgate/wgate/abi"
	"github.com/wgate/wgate/abi/wasmbin"
)

// admitted is a plugin file that may be compiled.
type admitted struct {
	module   *wasmbin.Module
	manifest *abi.Manifest // nil if there is none and none is needed
	digest   string
}

// readFile reads a plugin file that is not too large.
func (o *Options) readFile(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r := o.refuse(path, "there is no such file", "build the plugin, or correct path in the plugin block")
		r.Err = err
		return nil, r
	case err != nil:
		return nil, fmt.Errorf("plugin %q: %w", o.Name, err)
	case st.IsDir():
		return nil, o.refuse(path, "this is a folder", "name the .wasm file in it")
	}
	if limit := wasmbin.DefaultQuota(0).Bytes; st.Size() > int64(limit) {
		return nil, o.refuse(path, fmt.Sprintf("it has %d bytes, at most %d are allowed", st.Size(), limit), "build it with -ldflags='-s -w' or split it")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("plugin %q: %w", o.Name, err)
	}
	return b, nil
}

// admit checks the bytes of a plugin before any compiler sees them.
func (o *Options) admit(path string, b []byte, needManifest bool) (*admitted, error) {
	sum := sha256.Sum256(b)
	a := &admitted{digest: hex.EncodeToString(sum[:])}
	if o.SHA256 != "" && !strings.EqualFold(o.SHA256, a.digest) {
		return nil, o.refuse(path, "its sha256 is "+a.digest+", the pipeline pins "+o.SHA256,
			"if this is the file that you want, put its digest into the plugin block")
	}
	if wasmbin.IsComponent(b) {
		return nil, o.refuse(path, "it is a WebAssembly component; wgate runs core modules",
			"build for wasm32-wasip1 (Go: GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared)")
	}
	if !wasmbin.IsModule(b) {
		return nil, o.refuse(path, "it is not a WebAssembly module",
			"name the .wasm file that the build made")
	}
	m, err := wasmbin.Parse(b)
	if err == nil {
		err = m.Check(wasmbin.DefaultQuota(o.pages()))
	}
	if err != nil {
		r := o.refuse(path, err.Error(), "build the plugin again, or raise limits.memory if it is about memory")
		r.Err = err
		return nil, r
	}
	a.module = m
	if err := o.checkExports(path, m); err != nil {
		return nil, err
	}
	if err := o.checkImports(path, m); err != nil {
		return nil, err
	}
	text, ok := m.Custom(abi.ManifestSection)
	if !ok {
		if needManifest {
			return nil, o.refuse(path, "it lacks a manifest", "run wgate plugin pack "+path)
		}
		return a, nil
	}
	if a.manifest, err = abi.ParseManifest(text); err != nil && needManifest {
		r := o.refuse(path, err.Error(), "run wgate plugin pack "+path)
		r.Err = err
		return nil, r
	}
	return a, nil
}

// exports are the functions that a plugin must export.
var exports = []struct{ name, sig string }{
	{"_initialize", "()"},
	{"wgate_abi_1", "()"},
	{"wgate_arena", "(i32, i32) -> i32"},
	{"wgate_open", "(i32) -> i32"},
	{"wgate_call", "(i32, i32, i32) -> i32"},
	{"wgate_close", "(i32) -> i32"},
}

func (o *Options) checkExports(path string, m *wasmbin.Module) error {
	const next = "build it with a wgate SDK (Go: import the SDK and build with -buildmode=c-shared)"
	if e := m.Export("memory"); e == nil || e.Kind != wasmbin.KindMemory {
		return o.refuse(path, "it lacks the export memory", next)
	}
	for _, x := range exports {
		e := m.Export(x.name)
		if e == nil || e.Kind != wasmbin.KindFunc {
			return o.refuse(path, "it lacks the export "+x.name, next)
		}
		if t, ok := m.FuncType(e.Index); !ok || t.String() != x.sig {
			return o.refuse(path, fmt.Sprintf("its export %s has type %s, it must be %s", x.name, t, x.sig), next)
		}
	}
	return nil
}

func (o *Options) checkImports(path string, m *wasmbin.Module) error {
	for _, i := range m.Imports {
		full := i.Module + "." + i.Name
		next := "remove what needs it from the plugin"
		switch {
		case i.Kind != wasmbin.KindFunc:
			return o.refuse(path, "it imports the "+wasmbin.KindName(i.Kind)+" "+full+", which nobody gives", next)
		case i.Module == wasiModule && slices.Contains(wasiAllowed, i.Name):
		case i.Module == abiModule && slices.ContainsFunc(imports, func(f hostFunc) bool { return f.name == i.Name }):
		case i.Module == abiModule:
			return o.refuse(path, "it imports "+full+", which is not available in this version", next)
		case strings.HasPrefix(i.Module, abiModule+"_"):
			return o.refuse(path, "it imports "+full+": the capability "+strings.TrimPrefix(i.Module, abiModule+"_")+
				" was not granted, and is not available in this version", next)
		default:
			return o.refuse(path, "it imports "+full+", which was not granted", next)
		}
	}
	return nil
}
