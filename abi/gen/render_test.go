package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestFresh fails when a generated file is not what abi.json says: run go generate in folder abi.
func TestFresh(t *testing.T) {
	outs, err := renderAll("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outs {
		got, err := os.ReadFile(o.path)
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, o.text) {
			t.Errorf("%s is stale: run go generate ./abi", o.path)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		name, want string
		l          layout
	}{
		{"gap", "ends at 4", layout{Name: "X", Size: 16, Fields: []field{{name: "A", typ: "u32"}, {name: "B", off: 8, typ: "u64"}}}},
		{"unaligned", "not aligned", layout{Name: "X", Size: 8, Fields: []field{{name: "A", typ: "u16"}, {name: "B", off: 2, typ: "u32"}}}},
		{"size", "size 16", layout{Name: "X", Size: 16, Fields: []field{{name: "A", typ: "u64"}}}},
		{"type", "no known type", layout{Name: "X", Size: 8, Fields: []field{{name: "A", typ: "f64"}}}},
	} {
		s := spec{Layouts: []layout{c.l}}
		if err := s.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
}
