package gbkw

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/wgate/wgate/event"
)

// TestMachine runs the scripts of testdata. "machine" makes a machine from the lines below it; "run" drives it:
//
//	e KEY TIME VALUE   an element (an int, null, or text)
//	- KEY TIME VALUE   an element is taken back
//	w TIME             the watermark moves
//	c TIME             the clock moves
//	budget N           how many cells a step may look at
//	reopen             the machine is lost and opened again over the state
//	finish             the watermark goes to the end of time
//	out                prints the aggregate's own watermark
//	left               prints how many rows the state has
//	windows            prints the open windows
//	boundary TIME      prints the next watermark that matters for rows from TIME on
//
// Each line is printed with the panes that it gave: sign and key, window, timing, index, last, time, results, and which
// node of the trigger fired if it was not the root.
func TestMachine(t *testing.T) {
	datadriven.Walk(t, "testdata/machine", func(t *testing.T, path string) {
		var r *rig
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			lines := strings.Split(strings.TrimSpace(d.Input), "\n")
			switch d.Cmd {
			case "machine":
				u := &rig{t: t, unit: event.Second}
				cfg, names := parseConfig(t, u, lines)
				if _, err := New(cfg); err != nil {
					return err.Error() + "\n"
				}
				r = newRig(t, cfg, names...)
				r.unit, r.marks = u.unit, d.HasArg("own")
				return ""
			case "run":
				r.t = t
				var s strings.Builder
				for _, l := range lines {
					s.WriteString(l + "\n" + r.script(l) + r.flush())
				}
				return s.String()
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

// script runs one line and returns what it prints itself.
func (r *rig) script(line string) string {
	w := strings.Fields(line)
	switch w[0] {
	case "e", "-":
		e := element{key: w[1], t: r.parseTime(w[2]), where: true, mark: r.w}
		if w[0] == "-" {
			e.op = event.Retract
		}
		var n int64
		switch _, err := fmt.Sscan(w[3], &n); {
		case err == nil:
			e.v = event.IntValue(n)
		case w[3] == "null":
			e.v = event.NullValue()
		default:
			e.text = w[3]
		}
		none := r.none
		r.elements([]element{e})
		if r.none > none {
			return "  in no window\n"
		}
	case "w":
		r.move(r.parseTime(w[1]))
	case "c":
		r.clock(r.parseTime(w[1]))
	case "budget":
		if _, err := fmt.Sscan(w[1], &r.budget); err != nil {
			r.t.Fatal(err)
		}
	case "reopen":
		r.open()
	case "finish":
		r.move(event.MaxTime)
	case "out":
		return "  own " + r.time(r.m.OutputWatermark(r.w)) + "\n"
	case "left":
		return fmt.Sprintf("  %d rows\n", r.rows())
	case "windows":
		open, err := r.m.Describe(r.st, 10)
		if err != nil {
			r.t.Fatal(err)
		}
		var s strings.Builder
		for _, w := range open {
			fmt.Fprintf(&s, "  %s %s panes %d unsent %v\n", w.Key, r.window(w.Window), w.Panes, w.Unsent)
		}
		return s.String()
	case "boundary":
		return "  boundary " + r.time(r.m.Boundary(r.w, r.parseTime(w[1]))) + "\n"
	default:
		r.t.Fatalf("unknown line %q", line)
	}
	return ""
}
