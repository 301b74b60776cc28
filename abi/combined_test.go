package abi

import (
	"errors"
	"strings"
	"testing"

	"github.com/wgate/wgate/event"
)

// combinedFrame writes an output frame of a combiner: two accumulators, a failure, three results.
func combinedFrame(change func(grown, values []byte)) []byte {
	heap := []byte("ACC0acc1bad_rowno good\"x\"overflow too large")
	table := []entry{
		{SectionHeap, 0, 0, uint32(len(heap)), uint32(len(heap))},
		{SectionGrown, FlagCritical, 0, 2 * SizeGrown, 2},
		{SectionFail, FlagCritical, 0, SizeFail, 1},
		{SectionResults, FlagCritical, 0, 3 * SizeValue, 3},
	}
	at := HeaderSize + len(table)*SectionSize
	for i := range table {
		table[i].offset = uint32(at)
		at = align(at + int(table[i].length))
	}
	f := make([]byte, at)
	putHeader(f, header{magic: MagicOutput, sections: uint32(len(table)), total: uint32(at)})
	putTable(f, table)
	h := table[0].offset
	copy(f[h:], heap)
	grown := f[table[1].offset:][:2*SizeGrown]
	for i := range 2 {
		p := grown[i*SizeGrown:]
		le.PutUint32(p[AtGrownAcc:], uint32(1-i))
		le.PutUint32(p[AtGrownOffset:], h+uint32(4*i))
		le.PutUint32(p[AtGrownLength:], 4)
	}
	fail := f[table[2].offset:]
	le.PutUint32(fail[AtFailRow:], 2)
	le.PutUint32(fail[AtFailCodeOffset:], h+8)
	le.PutUint32(fail[AtFailCodeLength:], 7)
	le.PutUint32(fail[AtFailOffset:], h+15)
	le.PutUint32(fail[AtFailLength:], 7)
	values := f[table[3].offset:][:3*SizeValue]
	for i, v := range []struct {
		kind, n uint32
		low     uint64
	}{{KindInt, 0, 7}, {KindJSON, 3, uint64(h) + 22}, {KindError, 18, uint64(h) + 25}} {
		p := values[i*SizeValue:]
		le.PutUint32(p[AtValueKind:], v.kind)
		le.PutUint32(p[AtValueLength:], v.n)
		le.PutUint64(p[AtValueLow:], v.low)
	}
	if change != nil {
		change(grown, values)
	}
	return f
}

func TestCombined(t *testing.T) {
	var c Combined
	if err := c.Check(combinedFrame(nil), 2, 3, 3); err != nil {
		t.Fatal(err)
	}
	if acc, b := c.GrownAcc(0); c.Grown() != 2 || acc != 1 || string(b) != "ACC0" {
		t.Errorf("%d: %d %s", c.Grown(), acc, b)
	}
	if f := c.Fail(0); c.Fails() != 1 || f.Row != 2 || string(f.Code) != "bad_row" || string(f.Text) != "no good" {
		t.Errorf("%+v", f)
	}
	h := &event.Heap{}
	if v := c.Result(0, h); v != event.IntValue(7) {
		t.Error(v)
	}
	if v := c.Result(1, h); v.Kind != event.JSON || string(v.Bytes(h)) != `"x"` {
		t.Error(v)
	}
	if v := c.Result(2, h); v.Kind != event.Error || string(v.Bytes(h)) != "overflow too large" {
		t.Error(v)
	}
}

