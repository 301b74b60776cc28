package wasm

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestRefused: every reason not to load a plugin has words of its own, and says what to do.
func TestRefused(t *testing.T) {
	r := registry(t)
	dir := t.TempDir()
	good := handmade{}.build()
	for _, c := range []struct {
		name       string
		b          []byte // nil: no file
		o          Options
		what, next string
	}{
		{"absent", nil, Options{}, "there is no such file", "build the plugin"},
		{"digest", good, Options{SHA256: strings.Repeat("0", 64)}, "the pipeline pins 0000", "put its digest"},
		{"text", []byte("not a module, but text"), Options{}, "not a WebAssembly module", "name the .wasm file"},
		{"component", []byte("\x00asm\x0d\x00\x01\x00"), Options{}, "a WebAssembly component", "wasm32-wasip1"},
		{"cut", good[:40], Options{}, "malformed WebAssembly at byte", "build the plugin again"},
		{"export", handmade{without: "wgate_call"}.build(), Options{}, "lacks the export wgate_call", "SDK"},
		{"initialize", handmade{without: "_initialize"}.build(), Options{}, "lacks the export _initialize", "-buildmode=c-shared"},
		{"manifest", handmade{bare: true}.build(), Options{}, "lacks a manifest", "run wgate plugin pack " + dir},
		{"capability", handmade{imports: [2]string{"wgate1_http", "submit"}}.build(), Options{}, "the capability http was not granted", "remove"},
		{"state", handmade{imports: [2]string{"wgate1", "state_get"}}.build(), Options{}, "wgate1.state_get, which is not available in this version", "remove"},
		{"foreign import", handmade{imports: [2]string{"env", "abort"}}.build(), Options{}, "env.abort, which was not granted", "remove"},
		{"socket", handmade{imports: [2]string{wasiModule, "sock_send"}}.build(), Options{}, "sock_send, which was not granted", "remove"},
		{"memory", handmade{pages: 100}.build(), Options{Memory: 99 * pageBytes}, "memory at the start: 100, at most 99", "limits.memory"},
		{"does not compile", handmade{body: []byte{0x1a}}.build(), Options{Guard: Trusted}, "it does not compile", "build it for core"},
		{"guard", good, Options{Guard: "none"}, "guard none is not known", "metered or trusted"},
		{"config", good, Options{Config: []byte("{")}, "config is not JSON", "change config"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name+".wasm")
			if c.b != nil {
				if err := os.WriteFile(path, c.b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c.o.Name = "p"
			m, err := r.Load(context.Background(), path, c.o)
			if err == nil {
				t.Fatal(m.Close(context.Background()))
			}
			var ref *Refused
			if !errors.As(err, &ref) {
				t.Fatalf("not a Refused: %v", err)
			}
			if !strings.Contains(ref.What, c.what) || !strings.Contains(ref.Next, c.next) {
				t.Errorf("%v\nwant %q and %q", err, c.what, c.next)
			}
			if !strings.HasPrefix(err.Error(), `plugin "p": `) {
				t.Errorf("the plugin is not named first: %v", err)
			}
		})
	}
	if _, err := r.Load(context.Background(), filepath.Join(dir, "absent.wasm"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// TestCompileOnce: many who load one file at the same time share one piece of code, and the last one frees it.
func TestCompileOnce(t *testing.T) {
	r := registry(t)
	ctx := context.Background()
	mods := make([]*Module, 8)
	var wg sync.WaitGroup
	for i := range mods {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m, err := r.LoadBytes(ctx, "x.wasm", handmade{}.build(), Options{})
			if err != nil {
				t.Error(err)
				return
			}
			mods[i] = m
		}()
	}
	wg.Wait()
	for _, m := range mods {
		if m == nil || m.code != mods[0].code {
			t.Fatal("code is not shared")
		}
	}
	for _, m := range mods {
		if err := m.Close(ctx); err != nil {
			t.Error(err)
		}
	}
	if n := len(r.compiled); n != 0 {
		t.Errorf("%d pieces of code are left", n)
	}
}

func TestCacheIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := NewRegistry(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(dir)
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestPackInspect(t *testing.T) {
	// TestMain has packed the file; packing it again must change nothing.
	before, err := os.ReadFile(scoresFile)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "s.wasm")
	if err := os.WriteFile(path, before, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Pack(path); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("packing twice changes the file: %d and %d bytes, %v", len(before), len(after), err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	info, err := Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	if f := info.Manifest.Function("score"); f == nil || !f.Pure || info.Manifest.Version != "1.0.0" || len(info.Digest) != 64 || info.Pages == 0 {
		t.Errorf("%+v", info)
	}
	if err := Pack(filepath.Join(t.TempDir(), "absent.wasm")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
	if err := os.WriteFile(path, (handmade{}).build(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Pack(path); err == nil || !strings.Contains(err.Error(), "lacks the export wgate_describe") {
		t.Error(err)
	}
}
