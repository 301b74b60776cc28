package wasm

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wgate/wgate/abi"
	"github.com/wgate/wgate/abi/wasmbin"
)

// TestCheck: a file with several mistakes is told all of them, each with what to do.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	manifest := func(text string) []byte {
		return append(handmade{bare: true}.build(), append([]byte{wasmbin.SectionCustom},
			sized(concat(sized([]byte(abi.ManifestSection)), []byte(text)))...)...)
	}
	for _, c := range []struct {
		name string
		b    []byte
		want []string // parts of a problem and of its mending, in order
	}{
		{"good", handmade{}.build(), nil},
		{"text", []byte("This is not WebAssembly."), []string{"not a WebAssembly module", "name the .wasm file"}},
		{"cut", handmade{}.build()[:60], []string{"malformed WebAssembly", "the whole file"}},
		{"four", handmade{bare: true, without: "wgate_arena", imports: [2]string{"env", "abort"}, pages: 2000}.build(), []string{
			"memory at the start: 2000, at most 1024", "raise limits.memory",
			"lacks the export wgate_arena", "SDK",
			"imports env.abort", "remove what needs it",
			"lacks a manifest", "needs the export wgate_describe",
		}},
		{"manifest", manifest(`{"abi":2,"functions":[{"id":1,"name":"a-b","kind":"trigger"}],"capabilities":["http"]}`), []string{
			"ABI 2", "wgate plugin pack", "has id 1 in place 0", "plugin pack", `name "a-b"`, "plugin pack", `kind "trigger"`, "plugin pack",
			"capability http", "remove what needs it",
		}},
		{"code", handmade{body: []byte{0x1a}}.build(), []string{"its code is not valid", "core WebAssembly 2.0"}},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, c.b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Check(context.Background(), path)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(r.Problems) != len(c.want)/2 || r.Bytes != len(c.b) || len(r.Digest) != 64 {
			t.Errorf("%s: %+v", c.name, r)
			continue
		}
		for i, p := range r.Problems {
			if !strings.Contains(p.What, c.want[2*i]) || !strings.Contains(p.Next, c.want[2*i+1]) {
				t.Errorf("%s: problem %d: %+v", c.name, i, p)
			}
		}
	}
	if r, err := Check(context.Background(), scoresFile); err != nil || len(r.Problems) > 0 {
		t.Errorf("the example: %+v, %v", r, err)
	}
	if _, err := Check(context.Background(), filepath.Join(dir, "absent")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("absent: %v", err)
	}
}

// TestCheck_large: a file over the limit is a problem, and is not read.
func TestCheck_large(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(path, bytes.Repeat([]byte{0}, wasmbin.DefaultQuota(0).Bytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Check(context.Background(), path)
	if err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Next, "-s -w") {
		t.Errorf("%+v, %v", r, err)
	}
}