func TestBadCombined(t *testing.T) {
	for _, x := range []struct {
		name                string
		accs, rows, results int
		change              func(grown, values []byte)
		want                string
	}{
		{"too few accumulators", 1, 3, 3, nil, "accumulator 1 of 1"},
		{"too few rows", 2, 2, 3, nil, "row 2 of 2"},
		{"too few results", 2, 3, 4, nil, "3 values, the steps ask for 4"},
		{"twice", 2, 3, 3, func(g, _ []byte) { le.PutUint32(g[AtGrownAcc:], 0) }, "accumulator 0 twice"},
		{"outside", 2, 3, 3, func(g, _ []byte) { le.PutUint32(g[AtGrownOffset:], 8) }, "not inside HEAP"},
		{"wraps", 2, 3, 3, func(g, _ []byte) { le.PutUint32(g[AtGrownOffset:], 1<<32-2) }, "not inside HEAP"},
		{"large", 2, 3, 3, func(g, _ []byte) { le.PutUint32(g[AtGrownLength:], MaxAccumulator+1) }, "has grown to"},
		{"kind", 2, 3, 3, func(_, v []byte) { le.PutUint32(v, 99) }, "of kind 99"},
		{"missing", 2, 3, 3, func(_, v []byte) { le.PutUint32(v, KindMissing) }, "of kind 0"},
		{"bool", 2, 3, 3, func(_, v []byte) { le.PutUint32(v, KindBool) }, "a bool of 7"},
		{"text outside", 2, 3, 3, func(_, v []byte) { le.PutUint32(v, KindText) }, "not inside HEAP"},
		{"far", 2, 3, 3, func(_, v []byte) { le.PutUint64(v[SizeValue+AtValueLow:], 1<<32) }, "is at"},
		{"code", 2, 3, 3, func(_, v []byte) { le.PutUint32(v[2*SizeValue+AtValueLength:], 0) }, "a code that is not"},
	} {
		var c Combined
		err := c.Check(combinedFrame(x.change), x.accs, x.rows, x.results)
		if !errors.Is(err, ErrFrame) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: got %v, want %q", x.name, err, x.want)
		}
	}
	f := combinedFrame(nil)
	for n := range len(f) {
		var c Combined
		if err := c.Check(f[:n], 2, 3, 3); !errors.Is(err, ErrFrame) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
}

// FuzzCombined feeds any bytes to the reader: it must refuse them or give parts that lie inside them.
func FuzzCombined(f *testing.F) {
	f.Add(combinedFrame(nil), 2, 3, 3)
	f.Fuzz(func(t *testing.T, frame []byte, accs, rows, results int) {
		if min(accs, rows, results) < 0 || max(accs, rows, results) > 1000 {
			return
		}
		var c Combined
		if err := c.Check(frame, accs, rows, results); err != nil {
			if !errors.Is(err, ErrFrame) {
				t.Fatal(err)
			}
			return
		}
		for i := range c.Grown() {
			if acc, _ := c.GrownAcc(i); int(acc) >= accs {
				t.Fatalf("accumulator %d of %d", acc, accs)
			}
		}
		h := &event.Heap{}
		for i := range results {
			c.Result(i, h)
		}
		for i := range c.Fails() {
			c.Fail(i)
		}
	})
}

// TestCombining sees that what is written stands where the spec says.
func TestCombining(t *testing.T) {
	var c Combining
	h := &event.Heap{}
	for range 2 { // the second time over reused memory
		c.Reset(2)
		a := c.Acc([]byte("abc"))
		b := c.Acc(nil)
		for _, v := range []event.Value{
			event.IntValue(-1), event.HeapValue(event.String, h.PutString("text")),
			event.FloatValue(1.5), event.DecimalValue(event.DecimalFromInt(2)),
		} {
			c.Value(h, v)
		}
		p := c.Pair(1)
		c.Step(StepAdd, a, p, 1)
		c.Step(StepExtract, b, 0, 0)
		f := make([]byte, c.Size())
		c.Write(f, Call{Fn: 3})
		table, err := readTable(nil, f, MagicInput)
		if err != nil {
			t.Fatal(err)
		}
		if c.Accs() != 2 || c.Rows() != 2 || c.Extracts() != 1 || len(table) != 5 {
			t.Errorf("%d accumulators, %d rows, %d results, %d sections", c.Accs(), c.Rows(), c.Extracts(), len(table))
		}
		accs, args := f[table[1].offset:], f[table[4].offset:]
		off := le.Uint32(accs[AtAccOffset:])
		if n := le.Uint32(accs[AtAccLength:]); off%8 != 0 || string(f[off:off+n]) != "abc" {
			t.Errorf("accumulator at %d: %s", off, f[off:off+n])
		}
		v := args[SizeValue:]
		low := le.Uint64(v[AtValueLow:])
		if n := le.Uint32(v[AtValueLength:]); le.Uint32(v[AtValueKind:]) != KindText || string(f[low:low+uint64(n)]) != "text" {
			t.Errorf("%x", v[:SizeValue])
		}
		if v = args[3*SizeValue:]; le.Uint32(v[AtValueKind:]) != KindDecimal || le.Uint64(v[AtValueFloat:]) != 0x4000000000000000 {
			t.Errorf("%x", v[:SizeValue])
		}
	}
}
