package wasmbin

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// section returns a section with its length.
func section(id byte, body ...byte) []byte {
	return append(AppendU32([]byte{id}, uint32(len(body))), body...)
}

func module(sections ...[]byte) []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		b = append(b, s...)
	}
	return b
}

// small has a type (i32) -> i32, an import, a function, a table, a memory, a global, an export, a custom section.
func small() []byte {
	return module(
		section(SectionType, 1, 0x60, 1, 0x7f, 1, 0x7f),
		section(SectionImport, 1, 1, 'm', 1, 'f', 0, 0),
		section(SectionFunction, 1, 0),
		section(SectionTable, 1, 0x70, 0, 5),
		section(SectionMemory, 1, 0, 2),
		section(SectionGlobal, 1, 0x7f, 0, 0x41, 0, 0x0b),
		section(SectionExport, 2, 1, 'e', 0, 1, 3, 'm', 'e', 'm', 2, 0),
		section(SectionCode, 1, 6, 1, 3, 0x7f, 0x20, 0, 0x0b),
		section(SectionCustom, 1, 'x', 'h', 'i'),
	)
}

func TestParse(t *testing.T) {
	m, err := Parse(small())
	if err != nil {
		t.Fatal(err)
	}
	if ty, ok := m.FuncType(m.Export("e").Index); !ok || ty.String() != "(i32) -> i32" {
		t.Errorf("type of e: %v %v", ty, ok)
	}
	if _, ok := m.FuncType(2); ok {
		t.Error("there is a third function")
	}
	if len(m.Bodies) != 1 || m.Bodies[0].Locals != 3 || m.Globals != 1 || m.ImportedFuncs() != 1 {
		t.Errorf("%+v", m)
	}
	if x, ok := m.Custom("x"); !ok || string(x) != "hi" {
		t.Errorf("custom section: %q %v", x, ok)
	}
	// Twice: the old section must be replaced.
	b := m.WithCustom("x", []byte("one"))
	if m, err = Parse(b); err != nil {
		t.Fatal(err)
	}
	b = m.WithCustom("x", []byte("two"))
	if m, err = Parse(b); err != nil {
		t.Fatal(err)
	}
	if x, _ := m.Custom("x"); string(x) != "two" || strings.Contains(string(b), "one") {
		t.Errorf("custom section: %q", x)
	}
	if m, err = Parse(m.Capped(10, 7)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Limits{{2, 10, true}}, m.Memories); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Table{{0x70, Limits{5, 7, true}}}, m.Tables); d != "" {
		t.Error(d)
	}
}

func TestParse_bad(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty":            nil,
		"component":        []byte("\x00asm\x0d\x00\x01\x00"),
		"cut":              small()[:30],
		"order":            module(section(SectionMemory, 1, 0, 1), section(SectionType, 0)),
		"twice":            module(section(SectionMemory, 1, 0, 1), section(SectionMemory, 1, 0, 1)),
		"unknown section":  module(section(13)),
		"long number":      module([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 1}),
		"many elements":    module(section(SectionFunction, 0xff, 0xff, 0xff, 0x7f)),
		"no body":          module(section(SectionType, 1, 0x60, 0, 0), section(SectionFunction, 1, 0)),
		"bytes too many":   module(section(SectionType, 0, 0)),
		"shared memory":    module(section(SectionMemory, 1, 3, 1, 1)),
		"name not UTF-8":   module(section(SectionCustom, 1, 0xff)),
		"import kind":      module(section(SectionImport, 1, 1, 'm', 1, 'f', 9)),
		"body outside":     module(section(SectionType, 1, 0x60, 0, 0), section(SectionFunction, 1, 0), section(SectionCode, 1, 0x7f, 0)),
		"locals cut short": module(section(SectionType, 1, 0x60, 0, 0), section(SectionFunction, 1, 0), section(SectionCode, 1, 1, 5)),
	} {
		if _, err := Parse(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !IsComponent([]byte("\x00asm\x0d\x00\x01\x00")) || IsComponent(small()) {
		t.Error("IsComponent")
	}
}

// TestCheck has modules of a few bytes that ask for gigabytes.
func TestCheck(t *testing.T) {
	function := func(body ...byte) []byte {
		return module(section(SectionType, 1, 0x60, 0, 0), section(SectionFunction, 1, 0), section(SectionCode, append([]byte{1, byte(len(body))}, body...)...))
	}
	for _, c := range []struct {
		name, want string
		b          []byte
	}{
		{"locals", "locals", function(1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0x0b)},
		{"locals in groups", "locals", function(2, 0xff, 0xff, 0x01, 0x7f, 0xff, 0xff, 0x02, 0x7e, 0x0b)},
		{"table", "table", module(section(SectionTable, 1, 0x70, 0, 0xff, 0xff, 0xff, 0x7f))},
		{"memory", "memory", module(section(SectionMemory, 1, 0, 0x80, 0x80, 0x04))},
		{"memories", "memories", module(section(SectionMemory, 2, 0, 1, 0, 1))},
	} {
		m, err := Parse(c.b)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if err := m.Check(DefaultQuota(1024)); !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	m, _ := Parse(small())
	if err := m.Check(DefaultQuota(2)); err != nil {
		t.Error(err)
	}
}

func TestNextOp(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want int // length, 0: refused
	}{
		{[]byte{0x0b}, 1},
		{[]byte{0x41, 0xff, 0x7f}, 3},
		{[]byte{0x42, 0x80, 0x80, 0x01}, 4},
		{[]byte{0x0e, 2, 0, 1, 2}, 5},
		{[]byte{0x28, 2, 0x10}, 3},
		{[]byte{0x1c, 1, 0x7f}, 3},
		{[]byte{0x44, 1, 2, 3, 4, 5, 6, 7, 8}, 9},
		{[]byte{0xfc, 10, 0, 0}, 4},
		{[]byte{0xfc, 2}, 2},
		{append([]byte{0xfd, 12}, make([]byte, 16)...), 18},
		{[]byte{0xfd, 0x80, 0x01}, 3},
		{[]byte{0xfd, 84, 0, 0, 1}, 5},
		{[]byte{0xfd, 0x80, 0x02}, 0}, // relaxed
		{[]byte{0x12, 0}, 0},          // tail call
		{[]byte{0xfe, 0}, 0},          // atomics
		{[]byte{0xfb, 0}, 0},          // garbage collection
		{[]byte{0x41}, 0},
		{[]byte{0x0e, 0xff, 0xff, 0xff, 0x7f}, 0},
	} {
		o, err := NextOp(c.b, 0)
		if c.want == 0 && !errors.Is(err, ErrFormat) || c.want > 0 && (err != nil || o.To != c.want) {
			t.Errorf("%x: %+v, %v; want %d bytes", c.b, o, err, c.want)
		}
	}
}

// FuzzParse: any bytes are refused or give parts that lie inside them.
func FuzzParse(f *testing.F) {
	f.Add(small())
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Parse(b)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		_ = m.Check(DefaultQuota(1))
		for _, e := range m.Exports {
			m.FuncType(e.Index)
		}
		if _, err := Parse(m.WithCustom("x", []byte("y"))); err != nil {
			t.Fatal(err)
		}
		for _, body := range m.Bodies {
			for at := body.Code; at < body.To; {
				o, err := NextOp(b[:body.To], at)
				if err != nil {
					break
				}
				if o.To <= at || o.To > body.To {
					t.Fatalf("an instruction at %d ends at %d", at, o.To)
				}
				at = o.To
			}
		}
	})
}
