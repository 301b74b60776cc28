package quickstart

import (
	"fmt"
	"slices"
	"time"
)

// Compare returns how got differs from want, a line for each difference, at most ten and then how many more; nothing if
// they are equal. The order of panes of one key counts, that of keys among each other does not: keys are independent.
func Compare(want Expectation, got []Pane, late int) []string {
	var diffs []string
	byKey := func(panes []Pane) map[string][]Pane {
		m := map[string][]Pane{}
		for _, p := range panes {
			m[p.Key] = append(m[p.Key], p)
		}
		return m
	}
	wants, gots := byKey(want.Panes), byKey(got)
	for _, key := range keysOf(want.Panes, got) {
		w, g := wants[key], gots[key]
		for i := range max(len(w), len(g)) {
			switch {
			case i >= len(w):
				diffs = append(diffs, fmt.Sprintf("not expected: %s", g[i]))
			case i >= len(g):
				diffs = append(diffs, fmt.Sprintf("missing: %s", w[i]))
			case w[i] != g[i]:
				diffs = append(diffs, fmt.Sprintf("expected %s, got %s", w[i], g[i]))
			}
		}
	}
	if late != want.Late {
		diffs = append(diffs, fmt.Sprintf("expected %d late events, got %d", want.Late, late))
	}
	if len(diffs) > 10 {
		diffs = append(diffs[:10], fmt.Sprintf("and %d more", len(diffs)-10))
	}
	return diffs
}

func keysOf(lists ...[]Pane) []string {
	var keys []string
	for _, l := range lists {
		for _, p := range l {
			keys = append(keys, p.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// String writes p as the quickstart does, without a time of arrival.
func (p Pane) String() string {
	return fmt.Sprintf("%s %s %s %d %s", p.Key, p.Window(), p.Timing, p.Index, p.Value())
}

// Value writes the value of p as the pipeline does.
func (p Pane) Value() string { return fmt.Sprintf(`{"total":%d,"n":%d}`, p.Total, p.Count) }

// Window writes the window of p as two times of day, UTC.
func (p Pane) Window() string { return "[" + clock(p.Start) + "," + clock(p.End) + ")" }

func clock(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.TimeOnly) }
