package wasm

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

func process(t testing.TB, in *Instance, fn string, b *event.Bundle) *engine.Processed {
	t.Helper()
	out := &engine.Processed{}
	if err := in.Process(context.Background(), fn, b, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestScores(t *testing.T) {
	in := instance(t, scoresFile, Options{Name: "scores", Config: []byte(`{"bonus": 3}`)})
	b := bundle(
		`{"user":"u1","team":"red","points":7,"ts":1000,"kind":"goal"}`,
		`{"user":"u2","team":"blue","points":5,"ts":2000,"kind":"bonus"}`,
		`{"user":"u3","team":"red","points":0,"ts":3000,"kind":"ping"}`,
		`{"user":"u4","team":"red","points":-1,"ts":4000,"kind":"goal"}`,
		`{"user":"u5`,
	)
	got := show(b, process(t, in, "score", b))
	want := []string{
		`0 new {"team":"red","points":7,"user":"u1","ts":1000}`,
		`1 new {"team":"blue","points":15,"user":"u2","ts":2000}`,
		`3! negative_points`,
		`4! bad_json`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func BenchmarkScores(b *testing.B) {
	for _, guard := range []string{Trusted, Metered} {
		b.Run(guard, func(b *testing.B) {
			in := instance(b, scoresFile, Options{Name: "scores", Guard: guard})
			var vals []string
			for i := range 1000 {
				vals = append(vals, fmt.Sprintf(`{"user":"u%d","team":"red","points":%d,"ts":%d,"kind":"goal"}`, i%100, i%10, 1767225600000+i))
			}
			bd := bundle(vals...)
			out := &engine.Processed{}
			heap := bd.Heap.Len()
			b.ResetTimer()
			for range b.N {
				if bd.Heap.Len() > heap+8<<20 {
					bd = bundle(vals...)
				}
				if err := in.Process(context.Background(), "score", bd, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
		})
	}
}

func BenchmarkKeep(b *testing.B) {
	in := instance(b, hostileFile, Options{Guard: Trusted})
	var vals []string
	for i := range 1000 {
		vals = append(vals, fmt.Sprintf(`{"user":"u%d","team":"red","points":%d,"ts":%d,"kind":"goal"}`, i%100, i%10, 1767225600000+i))
	}
	bd := bundle(vals...)
	out := &engine.Processed{}
	b.ResetTimer()
	for range b.N {
		if err := in.Process(context.Background(), "keep", bd, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/record")
}

// TestHostile processes bundles in which some rows do harm; the others must come out as if these were not there.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []string
		want []string
	}{
		{"panic", []string{`1`, `"panic"`, `2`}, []string{`0 1`, `2 2`, `1! guest_trap`}},
		{"exit", []string{`1`, `"exit"`, `2`, `3`}, []string{`0 1`, `2 2`, `3 3`, `1! guest_trap`}},
		{"deadlock first and last", []string{`"deadlock"`, `1`, `"deadlock"`}, []string{`1 1`, `0! guest_trap`, `2! guest_trap`}},
		{"recursion", []string{`1`, `"recurse"`, `2`}, []string{`0 1`, `2 2`, `1! guest_memory`}},
		{"out of memory", []string{`1`, `2`, `"oom"`, `3`}, []string{`0 1`, `1 2`, `3 3`, `2! guest_memory`}},
		{"fail", []string{`"fail"`, `1`}, []string{`1 1`, `0! refused`}},
		{"flood", []string{`1`, `"flood"`, `2`}, []string{`0 1`, `2 2`, `1! guest_output`}},
		{"order", []string{`"both"`, `1`, `"side"`, `"drop"`, `"null"`}, []string{`0 "both"`, `0>2 new "both"`, `1 1`, `2>1 new "side"`, `4 new null`}},
		{"endless loop", []string{`1`, `"loop"`, `2`}, []string{`0 1`, `2 2`, `1! guest_deadline`}},
		{"nothing left", []string{`"exit"`, `"exit"`}, []string{`0! guest_trap`, `1! guest_trap`}},
		{"empty", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Name: "hostile", Output: 1 << 20, Time: 30_000}
			if c.name == "endless loop" {
				o.Time = 200
			}
			in := instance(t, hostileFile, o)
			b := bundle(c.in...)
			// Twice: what was thrown away must not show.
			for range 2 {
				if d := cmp.Diff(c.want, show(b, process(t, in, "act", b))); d != "" {
					t.Error(d)
				}
			}
		})
	}
}
