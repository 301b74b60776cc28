package gbkw

import (
	"bytes"
	"testing"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// FuzzCell: bytes that are no cell are refused without harm, and what is read is written back as it was.
func FuzzCell(f *testing.F) {
	cfgs := []Config{
		{Window: windowing.Spec{Kind: windowing.Fixed, Size: 10}, Trigger: triggers.Default()},
		{Window: windowing.Spec{Kind: windowing.Session, Gap: 10}, Trigger: triggers.Default(), Mode: Retracting, Timestamp: Earliest},
		{Window: windowing.Spec{Kind: windowing.Cumulative, Size: 20, Step: 10}, Trigger: triggers.Default()},
	}
	var machines []*Machine
	for i := range cfgs {
		cfgs[i].Funcs = append(cfgs[i].Funcs, function(f, "count"), function(f, "list"))
		m, err := New(cfgs[i])
		if err != nil {
			f.Fatal(err)
		}
		machines = append(machines, m)
		c := m.newCell(event.Window{Start: 0, End: 10}, 3, []byte("k"))
		m.cells[c].unsent, m.cells[c].mark, m.cells[c].empty, m.cells[c].index = true, 4, false, 7
		f.Add(byte(i), m.encode(nil, c))
	}
	f.Add(byte(0), []byte{})
	f.Add(byte(2), []byte{flagEmpty, 0, 0, 0, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, which byte, val []byte) {
		m := machines[int(which)%len(machines)]
		m.clearCells()
		i := m.newCell(event.Window{Start: 0, End: 10}, 3, []byte("k"))
		if m.decode(i, val) != nil {
			return
		}
		first := m.encode(nil, i)
		j := m.newCell(event.Window{Start: 0, End: 10}, 3, []byte("k"))
		if err := m.decode(j, first); err != nil {
			t.Fatalf("%x is written as %x, which is refused: %v", val, first, err)
		}
		if again := m.encode(nil, j); !bytes.Equal(first, again) {
			t.Errorf("%x is written as %x, then as %x", val, first, again)
		}
	})
}

// FuzzStacks: rows that are no stacks and no position are refused without harm.
func FuzzStacks(f *testing.F) {
	m, err := New(Config{
		Window: windowing.Spec{Kind: windowing.Sliding, Size: 10, Period: 2}, Trigger: triggers.Spec{Kind: triggers.Never},
		Retracted: true, Funcs: []combine.Func{function(f, "count"), function(f, "sum")},
	})
	if err != nil {
		f.Fatal(err)
	}
	slot := m.newSlot()
	good := m.appendPart(appendTime(nil, 4), part{mark: 3, rows: -1}, slot)
	f.Add(good)
	f.Add(append([]byte{byte(len(good))}, good...))
	f.Add(append(appendTime(nil, 2), good...))
	f.Add(stale)
	f.Fuzz(func(t *testing.T, val []byte) {
		m.clearCells()
		s := stack{slot: m.newSlot(), front: val}
		if err := m.decodeBack(&s, val); err == nil && s.filled {
			b := appendTime(appendTime(nil, s.first), s.last)
			again := stack{slot: m.newSlot()}
			if err := m.decodeBack(&again, m.appendPart(b, s.part, s.slot)); err != nil || again.part != s.part {
				t.Errorf("%x is read as %+v, then as %+v: %v", val, s.part, again.part, err)
			}
		}
		if found, last, err := s.look(5); err == nil && found == nil && last >= 5 {
			t.Errorf("%x: found %x, last %d", val, found, last)
		}
		st := statestore.NewOverlay(memstore.New())
		if err := st.Put(m.positionKey(), val); err != nil {
			t.Fatal(err)
		}
		if err := m.loadPosition(st); err == nil && len(val) != 8 && len(val) < 17 {
			t.Errorf("%x is taken for a position", val)
		}
	})
}

// TestElementsAllocateNothing: once its memory is there, the machine takes rows without asking for more.
func TestElementsAllocateNothing(t *testing.T) {
	for name, spec := range map[string]windowing.Spec{
		"fixed":   {Kind: windowing.Fixed, Size: 1000},
		"sliding": {Kind: windowing.Sliding, Size: 1000, Period: 300},
	} {
		cfg := Config{Window: spec, Trigger: triggers.Default()}
		for _, f := range []string{"sum", "count", "mean", "min", "first"} {
			cfg.Funcs = append(cfg.Funcs, function(t, f))
		}
		m, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		st := statestore.NewOverlay(memstore.New())
		h := new(event.Heap)
		in := &Rows{B: &event.Bundle{Heap: h}, Args: make([][]event.Value, len(cfg.Funcs))}
		for i := range 500 {
			in.KeyBytes = append(in.KeyBytes, h.Put([]byte{byte(i % 7)}))
			in.B.Times = append(in.B.Times, event.Time(i))
			in.B.Marks = append(in.B.Marks, event.MinTime)
			in.B.Ops = append(in.B.Ops, event.Insert)
			for f := range in.Args {
				in.Args[f] = append(in.Args[f], event.IntValue(int64(i)))
			}
		}
		var out Output
		run := func() {
			out.Reset(len(cfg.Funcs))
			if err := m.Elements(in, 0, st, &out); err != nil {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(10, run); n > 0 {
			t.Errorf("%s: %v allocations for a bundle", name, n)
		}
	}
}

// TestRefused: what cannot be done is said by New, or of a row.
func TestRefused(t *testing.T) {
	fixed := windowing.Spec{Kind: windowing.Fixed, Size: 10}
	for name, cfg := range map[string]Config{
		"no trigger":           {Window: fixed},
		"no size":              {Window: windowing.Spec{Kind: windowing.Fixed}, Trigger: triggers.Default()},
		"lateness":             {Window: fixed, Trigger: triggers.Default(), Lateness: -1},
		"separate, no size":    {Trigger: triggers.Default(), Separate: true},
		"separate and late":    {Window: fixed, Trigger: parseTrigger(t, "after_watermark({ late = after_count(1) })"), Separate: true},
		"cumulative, earliest": {Window: windowing.Spec{Kind: windowing.Cumulative, Size: 20, Step: 10}, Trigger: triggers.Default(), Timestamp: Earliest},
	} {
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: New makes a machine", name)
		}
	}
	m, err := New(Config{Window: fixed, Trigger: triggers.Default()})
	if err != nil {
		t.Fatal(err)
	}
	in := &Rows{B: &event.Bundle{Heap: new(event.Heap)}}
	in.KeyBytes = append(in.KeyBytes, in.B.Heap.PutString("k"))
	in.B.Times, in.B.Marks, in.B.Ops = []event.Time{0}, []event.Time{0}, []event.Op{event.Retract}
	var out Output
	out.Reset(0)
	if err := m.Elements(in, 0, statestore.NewOverlay(memstore.New()), &out); err == nil {
		t.Error("a row that takes an earlier one back is taken")
	}
}

func parseTrigger(t tb, text string) triggers.Spec {
	t.Helper()
	s, err := triggers.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
