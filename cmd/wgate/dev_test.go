package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// produce is a program for scripts: produce BROKER TOPIC VALUE...
func produce() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "want: produce BROKER TOPIC VALUE...")
		os.Exit(2)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(os.Args[1]))
	if err == nil {
		for _, v := range os.Args[3:] {
			if err == nil {
				// One partition: the order of values is that of the arguments.
				err = cl.ProduceSync(context.Background(), &kgo.Record{Topic: os.Args[2], Key: []byte("k"), Value: []byte(v)}).FirstErr()
			}
		}
		cl.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestWatcher(t *testing.T) {
	dir := t.TempDir()
	w, err := newWatcher()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if err := w.set([]string{dir}); err != nil {
		t.Fatal(err)
	}
	write := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, name := range []string{".a.hcl.swp", "a.hcl~", "notes.txt", "a_test.go"} {
		write(name)
	}
	want := []string{write("a.hcl"), write("main.go")}
	// As editors do it: written beside, then renamed.
	if err := os.Rename(write(".tmp"), filepath.Join(dir, "x.wasm")); err != nil {
		t.Fatal(err)
	}
	want = append(want, filepath.Join(dir, "x.wasm"))
	var got []string
	for deadline := time.After(20 * time.Second); len(got) < len(want); {
		select {
		case paths := <-w.changes:
			got = append(got, paths...)
		case <-deadline:
			t.Fatalf("got %v", got)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("changes (-want +got):\n%s", d)
	}
}

func TestPluginSource(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"beside/score/main.go", "inside/go.mod", "inside/main.go", "none/x.txt", "loose/main.go", "rust/count/Cargo.toml", "crate/Cargo.toml"} {
		at := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{ // order does not matter
		"beside/score.wasm": "beside/score", "inside/score.wasm": "inside", "none/score.wasm": "", "loose/score.wasm": "",
		"rust/count.wasm": "rust/count", "crate/count.wasm": "crate",
	} {
		got := pluginSource(filepath.Join(dir, filepath.FromSlash(path)))
		if want != "" {
			want = filepath.Join(dir, filepath.FromSlash(want))
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	out := filepath.Join(dir, "inside", "score.wasm")
	if !stale(filepath.Join(dir, "inside"), out, nil) {
		t.Error("what was never built is not stale")
	}
	if err := os.WriteFile(out, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(out, later, later); err != nil {
		t.Fatal(err)
	}
	for changed, want := range map[string]bool{"inside/main.go": true, "inside/main_test.go": false, "loose/main.go": false, "inside/a.hcl": false} { // order does not matter
		if got := stale(filepath.Join(dir, "inside"), out, []string{filepath.Join(dir, filepath.FromSlash(changed))}); got != want {
			t.Errorf("after a change of %s: stale %v", changed, got)
		}
	}
}

func TestWindowText(t *testing.T) {
	for _, tc := range [][3]string{
		{"1748779200000", "1748779320000", "[2025-06-01 12:00:00,12:02:00)"},
		{"", "", ""},
		{"x", "1", ""},
	} {
		if got := windowText(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%v: %q", tc, got)
		}
	}
}
