package gbkw

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

// TestOwnWatermark: the aggregate's own watermark never falls and never leads, and no result that holds something which
// came before its window's end was passed is behind it.
func TestOwnWatermark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := drawConfig(t)
		hs := drawInput(t, cfg.Retracted)
		r := newRig(t, cfg, "count")
		r.unit = 1
		// A session that was complete and grows may owe a result from before the watermark that was given out then.
		reopens := r.m.merging && cfg.Lateness > 0
		out := event.MinTime
		check := func(what string) {
			next := r.m.OutputWatermark(r.w)
			if next < out || next > r.w {
				t.Fatalf("window %s, trigger %s: after %s the own watermark goes from %s to %s, the input's is %s", cfg.Window, cfg.Trigger, what,
					rapidTime(out), rapidTime(next), rapidTime(r.w))
			}
			out = next
		}
		r.seen = func(p *event.Bundle, i int) {
			if p.Marks[i] < out {
				t.Fatalf("a pane's mark %s is behind the watermark that was given out, %s", rapidTime(p.Marks[i]), rapidTime(out))
			}
			if p.Ops[i] == event.Insert && p.Panes[i].Timing != event.Late && !reopens && p.Times[i] < p.Marks[i] {
				t.Fatalf("window %s, trigger %s, timestamp %d, mode %d\n%s\na result of window %s at %s, %s, is behind the own watermark %s", cfg.Window, cfg.Trigger,
					cfg.Timestamp, cfg.Mode, show(hs), p.Windows[i], rapidTime(p.Times[i]), p.Panes[i].Timing, rapidTime(p.Marks[i]))
			}
		}
		for _, h := range hs {
			switch h.kind {
			case 'e':
				if cfg.Window.Inclusive && h.e.t < h.e.mark {
					continue // the time of such a session is that of its last event, which was behind when it came
				}
				r.elements([]element{h.e})
			case 'w':
				r.move(h.at)
			case 'c':
				r.clock(h.at)
			}
			check(show([]happening{h}))
			if rapid.IntRange(0, 9).Draw(t, "lose") == 0 {
				r.open()
				check("open")
			}
		}
	})
}
