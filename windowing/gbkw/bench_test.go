package gbkw

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// BenchmarkElements takes bundles of full size through windows of two minutes; one op is one row.
func BenchmarkElements(b *testing.B) {
	late, _ := triggers.Parse(`after_watermark({ early = after_count(1000), late = after_count(1) })`)
	for _, c := range []struct {
		name string
		cfg  Config
		keys int
	}{
		{"fixed", Config{Window: windowing.Spec{Kind: windowing.Fixed, Size: 2 * event.Minute}, Trigger: triggers.Default()}, 1000},
		{"fixed-100k", Config{Window: windowing.Spec{Kind: windowing.Fixed, Size: 2 * event.Minute}, Trigger: triggers.Default()}, 100000},
		{"early", Config{Window: windowing.Spec{Kind: windowing.Fixed, Size: 2 * event.Minute}, Trigger: late}, 1000},
		{"sliding-10", Config{Window: windowing.Spec{Kind: windowing.Sliding, Size: 2 * event.Minute, Period: 12 * event.Second}, Trigger: triggers.Default()}, 1000},
		{"sliding-60", Config{Window: windowing.Spec{Kind: windowing.Sliding, Size: 2 * event.Minute, Period: 2 * event.Second}, Trigger: triggers.Default()}, 1000},
		{"sliding-60-apart", Config{Window: windowing.Spec{Kind: windowing.Sliding, Size: 2 * event.Minute, Period: 2 * event.Second}, Trigger: late}, 1000},
		{"session", Config{Window: windowing.Spec{Kind: windowing.Session, Gap: 10 * event.Second}, Trigger: triggers.Default()}, 1000},
	} {
		b.Run(c.name, func(b *testing.B) {
			cfg := c.cfg
			cfg.Funcs = append(cfg.Funcs, function(b, "sum"), function(b, "count"))
			benchElements(b, cfg, c.keys)
		})
	}
}

func benchElements(b *testing.B, cfg Config, keys int) {
	m, err := New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	store := memstore.New()
	st := statestore.NewOverlay(store)
	if err := m.Open(st); err != nil {
		b.Fatal(err)
	}
	h := new(event.Heap)
	in := &Rows{B: &event.Bundle{Heap: h}, Args: make([][]event.Value, 2)}
	rnd := uint64(1)
	for range event.BundleRows {
		rnd = rnd*6364136223846793005 + 1442695040888963407
		var key [8]byte
		binary.BigEndian.PutUint64(key[:], rnd>>33%uint64(keys))
		in.KeyBytes = append(in.KeyBytes, h.Put(key[:]))
		in.B.Times = append(in.B.Times, 0)
		in.B.Marks = append(in.B.Marks, event.MinTime)
		in.B.Ops = append(in.B.Ops, event.Insert)
		in.Args[0] = append(in.Args[0], event.IntValue(int64(rnd>>40)))
	}
	var out Output
	now := event.Time(0)
	b.ReportAllocs()
	for n := 0; n < b.N; n += event.BundleRows {
		if n%(64*event.BundleRows) == 0 { // an epoch ends
			if err := store.Apply(nil, false, st); err != nil {
				b.Fatal(err)
			}
			st.Reset(store)
		}
		for i := range in.B.Times {
			in.B.Times[i] = now + event.Time(i%16)
			in.B.Marks[i] = now - 5000
		}
		now += 16
		out.Reset(2)
		if err := m.Elements(in, now, st, &out); err != nil {
			b.Fatal(err)
		}
		if w := now - 5000; w >= m.Boundary(m.w, now-5000) {
			out.Reset(2)
			if done, err := m.Watermark(w, st, &out, 1<<30); err != nil || !done {
				b.Fatal(fmt.Errorf("watermark: %v, %w", done, err))
			}
		}
	}
}
