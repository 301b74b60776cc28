package triggers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

// TestTrigger runs the scripts of testdata. "trigger" compiles the text below it and prints it; "run" drives it:
//
//	e NOW         an element arrives before the window's end is passed
//	l NOW         an element arrives after that
//	t NOW         the clock stands at NOW
//	p NOW         the watermark passes the end
//	show          prints the nodes' states
//	keep NAME     keeps the state under a name and begins a new one
//	merge NAMES   merges kept states, before the end of the merged window; Merge: after it
//
// A firing prints the path of the node that caused it, a deadline that is waited for prints its time.
func TestTrigger(t *testing.T) {
	datadriven.Walk(t, "testdata/trigger", func(t *testing.T, path string) {
		var m *Machine
		var st []byte
		kept := map[string][]byte{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "trigger":
				s, err := Parse(d.Input)
				if err != nil {
					return err.Error() + "\n"
				}
				if m, err = Compile(s); err != nil {
					return err.Error() + "\n"
				}
				st = make([]byte, m.Size())
				return fmt.Sprintf("%s\nwatches %v quiet %v timed %v flushes %v\n", s, m.Watches(), m.Quiet(), m.Timed(), m.Flushes())
			case "run":
				var out strings.Builder
				for _, line := range strings.Split(d.Input, "\n") {
					w := strings.Fields(line)
					switch w[0] {
					case "show":
						out.WriteString("show\n")
						for _, n := range m.Describe(st) {
							out.WriteString(strings.TrimRight(fmt.Sprintf("  %s%s %s", strings.Repeat("  ", n.Depth), n.Text, n.State), " ") + "\n")
						}
					case "keep":
						kept[w[1]] = st
						st = make([]byte, m.Size())
						fmt.Fprintln(&out, line)
					case "merge", "Merge":
						var from [][]byte
						for _, n := range w[1:] {
							from = append(from, kept[n])
						}
						st = make([]byte, m.Size())
						m.Merge(st, from, w[0] == "Merge")
						fmt.Fprintln(&out, line)
					default:
						fmt.Fprintln(&out, line+look(t, m, st, w))
					}
				}
				return out.String()
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func look(t *testing.T, m *Machine, st []byte, w []string) string {
	var now int64
	if _, err := fmt.Sscan(w[1], &now); err != nil {
		t.Fatal(err)
	}
	l := Look{Now: event.Time(now), Passed: w[0] == "l" || w[0] == "p"}
	var cause int
	var fired bool
	switch w[0] {
	case "e", "l":
		cause, fired = m.Element(st, l)
	case "t", "p":
		cause, fired = m.Ask(st, l)
	default:
		t.Fatalf("unknown line %q", w)
	}
	var s string
	if fired {
		s += " fires " + m.Describe(st)[cause].Path
	}
	if m.Finished(st) {
		s += " finished"
	}
	if at := m.Deadline(st, l.Now); at != event.MaxTime {
		s += fmt.Sprintf(" until %d", int64(at))
	}
	return s
}

func drawSpec(t *rapid.T, depth int) Spec {
	kinds := []Kind{AfterWatermark, AfterCount, Never, AfterDelay, Every}
	if depth > 0 {
		kinds = append(kinds, Any, All, Sequence, Repeat, RepeatUntil, AfterWatermark)
	}
	s := Spec{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	parts := 0
	switch s.Kind {
	case AfterCount:
		s.Count = rapid.Int64Range(1, 4).Draw(t, "count")
	case AfterDelay, Every:
		s.Delay = event.Duration(rapid.Int64Range(1, 200000).Draw(t, "delay"))
	case Repeat:
		parts = 1
	case RepeatUntil:
		parts = 2
	case Any, All, Sequence:
		parts = rapid.IntRange(1, 3).Draw(t, "parts")
	case AfterWatermark:
		if depth > 0 && rapid.Bool().Draw(t, "early") {
			s.Early = []Spec{drawSpec(t, depth-1)}
		}
		if depth > 0 && rapid.Bool().Draw(t, "late") {
			s.Late = []Spec{drawSpec(t, depth-1)}
		}
	}
	for range parts {
		s.Parts = append(s.Parts, drawSpec(t, depth-1))
	}
	return s
}

// TestPrintsAsItParses: a trigger that is printed and parsed is the same trigger.
func TestPrintsAsItParses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t, 3)
		got, err := Parse(s.String())
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		if d := cmp.Diff(s, got); d != "" {
			t.Fatalf("%s:\n%s", s, d)
		}
	})
}

// TestDeadlines: whenever a trigger that has not fired is ready later without a further element, it said so: a look at any
// time before its deadline fires nothing.
func TestDeadlines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := Compile(drawSpec(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		st := make([]byte, m.Size())
		now, passed := event.Time(1), false
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch {
			case rapid.Bool().Draw(t, "element"):
				m.Element(st, Look{now, passed})
			case !passed && rapid.IntRange(0, 9).Draw(t, "pass") == 0:
				passed = true
				m.Ask(st, Look{now, passed})
			default:
				// What the watermark alone makes ready again at once is no matter of time.
				if _, fired := m.Ask(append([]byte(nil), st...), Look{now, passed}); fired {
					m.Ask(st, Look{now, passed})
					continue
				}
				at := m.Deadline(st, now)
				next := now + event.Time(rapid.IntRange(1, 100000).Draw(t, "wait"))
				if at <= next {
					now = at
					m.Ask(st, Look{now, passed})
					continue
				}
				now = next
				if cause, fired := m.Ask(st, Look{now, passed}); fired {
					t.Fatalf("%s: %s fires at %d without a deadline", m.Spec(), m.Describe(st)[cause].Path, int64(now))
				}
			}
		}
	})
}

// TestMergeCommutes: the order in which windows merge does not matter, and a window that is merged with nothing new is as
// it was where its end has not been passed.
func TestMergeCommutes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, err := Compile(drawSpec(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		var from [][]byte
		for range rapid.IntRange(1, 4).Draw(t, "windows") {
			st := make([]byte, m.Size())
			now := event.Time(1)
			passed := rapid.Bool().Draw(t, "passed")
			for range rapid.IntRange(0, 6).Draw(t, "elements") {
				now += event.Time(rapid.IntRange(0, 1000).Draw(t, "wait"))
				m.Element(st, Look{now, passed})
			}
			from = append(from, st)
		}
		passed := rapid.Bool().Draw(t, "merged passed")
		a, b := make([]byte, m.Size()), make([]byte, m.Size())
		m.Merge(a, from, passed)
		m.Merge(b, rapid.Permutation(from).Draw(t, "order"), passed)
		if d := cmp.Diff(a, b); d != "" {
			t.Fatalf("%s: the order matters\n%s", m.Spec(), d)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(`repeat(after_watermark())`)
	f.Add(`after_watermark({ early = every("1m"), late = after_count(1) })`)
	f.Add(`sequence(any(never(), after_delay("1.5h")), all(after_count(3)))`)
	f.Add(strings.Repeat("repeat(", 100))
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || !s.Equal(again) {
			t.Errorf("%q is read as %s, and that as %s, %v", text, s, again, err)
		}
	})
}
