package windowing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

// TestTracker runs scripts: each line is a step on partition P of one topic, its output the watermark after it.
func TestTracker(t *testing.T) {
	datadriven.Walk(t, "testdata/tracker", func(t *testing.T, path string) {
		var tr *Tracker
		now := event.Time(0)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "tracker" {
				d.Fatalf(t, "unknown command %q", d.Cmd)
			}
			if !d.HasArg("goon") {
				now = 0
				tr = NewTracker(TrackerConfig{
					OutOfOrder: dur(t, d, "out_of_order"), Idle: dur(t, d, "idle"), MaxFuture: dur(t, d, "max_future"),
				})
			}
			var out strings.Builder
			for _, line := range strings.Split(d.Input, "\n") {
				fmt.Fprintf(&out, "%s -> %s\n", line, trackerStep(t, tr, &now, line))
			}
			return out.String()
		})
	})
}

func dur(t *testing.T, d *datadriven.TestData, name string) event.Duration {
	text := "1h"
	if d.HasArg(name) {
		d.ScanArgs(t, name, &text)
	}
	v, err := event.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%s: %v", name, err)
	}
	return v
}

func trackerStep(t *testing.T, tr *Tracker, now *event.Time, line string) string {
	var cmd string
	var p int32
	var v int64
	if _, err := fmt.Sscanf(line, "%s %d %d", &cmd, &p, &v); err != nil && cmd == "" {
		t.Fatalf("%q: %v", line, err)
	}
	i := 0
	if cmd != "clock" && cmd != "assigned" && cmd != "restart" {
		i = tr.Part(Partition{"t", p}, *now)
	}
	note := ""
	switch cmd {
	case "part":
	case "assigned":
		tr.Assigned()
	case "event":
		if tr.Observe(i, event.Time(v), *now) {
			note = " future"
		}
	case "idle":
		tr.Idle(i)
	case "raise":
		tr.Raise(i, event.Time(v))
	case "look":
		tr.Look(i, v == 1, *now)
	case "end":
		tr.End(i)
	case "clock":
		*now = event.Time(p)
	case "restart":
		next := NewTracker(tr.cfg)
		if err := next.Restore(tr.Append(nil), *now); err != nil {
			t.Fatal(err)
		}
		*tr = *next
	default:
		t.Fatalf("unknown step %q", line)
	}
	if w := tr.Watermark(); w.IsFinite() {
		return fmt.Sprint(int64(w)) + note
	}
	return tr.Watermark().String() + note
}

// The watermark never falls, whatever happens, and a tracker that was kept and restored goes on as the one that was not.
func TestTracker_neverBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := TrackerConfig{OutOfOrder: 5, Idle: 20, MaxFuture: 1000}
		tr := NewTracker(cfg)
		now, last := event.Time(0), event.MinTime
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += event.Time(rapid.IntRange(0, 9).Draw(t, "wait"))
			i := tr.Part(Partition{"t", int32(rapid.IntRange(0, 3).Draw(t, "part"))}, now)
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				tr.Observe(i, event.Time(rapid.IntRange(0, 200).Draw(t, "at")), now)
			case 2:
				tr.Look(i, rapid.Bool().Draw(t, "caught up"), now)
			case 3:
				tr.Idle(i)
			case 4:
				next := NewTracker(cfg)
				if err := next.Restore(tr.Append(nil), now); err != nil {
					t.Fatal(err)
				}
				if next.Watermark() != tr.Watermark() {
					t.Fatalf("restored to %v from %v", next.Watermark(), tr.Watermark())
				}
				tr = next
			}
			if tr.Watermark() < last {
				t.Fatalf("the watermark fell from %v to %v", last, tr.Watermark())
			}
			last = tr.Watermark()
		}
	})
}

func FuzzTracker_restore(f *testing.F) {
	tr := NewTracker(TrackerConfig{OutOfOrder: 5})
	tr.Observe(tr.Part(Partition{"topic", 3}, 0), 17, 0)
	f.Add(tr.Append(nil))
	f.Add([]byte{1, 0, 255, 255, 255, 255, 15})
	f.Fuzz(func(_ *testing.T, b []byte) {
		_ = NewTracker(TrackerConfig{}).Restore(b, 0)
	})
}
