package gbkw

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// happening is one step of a random input: an element, a move of the watermark, or one of the clock.
type happening struct {
	kind byte // e, w or c
	e    element
	at   event.Time
}

func drawWindow(t *rapid.T) windowing.Spec {
	ms := func(name string, lo, hi int) event.Duration {
		return event.Duration(rapid.IntRange(lo, hi).Draw(t, name))
	}
	switch rapid.SampledFrom([]windowing.Kind{
		windowing.Global, windowing.Fixed, windowing.Sliding, windowing.Cumulative, windowing.Session,
	}).Draw(t, "kind") {
	case windowing.Fixed:
		return windowing.Spec{Kind: windowing.Fixed, Size: ms("size", 1, 20), Offset: ms("offset", -20, 20)}
	case windowing.Sliding:
		return windowing.Spec{Kind: windowing.Sliding, Size: ms("size", 1, 20), Period: ms("period", 1, 20), Offset: ms("offset", -5, 5)}
	case windowing.Cumulative:
		step := ms("step", 1, 10)
		return windowing.Spec{Kind: windowing.Cumulative, Size: step * ms("steps", 1, 4), Step: step}
	case windowing.Session:
		s := windowing.Spec{Kind: windowing.Session, Gap: ms("gap", 1, 12), Inclusive: rapid.Bool().Draw(t, "inclusive")}
		if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
			s.Max = s.Gap + ms("max", 0, 20)
		}
		return s
	}
	return windowing.Spec{}
}

func drawTrigger(t *rapid.T, depth int, clock bool) triggers.Spec {
	kinds := []triggers.Kind{triggers.AfterWatermark, triggers.AfterCount, triggers.Never}
	if clock {
		kinds = append(kinds, triggers.AfterDelay, triggers.Every)
	}
	if depth > 0 {
		kinds = append(kinds, triggers.Any, triggers.All, triggers.Sequence, triggers.Repeat, triggers.Repeat, triggers.RepeatUntil,
			triggers.AfterWatermark, triggers.AfterWatermark)
	}
	s := triggers.Spec{Kind: rapid.SampledFrom(kinds).Draw(t, "trigger")}
	parts := 0
	switch s.Kind {
	case triggers.AfterCount:
		s.Count = int64(rapid.IntRange(1, 4).Draw(t, "n"))
	case triggers.AfterDelay, triggers.Every:
		s.Delay = event.Duration(rapid.IntRange(1, 15).Draw(t, "delay"))
	case triggers.Repeat:
		parts = 1
	case triggers.RepeatUntil:
		parts = 2
	case triggers.Any, triggers.All, triggers.Sequence:
		parts = rapid.IntRange(1, 3).Draw(t, "parts")
	case triggers.AfterWatermark:
		if depth > 0 && rapid.Bool().Draw(t, "early") {
			s.Early = []triggers.Spec{drawTrigger(t, depth-1, clock)}
		}
		if depth > 0 && rapid.Bool().Draw(t, "late") {
			s.Late = []triggers.Spec{drawTrigger(t, depth-1, clock)}
		}
	}
	for range parts {
		s.Parts = append(s.Parts, drawTrigger(t, depth-1, clock))
	}
	return s
}

func drawConfig(t *rapid.T) Config {
	for {
		cfg := Config{
			Op: 7, Window: drawWindow(t),
			Lateness: event.Duration(rapid.SampledFrom([]int{0, 0, 1, 7, 30}).Draw(t, "lateness")),
			Mode:     rapid.SampledFrom([]Mode{Accumulating, Discarding, Retracting}).Draw(t, "mode"),
			Suppress: rapid.IntRange(0, 3).Draw(t, "suppress") == 0,
			Separate: rapid.IntRange(0, 5).Draw(t, "separate") == 0,
			Trigger:  triggers.Default(),
		}
		cfg.Timestamp = rapid.SampledFrom([]Timestamp{End, End, Earliest, Latest}).Draw(t, "timestamp")
		if rapid.IntRange(0, 2).Draw(t, "default") > 0 {
			cfg.Trigger = drawTrigger(t, 2, true)
		}
		cfg.Retracted = rapid.IntRange(0, 3).Draw(t, "retracted") == 0
		if _, err := New(cfg); err == nil {
			return cfg
		}
	}
}

// drawInput draws happenings; marks are those of a watermark that moves when and where it likes. With signed some elements
// are taken back later.
func drawInput(t *rapid.T, signed bool) []happening {
	var hs []happening
	var live []element
	w, now := event.MinTime, event.Time(0)
	high := event.Time(0)
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		switch rapid.IntRange(0, 9).Draw(t, "what") {
		case 0:
			now += event.Time(rapid.IntRange(1, 12).Draw(t, "clock"))
			hs = append(hs, happening{kind: 'c', at: now})
		case 1, 2:
			if w == event.MinTime {
				w = high - 10
			}
			w += event.Time(rapid.IntRange(0, 12).Draw(t, "watermark"))
			hs = append(hs, happening{kind: 'w', at: w})
		default:
			if n := len(live); n > 0 && rapid.IntRange(0, 2).Draw(t, "back") == 0 {
				i := rapid.IntRange(0, n-1).Draw(t, "which")
				e := live[i]
				live = append(live[:i], live[i+1:]...)
				e.mark, e.op = w, event.Retract
				hs = append(hs, happening{kind: 'e', e: e})
				continue
			}
			base := max(w, -20)
			at := base + event.Time(rapid.IntRange(-15, 25).Draw(t, "time"))
			high = max(high, at)
			e := element{
				key: rapid.SampledFrom([]string{"a", "b", "", "a\x00"}).Draw(t, "key"), t: at, mark: w,
				v: event.IntValue(int64(rapid.IntRange(-3, 9).Draw(t, "value"))), where: rapid.Bool().Draw(t, "where"),
			}
			hs = append(hs, happening{kind: 'e', e: e})
			if signed {
				live = append(live, e)
			}
		}
	}
	return append(hs, happening{kind: 'w', at: event.MaxTime})
}

