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

// admit checks the bytes of a plugin before any compiler sees them. It returns the first thing that is wrong.
func (o *Options) admit(path string, b []byte, needManifest bool) (*admitted, error) {
	a, wrong := o.examine(path, b, needManifest)
	if len(wrong) > 0 {
		return nil, wrong[0]
	}
	return a, nil
}

// examine checks the bytes of a plugin and returns all that is wrong with them.
func (o *Options) examine(path string, b []byte, needManifest bool) (a *admitted, wrong []*Refused) {
	sum := sha256.Sum256(b)
	a = &admitted{digest: hex.EncodeToString(sum[:])}
	fail := func(what, next string, cause error) {
		r := o.refuse(path, what, next)
		r.Err = cause
		wrong = append(wrong, r)
	}
	if o.SHA256 != "" && !strings.EqualFold(o.SHA256, a.digest) {
		fail("its sha256 is "+a.digest+", the pipeline pins "+o.SHA256, "if this is the file that you want, put its digest into the plugin block", nil)
	}
	if wasmbin.IsComponent(b) {
		fail("it is a WebAssembly component; wgate runs core modules",
			"build for wasm32-wasip1 (Go: GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared)", nil)
		return a, wrong
	}
	if !wasmbin.IsModule(b) {
		fail("it is not a WebAssembly module", "name the .wasm file that the build made", nil)
		return a, wrong
	}
	m, err := wasmbin.Parse(b)
	if err != nil {
		fail(err.Error(), "build the plugin again, and see that the whole file was copied", err)
		return a, wrong
	}
	a.module = m
	for _, e := range m.Excesses(quotaOf(o)) {
		fail(e.Error(), e.Next, e)
	}
	o.checkExports(m, fail)
	o.checkImports(m, fail)
	o.checkManifest(path, a, needManifest, fail)
	return a, wrong
}

func quotaOf(o *Options) wasmbin.Quota { return wasmbin.DefaultQuota(o.pages()) }

// failing notes something that is wrong, what to do about it, and the error behind it, if there is one.
type failing func(what, next string, cause error)

// checkManifest reads the manifest. What is wrong with one that is not needed does not count.
func (o *Options) checkManifest(path string, a *admitted, needed bool, fail failing) {
	text, ok := a.module.Custom(abi.ManifestSection)
	if !ok && needed {
		next := "run wgate plugin pack " + path
		if a.module.Export("wgate_describe") == nil {
			next += ", which needs the export wgate_describe, or write the section " + abi.ManifestSection + " when building it"
		}
		fail("it lacks a manifest", next, nil)
	}
	if !ok {
		return
	}
	m, wrong := abi.ReadManifest(text)
	if !needed {
		if len(wrong) == 0 {
			a.manifest = m
		}
		return
	}
	for _, err := range wrong {
		fail(err.Error(), "correct what the plugin registers, then run wgate plugin pack "+path, err)
	}
	a.manifest = m
	if m == nil {
		return
	}
	for _, c := range m.Capabilities {
		if !slices.Contains(o.Granted, c) {
			fail("it asks for the capability "+c+", which was not granted, and is not available in this version", "remove what needs it from the plugin", nil)
		}
	}
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

func (o *Options) checkExports(m *wasmbin.Module, fail failing) {
	next := "build it with a wgate SDK (Go: import the SDK and build with -buildmode=c-shared)"
	if m.Export("_start") != nil && m.Export("_initialize") == nil {
		next = "it is a program, not a library: " + next
	}
	var missing []string
	if e := m.Export("memory"); e == nil || e.Kind != wasmbin.KindMemory {
		missing = append(missing, "memory")
	}
	for _, x := range exports {
		e := m.Export(x.name)
		if e == nil || e.Kind != wasmbin.KindFunc {
			missing = append(missing, x.name)
			continue
		}
		if t, ok := m.FuncType(e.Index); !ok || t.String() != x.sig {
			fail(fmt.Sprintf("its export %s has type %s, it must be %s", x.name, t, x.sig), next, nil)
		}
	}
	switch len(missing) {
	case 0:
	case 1:
		fail("it lacks the export "+missing[0], next, nil)
	default:
		fail("it lacks the exports "+strings.Join(missing, ", "), next, nil)
	}
}

func (o *Options) checkImports(m *wasmbin.Module, fail failing) {
	const next = "remove what needs it from the plugin"
	seen := map[string]bool{}
	for _, i := range m.Imports {
		full := i.Module + "." + i.Name
		if seen[full] {
			continue
		}
		seen[full] = true
		switch {
		case i.Kind != wasmbin.KindFunc:
			fail("it imports the "+wasmbin.KindName(i.Kind)+" "+full+", which nobody gives", next, nil)
		case i.Module == wasiModule && slices.Contains(wasiAllowed, i.Name):
		case i.Module == abiModule && slices.ContainsFunc(imports, func(f hostFunc) bool { return f.name == i.Name }):
		case i.Module == abiModule:
			fail("it imports "+full+", which is not available in this version", next, nil)
		case strings.HasPrefix(i.Module, abiModule+"_"):
			fail("it imports "+full+": the capability "+strings.TrimPrefix(i.Module, abiModule+"_")+
				" was not granted, and is not available in this version", next, nil)
		default:
			fail("it imports "+full+", which was not granted", next, nil)
		}
	}
}
