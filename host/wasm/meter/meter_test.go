package meter

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/wgate/wgate/abi/wasmbin"
)

func sized(b []byte) []byte { return append(wasmbin.AppendU32(nil, uint32(len(b))), b...) }

func concat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// module makes a module with a memory, one global if there shall be one, and a function f of type (i32) -> i32 whose
// locals and instructions, without the end, are given.
func module(global bool, locals, ops []byte) []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, body []byte) { b = append(append(b, id), sized(body)...) }
	section(wasmbin.SectionType, []byte{1, 0x60, 1, i32, 1, i32})
	section(wasmbin.SectionFunction, []byte{1, 0})
	section(wasmbin.SectionMemory, []byte{1, 0, 2})
	if global {
		section(wasmbin.SectionGlobal, []byte{0x81, 0, i32, 1, 0x41, 5, 0x0b}) // its count takes a byte more than it must
	}
	section(wasmbin.SectionExport, []byte{1, 1, 'f', 0, 0})
	section(wasmbin.SectionCode, append([]byte{1}, sized(concat(locals, ops, []byte{0x0b}))...))
	return b
}

// sumTo is: s = 0; loop { s += n; n -= 1; if n != 0 continue }; s.
var sumTo = []byte{
	0x03, 0x40, 0x20, 1, 0x20, 0, 0x6a, 0x21, 1, 0x20, 0, 0x41, 1, 0x6b, 0x22, 0, 0x0d, 0, 0x0b, 0x20, 1,
}

// fill is memory.fill(0, 1, n), then the byte at 0.
var fill = []byte{0x41, 0, 0x41, 1, 0x20, 0, 0xfc, 11, 0, 0x41, 0, 0x2d, 0, 0}

// fib calls itself: n < 2 ? n : f(n-1) + f(n-2).
var fib = []byte{
	0x20, 0, 0x41, 2, 0x48, 0x04, i32, 0x20, 0, 0x05,
	0x20, 0, 0x41, 1, 0x6b, 0x10, 0, 0x20, 0, 0x41, 2, 0x6b, 0x10, 0, 0x6a, 0x0b,
}

// carry is a loop that takes an operand: the counting code stands where a value is on the stack.
var carry = []byte{0x20, 0, 0x03, 0, 0x41, 1, 0x6b, 0x22, 0, 0x20, 0, 0x0d, 0, 0x0b}

func instantiate(t *testing.T, b []byte) api.Module {
	t.Helper()
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = rt.Close(ctx) })
	m, err := rt.Instantiate(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestSame: metered code computes what the code did, and the count goes down by what was done.
func TestSame(t *testing.T) {
	one := []byte{1, 1, i32}
	for _, c := range []struct {
		name        string
		locals, ops []byte
		arg         uint64
	}{
		{"loop", one, sumTo, 100_000},
		{"short loop", one, sumTo, 1},
		{"fill", []byte{0}, fill, 70_000},
		{"calls", []byte{0}, fib, 20},
		{"operand", []byte{0}, carry, 9},
	} {
		for _, global := range []bool{false, true} {
			b := module(global, c.locals, c.ops)
			out, err := Rewrite(b)
			if err != nil {
				t.Fatal(c.name, err)
			}
			plain, metered := instantiate(t, b), instantiate(t, out)
			want, err := plain.ExportedFunction("f").Call(context.Background(), c.arg)
			if err != nil {
				t.Fatal(c.name, err)
			}
			got, err := metered.ExportedFunction("f").Call(context.Background(), c.arg)
			if err != nil || got[0] != want[0] {
				t.Errorf("%s: %v, %v; want %v", c.name, got, err, want)
			}
		}
	}
}

// TestStop: each kind of work looks at the flag; without it, it would run for long or for ever.
func TestStop(t *testing.T) {
	for name, ops := range map[string][]byte{
		"loop":  {0x03, 0x40, 0x0c, 0, 0x0b, 0x41, 0},
		"calls": {0x20, 0, 0x41, 0, 0x10, 0, 0x1a, 0x0c, 0}, // f(n): f(0) ... never returns
		// A loop that hardly has instructions, over a bulk one.
		"fill":  concat([]byte{0x03, 0x40}, fill, []byte{0x1a, 0x0c, 0, 0x0b, 0x41, 0}),
		"empty": {0x03, 0x40, 0x0c, 0, 0x0b, 0},
	} {
		out, err := Rewrite(module(false, []byte{0}, ops))
		if err != nil {
			t.Fatal(name, err)
		}
		m := instantiate(t, out)
		stop := m.ExportedGlobal(StopExport).(api.MutableGlobal)
		timer := time.AfterFunc(20*time.Millisecond, func() { stop.Set(1) })
		if _, err := m.ExportedFunction("f").Call(context.Background(), 70_000); err == nil {
			t.Errorf("%s: it ended by itself", name)
		}
		timer.Stop()
	}
}

func TestRewrite_bad(t *testing.T) {
	for name, b := range map[string][]byte{
		"text":        []byte("text"),
		"no memory":   []byte("\x00asm\x01\x00\x00\x00"),
		"open block":  module(false, []byte{0}, []byte{0x02, 0x40}),
		"early end":   module(false, []byte{0}, []byte{0x0b}),
		"atomics":     module(false, []byte{0}, []byte{0xfe, 0}),
		"cut operand": module(false, []byte{0}, []byte{0x41}),
	} {
		if _, err := Rewrite(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	out, err := Rewrite(module(false, []byte{1, 1, i32}, sumTo))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Rewrite(out); err == nil {
		t.Error("a module is rewritten twice")
	}
}

// FuzzRewrite: what was well formed stays so, and nothing crashes.
func FuzzRewrite(f *testing.F) {
	f.Add(module(true, []byte{1, 1, i32}, sumTo))
	f.Add(module(false, []byte{0}, fill))
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := Rewrite(b)
		if err != nil {
			return
		}
		if _, err := wasmbin.Parse(out); err != nil {
			t.Fatal(errors.Join(err, errors.New("the rewritten module is malformed")))
		}
	})
}
