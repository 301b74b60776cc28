package windowing

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

func TestAssign(t *testing.T) {
	w := func(start, end event.Time) event.Window { return event.Window{Start: start, End: end} }
	fixed := func(size, offset event.Duration) Spec { return Spec{Kind: Fixed, Size: size, Offset: offset} }
	cases := []struct {
		spec Spec
		at   event.Time
		want []event.Window
	}{
		{Spec{}, 5, []event.Window{event.Global}},
		{fixed(10, 0), -1, []event.Window{w(-10, 0)}},
		{fixed(10, 0), -10, []event.Window{w(-10, 0)}},
		{fixed(10, 0), -11, []event.Window{w(-20, -10)}},
		{fixed(10, 0), 0, []event.Window{w(0, 10)}},
		{fixed(10, 3), 2, []event.Window{w(-7, 3)}},
		{fixed(10, 3), 3, []event.Window{w(3, 13)}},
		{fixed(10, -7), 3, []event.Window{w(3, 13)}},
		{fixed(10, 1003), 3, []event.Window{w(3, 13)}},
		{fixed(10, 0), math.MaxInt64 - 1, []event.Window{w(math.MaxInt64-7, event.MaxTime)}},
		{fixed(10, 0), math.MinInt64 + 1, []event.Window{w(event.MinTime, math.MinInt64+10)}},
		{Spec{Kind: Sliding, Size: 10, Period: 5}, 12, []event.Window{w(5, 15), w(10, 20)}},
		{Spec{Kind: Sliding, Size: 10, Period: 5}, -1, []event.Window{w(-10, 0), w(-5, 5)}},
		{Spec{Kind: Sliding, Size: 10, Period: 4, Offset: 1}, 9, []event.Window{w(1, 11), w(5, 15), w(9, 19)}},
		{Spec{Kind: Sliding, Size: 5, Period: 10}, 4, []event.Window{w(0, 5)}},
		{Spec{Kind: Sliding, Size: 5, Period: 10}, 5, nil},
		{Spec{Kind: Cumulative, Size: 60, Step: 20}, 59, []event.Window{w(0, 60)}},
		{Spec{Kind: Session, Gap: 5}, 7, []event.Window{w(7, 12)}},
		{Spec{Kind: Session, Gap: 5, Inclusive: true}, 7, []event.Window{w(7, 7)}},
	}
	for _, c := range cases {
		if d := cmp.Diff(c.want, c.spec.Assign(c.at, nil)); d != "" {
			t.Errorf("%s at %d: (-want +got)\n%s", c.spec, int64(c.at), d)
		}
	}
}

// TestAssignCovers: the windows of a grid are exactly those that cover the time, in order of their ends.
func TestAssignCovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 40).Draw(t, "size")
		period := rapid.IntRange(1, 40).Draw(t, "period")
		s := Spec{
			Kind: Sliding, Size: event.Duration(size), Period: event.Duration(period),
			Offset: event.Duration(rapid.IntRange(-100, 100).Draw(t, "offset")),
		}
		at := rapid.IntRange(-200, 200).Draw(t, "at")
		var want []event.Window
		for k := -500; k <= 500; k++ {
			w := event.Window{Start: event.Time(int(s.Offset) + k*period)}
			w.End = w.Start + event.Time(size)
			if w.Contains(event.Time(at)) {
				want = append(want, w)
			}
		}
		if d := cmp.Diff(want, s.Assign(event.Time(at), nil)); d != "" {
			t.Fatalf("%s at %d: (-want +got)\n%s", s, at, d)
		}
	})
}

// TestNextEnd: no window that holds an element at t or later ends above w and below NextEnd.
func TestNextEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := func(name string) event.Duration { return event.Duration(rapid.IntRange(1, 30).Draw(t, name)) }
		var s Spec
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			s = Spec{Kind: Fixed, Size: ms("size"), Offset: ms("offset") - 15}
		case 1:
			s = Spec{Kind: Sliding, Size: ms("size"), Period: ms("period"), Offset: ms("offset") - 15}
		case 2:
			s = Spec{Kind: Session, Gap: ms("gap"), Inclusive: rapid.Bool().Draw(t, "inclusive")}
		case 3:
			step := ms("step")
			s = Spec{Kind: Cumulative, Size: step * event.Duration(rapid.IntRange(1, 4).Draw(t, "steps")), Step: step}
		}
		w := event.Time(rapid.IntRange(-50, 50).Draw(t, "w"))
		at := event.Time(rapid.IntRange(-50, 50).Draw(t, "at"))
		next := s.NextEnd(w, at)
		if next <= w {
			t.Fatalf("%s: the next end above %d is %d", s, w, next)
		}
		for u := at; u < at+100; u++ {
			for _, win := range s.Assign(u, nil) {
				if due := s.Due(win); due > w && due < next {
					t.Fatalf("%s: window %d..%d of an element at %d is due above %d and before %d", s, win.Start, win.End, u, w, next)
				}
			}
		}
	})
}

func TestValidate(t *testing.T) {
	cases := []struct {
		spec Spec
		want string // attribute and summary of the first problem
	}{
		{Spec{}, ""},
		{Spec{Kind: Fixed, Size: 1, Offset: -500}, ""},
		{Spec{Kind: Fixed}, "size: size must be longer than zero"},
		{Spec{Kind: Sliding, Size: 10}, "period: period must be longer than zero"},
		{Spec{Kind: Sliding, Size: 1 << 20, Period: 1}, "period: too many windows per event"},
		{Spec{Kind: Cumulative, Size: 10, Step: 3}, "step: the step does not divide the size"},
		{Spec{Kind: Session}, "gap: gap must be longer than zero"},
		{Spec{Kind: Session, Gap: 5, Max: 3}, "max: max is shorter than the gap"},
		{Spec{Kind: Calendar}, ": calendar windows are not available in this version"},
	}
	for _, c := range cases {
		got := ""
		if p := c.spec.Validate(); len(p) > 0 {
			got = p[0].Attr + ": " + p[0].Summary
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.spec, got, c.want)
		}
	}
}

func TestSpecString(t *testing.T) {
	for want, s := range map[string]Spec{
		"global":                    {},
		"fixed(2m)":                 {Kind: Fixed, Size: 2 * event.Minute},
		"sliding(10s, period 5s)":   {Kind: Sliding, Size: 10 * event.Second, Period: 5 * event.Second},
		"cumulative(1h, step 10m)":  {Kind: Cumulative, Size: event.Hour, Step: 10 * event.Minute},
		"session(5s, inclusive)":    {Kind: Session, Gap: 5 * event.Second, Inclusive: true},
		"session(5s, max 1h)":       {Kind: Session, Gap: 5 * event.Second, Max: event.Hour},
		"fixed(10s, offset -3s)":    {Kind: Fixed, Size: 10 * event.Second, Offset: -3 * event.Second},
		"sliding(1s, period 250ms)": {Kind: Sliding, Size: event.Second, Period: 250},
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, n := range Names() {
		if k, ok := Lookup(n); !ok || k.String() != n {
			t.Errorf("%s is found as %s, %v", n, k, ok)
		}
	}
}
