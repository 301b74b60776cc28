package gbkw

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// TestTakenBack: with retracting panes, what was sent and not taken back is in the end one row for each key and window that
// still holds something, and it is what the elements give that were not taken back.
func TestTakenBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawConfig(t)
		cfg.Mode, cfg.Retracted, cfg.Separate = Retracting, true, false
		cfg.Lateness = 1000
		cfg.Window = rapid.SampledFrom([]windowing.Spec{
			{}, {Kind: windowing.Fixed, Size: 15}, {Kind: windowing.Sliding, Size: 14, Period: 4}, {Kind: windowing.Sliding, Size: 3, Period: 5},
		}).Draw(t, "window")
		hs := drawInput(t, true)
		live := map[string]string{}
		r := newRig(t, cfg, "sum", "count", "mean")
		r.seen = func(p *event.Bundle, i int) {
			at := fmt.Sprintf("%q %s", p.Keys[i].Bytes(p.Heap), p.Windows[i])
			row := fmt.Sprintf("%s %s %s", text(p.Heap, p.Fields[0][i]), text(p.Heap, p.Fields[1][i]), text(p.Heap, p.Fields[2][i]))
			switch old, ok := live[at]; {
			case p.Ops[i] == event.Insert && !ok:
				live[at] = row
			case p.Ops[i] == event.Retract && ok && old == row:
				delete(live, at)
			default:
				t.Fatalf("%s: %v of %s, but what stands is %q", at, p.Ops[i], row, old)
			}
		}
		feedOneByOne(r, hs)
		if d := cmp.Diff(survivors(cfg.Window, hs), live); d != "" {
			t.Fatalf("window %s, trigger %s, suppress %v\n%s\n(-of what was not taken back, +sent)\n%s", cfg.Window, cfg.Trigger, cfg.Suppress, show(hs), d)
		}
		if n := r.rows(); n != 0 {
			t.Fatalf("%d rows are left", n)
		}
	})
}

// survivors computes the rows of what was not taken back.
func survivors(spec windowing.Spec, hs []happening) map[string]string {
	sum, n := map[string]int64{}, map[string]int64{}
	for _, h := range hs {
		if h.kind != 'e' {
			continue
		}
		sign := int64(1)
		if h.e.op == event.Retract {
			sign = -1
		}
		for _, w := range spec.Assign(h.e.t, nil) {
			at := fmt.Sprintf("%q %s", h.e.key, w)
			sum[at] += sign * h.e.v.Int()
			n[at] += sign
		}
	}
	want := map[string]string{}
	for at, k := range n {
		if k > 0 {
			want[at] = fmt.Sprintf("%d %d %s", sum[at], k, text(nil, event.FloatValue(float64(sum[at])/float64(k))))
		}
	}
	return want
}

// TestCanRetract: what cannot take rows back is known before the first one comes, and New refuses it.
func TestCanRetract(t *testing.T) {
	fixed := windowing.Spec{Kind: windowing.Fixed, Size: 10}
	for _, c := range []struct {
		name  string
		cfg   Config
		funcs string
		why   string
	}{
		{"all can", Config{Window: fixed}, "sum count mean", ""},
		{"max", Config{Window: fixed}, "sum max", "max cannot forget"},
		{"list", Config{Window: fixed}, "list", "list cannot forget"},
		{"deltas", Config{Window: fixed, Mode: Discarding}, "sum", "less than nothing"},
		{"sessions", Config{Window: windowing.Spec{Kind: windowing.Session, Gap: 1}}, "sum", "does not split"},
		{"steps", Config{Window: windowing.Spec{Kind: windowing.Cumulative, Size: 2, Step: 1}}, "sum", "cumulative"},
		{"late panes", Config{Window: fixed, Separate: true}, "sum", "on-time pane"},
	} {
		c.cfg.Trigger, c.cfg.Retracted = triggers.Default(), true
		for _, f := range strings.Fields(c.funcs) {
			c.cfg.Funcs = append(c.cfg.Funcs, function(t, f))
		}
		ok, why := CanRetract(c.cfg)
		if ok != (c.why == "") || !strings.Contains(why, c.why) {
			t.Errorf("%s: CanRetract says %v, %q", c.name, ok, why)
		}
		if _, err := New(c.cfg); (err == nil) != ok {
			t.Errorf("%s: New says %v", c.name, err)
		}
	}
	for _, name := range combine.Names() {
		sig, _ := combine.Lookup(name)
		if ok, _ := CanRetract(Config{Funcs: []combine.Func{function(t, name)}}); ok != sig.Invertible {
			t.Errorf("%s: the table says %v", name, sig.Invertible)
		}
	}
}