// funcsFor returns functions that cfg can have, of all sorts.
func funcsFor(cfg Config) []string {
	if cfg.Retracted {
		return []string{"sum", "count", "mean"}
	}
	return []string{"sum", "count", "min", "first", "last", "list", "mean"}
}

// oneByOne gives a machine every happening by itself.
func oneByOne(t *rapid.T, cfg Config, hs []happening) *rig {
	return feedOneByOne(newRig(t, cfg, funcsFor(cfg)...), hs)
}

func feedOneByOne(r *rig, hs []happening) *rig {
	r.unit = 1
	for _, h := range hs {
		switch h.kind {
		case 'e':
			r.elements([]element{h.e})
		case 'w':
			r.move(h.at)
		case 'c':
			r.clock(h.at)
		}
	}
	return r
}

// inBundles gives a machine the happenings as an engine does: rows in bundles that are cut where something may happen and
// at random, the watermark only where it must be said and at random, with small budgets, and losing the machine's memory
// at random.
func inBundles(t *rapid.T, cfg Config, hs []happening) *rig {
	r := newRig(t, cfg, funcsFor(cfg)...)
	r.unit = 1
	r.budget = rapid.SampledFrom([]int{1, 2, 1000}).Draw(t, "budget")
	r.frail = rapid.Bool().Draw(t, "frail")
	var bundle []element
	said := event.MinTime // watermark that the machine knows
	flush := func() {
		if len(bundle) > 0 {
			r.elements(bundle)
			bundle = nil
		}
	}
	say := func(w event.Time) {
		if w > said {
			flush()
			said = w
			r.move(w)
		}
	}
	oldest := event.MaxTime
	for _, h := range hs {
		if h.kind == 'e' {
			oldest = min(oldest, h.e.t)
		}
	}
	for _, h := range hs {
		maybe := func(name string) bool { return rapid.IntRange(0, 5).Draw(t, name) == 0 }
		switch h.kind {
		case 'e':
			bundle = append(bundle, h.e)
			if maybe("cut") {
				flush()
			}
		case 'w':
			// The boundary is asked for before the rows are given, knowing of them only that none is older than oldest.
			if b := r.m.Boundary(said, oldest); h.at >= b || maybe("say") {
				say(h.at)
			}
		case 'c':
			if r.m.NextClock() <= h.at || len(bundle) > 0 || maybe("tell") {
				flush()
				r.clock(h.at)
			}
			r.now = max(r.now, h.at)
		}
		if maybe("lose") {
			flush()
			r.open()
		}
	}
	flush()
	return r
}

// perKey returns what came for each key, in order.
func perKey(r *rig) string {
	got := map[string][]string{}
	for i, l := range r.lines {
		got[r.keys[i]] = append(got[r.keys[i]], l)
	}
	var keys []string
	for k := range got {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var s strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&s, "%q\n  %s\n", k, strings.Join(got[k], "\n  "))
	}
	return s.String()
}

// TestCuts: what comes for a key does not depend on how the input is cut, nor on when the machine loses its memory; and
// nothing is left in the state once the input has ended.
func TestCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawConfig(t)
		hs := drawInput(t, cfg.Retracted)
		one := oneByOne(t, cfg, hs)
		many := inBundles(t, cfg, hs)
		if d := cmp.Diff(perKey(one), perKey(many)); d != "" {
			t.Fatalf("window %s, trigger %s, mode %d, lateness %s, separate %v, suppress %v\n%s\n(-one by one, +in bundles)\n%s",
				cfg.Window, cfg.Trigger, cfg.Mode, cfg.Lateness, cfg.Separate, cfg.Suppress, show(hs), d)
		}
		if one.none != many.none {
			t.Fatalf("rows in no window: %d one by one, %d in bundles", one.none, many.none)
		}
		for _, r := range []*rig{one, many} {
			if n := r.rows(); n != 0 {
				t.Fatalf("window %s, trigger %s: %d rows are left in the state", cfg.Window, cfg.Trigger, n)
			}
			if r.m.windows.n != 0 || r.m.ticks.n != 0 || r.m.held != 0 {
				t.Fatalf("window %s, trigger %s: the index has %d windows, %d ticks, %d held", cfg.Window, cfg.Trigger, r.m.windows.n, r.m.ticks.n, r.m.held)
			}
		}
	})
}

func show(hs []happening) string {
	var s strings.Builder
	for _, h := range hs {
		if h.kind == 'e' {
			if h.e.op == event.Retract {
				s.WriteString("back ")
			}
			fmt.Fprintf(&s, "e %q %d (mark %s)\n", h.e.key, h.e.t, h.e.mark)
			continue
		}
		fmt.Fprintf(&s, "%c %s\n", h.kind, rapidTime(h.at))
	}
	return s.String()
}

func rapidTime(t event.Time) string {
	if !t.IsFinite() {
		return t.String()
	}
	return fmt.Sprint(int64(t))
}
