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

// drawShared draws a configuration whose windows share slices.
func drawShared(t *rapid.T) Config {
	for {
		cfg := drawConfig(t)
		period := event.Duration(rapid.IntRange(1, 8).Draw(t, "period"))
		cfg.Window = windowing.Spec{
			Kind: windowing.Sliding, Period: period, Size: period + event.Duration(rapid.IntRange(1, 40).Draw(t, "more")),
			Offset: event.Duration(rapid.IntRange(-9, 9).Draw(t, "offset")),
		}
		cfg.Timestamp, cfg.Separate = End, false
		if rapid.Bool().Draw(t, "late") {
			cfg.Trigger = triggers.Spec{Kind: triggers.AfterWatermark, Late: []triggers.Spec{drawTrigger(t, 1, true)}}
		}
		if SharesSlices(cfg) {
			return cfg
		}
	}
}

// TestSharedSlices: a machine whose windows share slices gives what one gives that has a state for each window, to the
// last byte, whatever the input; and nothing is left in the state.
func TestSharedSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawShared(t)
		hs := drawInput(t, cfg.Retracted)
		say := func(r *rig) string { return strings.Join(r.lines, "\n") }
		rigOf := func(apart bool) *rig {
			return newRigOf(t, &rig{cfg: cfg, names: funcsFor(cfg), budget: 1 << 30, w: event.MinTime, marks: true, apart: apart})
		}
		apart, shared := feedOneByOne(rigOf(true), hs), feedOneByOne(rigOf(false), hs)
		if apart.m.Shares() || !shared.m.Shares() {
			t.Fatal("the machines do not differ")
		}
		where := fmt.Sprintf("window %s, trigger %s, mode %d, lateness %s, suppress %v, retracted %v\n%s", cfg.Window, cfg.Trigger, cfg.Mode, cfg.Lateness, cfg.Suppress, cfg.Retracted, show(hs))
		if d := cmp.Diff(say(apart), say(shared)); d != "" {
			t.Fatalf("%s\n(-one state per window, +shared slices)\n%s", where, d)
		}
		many := inBundles(t, cfg, hs)
		apart.marks, many.marks = false, false
		if d := cmp.Diff(perKey(oneByOne(t, cfg, hs)), perKey(many)); d != "" {
			t.Fatalf("%s\n(-one by one, +in bundles)\n%s", where, d)
		}
		for _, r := range []*rig{shared, many} {
			if n := r.rows(); n != 0 || r.m.slices.n != 0 || r.m.windows.n != 0 || r == shared && r.m.stacked != (groupSet{}) {
				t.Fatalf("%s\n%d rows, %d slices, %d windows are left, stacks in groups %x", where, n, r.m.slices.n, r.m.windows.n, r.m.stacked)
			}
		}
	})
}

// counter is count() and counts how often an accumulator is touched by an element, and how often two are merged.
type counter struct {
	combine.Func
	adds, merges int
}

func (c *counter) Add(accs [][]byte, p *combine.Batch) {
	c.adds += len(p.Groups)
	c.Func.Add(accs, p)
}

func (c *counter) Merge(acc, other []byte) []byte {
	c.merges++
	return c.Func.Merge(acc, other)
}

// TestOneTouch: an element touches one accumulator, and a pane takes a few merges, in however many windows an element lies.
func TestOneTouch(t *testing.T) {
	for _, ratio := range []event.Duration{2, 10, 60} {
		c := &counter{Func: function(t, "count")}
		cfg := Config{
			Window:  windowing.Spec{Kind: windowing.Sliding, Size: 10 * ratio, Period: 10},
			Trigger: triggers.Default(), Funcs: []combine.Func{c},
		}
		r := newRigOf(t, &rig{cfg: cfg, budget: 1 << 30, w: event.MinTime})
		panes := 0
		r.names = []string{"count"}
		r.seen = func(p *event.Bundle, i int) {
			if got := p.Fields[0][i].Int(); got > int64(10*ratio) {
				t.Fatalf("a window of %d elements holds %d", 10*ratio, got)
			}
			panes++
		}
		const elements = 5000
		for i := range event.Time(elements) {
			r.elements([]element{{key: "k", t: i, mark: r.w}})
			if i%10 == 9 {
				r.move(i + 1)
			}
		}
		if c.adds != elements {
			t.Errorf("size/period %d: %d elements touch %d accumulators", ratio, elements, c.adds)
		}
		// For a pane: the new slice, front and back, and its part of the turning.
		if perPane := float64(c.merges) / float64(panes); panes < elements/10 || perPane > 4 {
			t.Errorf("size/period %d: %.1f merges for each of %d panes", ratio, perPane, panes)
		}
	}
}

// TestLateTouch: the cells that a late row makes of the slices, for every window that it is late for, cost a few merges
// each, however many slices a window has.
func TestLateTouch(t *testing.T) {
	const ratio = 60
	c := &counter{Func: function(t, "count")}
	cfg := Config{
		Window:  windowing.Spec{Kind: windowing.Sliding, Size: 10 * ratio, Period: 10},
		Trigger: triggers.Default(), Lateness: 10 * ratio, Funcs: []combine.Func{c},
	}
	r := newRigOf(t, &rig{cfg: cfg, budget: 1 << 30, w: event.MinTime})
	r.names = []string{"count"}
	for i := range event.Time(20 * ratio) {
		r.elements([]element{{key: "k", t: i, mark: r.w}})
	}
	r.move(20 * ratio)
	before, panes := c.merges, len(r.lines)
	r.elements([]element{{key: "k", t: 15 * ratio, mark: r.w}})
	late := len(r.lines) - panes
	if late != ratio/2 {
		t.Fatalf("a row is late for %d windows", late)
	}
	if merges := c.merges - before; merges > 2*ratio+3*late {
		t.Errorf("%d merges for %d windows of %d slices", merges, late, ratio)
	}
}
