package wasm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

// The guests that TestMain builds, packed, and the folder of machine code that all tests share.
var (
	scoresFile, hostileFile, statsFile string
	codeCache                          string
)

func TestMain(m *testing.M) {
	code, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func runAll(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "wgate-wasm-*")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	codeCache = filepath.Join(dir, "code")
	scoresFile, hostileFile = filepath.Join(dir, "scores.wasm"), filepath.Join(dir, "hostile.wasm")
	statsFile = filepath.Join(dir, "stats.wasm")
	for src, out := range map[string]string{
		"../../plugins/examples/scores": scoresFile,
		"../../plugins/examples/stats":  statsFile,
		"testdata/hostile":              hostileFile,
	} {
		cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, ".")
		cmd.Dir = src
		cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=-mod=mod")
		if text, err := cmd.CombinedOutput(); err != nil {
			return 1, fmt.Errorf("building %s: %w\n%s", src, err, text)
		}
		if err := Pack(out); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// registry returns a registry that is closed with the test.
func registry(t testing.TB) *Registry {
	t.Helper()
	r, err := NewRegistry(context.Background(), codeCache)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

// instance loads path and makes one instance; both are closed with the test.
func instance(t testing.TB, path string, o Options) *Instance {
	t.Helper()
	ctx := context.Background()
	m, err := registry(t).Load(ctx, path, o)
	if err != nil {
		t.Fatal(err)
	}
	in, err := m.NewInstance(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(ctx); err != nil {
			t.Error(err)
		}
		if err := m.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return in
}

// bundle makes a bundle of JSON values with times 0, 1, 2 and keys k0, k1.
func bundle(values ...string) *event.Bundle {
	b := &event.Bundle{Heap: &event.Heap{}}
	for i, v := range values {
		b.Times = append(b.Times, event.Time(i))
		b.Marks = append(b.Marks, event.Time(i-10))
		b.Ops = append(b.Ops, event.Insert)
		b.Keys = append(b.Keys, event.HeapValue(event.String, b.Heap.PutString(fmt.Sprint("k", i))))
		b.Values = append(b.Values, event.HeapValue(event.JSON, b.Heap.PutString(v)))
	}
	return b
}

// show writes what a call made: "ROW[>TAG]: VALUE" for each row, then "ROW! CODE".
func show(b *event.Bundle, out *engine.Processed) []string {
	var s []string
	for _, m := range out.Rows {
		line := fmt.Sprint(m.Row)
		if m.Tag > 0 {
			line += fmt.Sprint(">", m.Tag)
		}
		v := b.Values[m.Row]
		if m.New >= 0 {
			line += " new"
			if nv := out.New.Values[m.New]; nv.Kind != event.Missing {
				v = nv
			}
		}
		if v.IsNull() {
			line += " null"
		} else {
			line += " " + string(v.Bytes(b.Heap))
		}
		s = append(s, line)
	}
	for _, f := range out.Failed {
		s = append(s, fmt.Sprint(f.Row, "! ", f.Code))
	}
	return s
}
