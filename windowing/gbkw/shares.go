package gbkw

import (
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// SharesSlices reports whether a machine of cfg keeps the state of its windows by slices: an element then touches one
// accumulator, in however many windows it lies. It is here that this is decided, and nowhere else. It takes
//
//   - sliding windows that overlap: in all others an element lies in one window at most, and touches one accumulator anyway;
//   - a trigger that looks at nothing but the watermark until the window's end is passed, or fires never: any other has to
//     see the elements of each window by themselves;
//   - results that bear the time of the window's end: the earliest and latest element of a pane hold the aggregate's own
//     watermark back by what each window has sent so far;
//   - late = "refine": with "separate", late rows gather in each window by themselves;
//   - rows that are never taken back: whether a window holds anything then takes a count of its own.
//
// What does not fit has one state per window.
func SharesSlices(cfg Config) bool {
	w := cfg.Window
	if w.Kind != windowing.Sliding || w.Period >= w.Size || w.Size > maxShared || len(w.Validate()) > 0 {
		return false
	}
	if cfg.Timestamp != End || cfg.Separate {
		return false
	}
	t, err := triggers.Compile(cfg.Trigger)
	return err == nil && t.Quiet()
}

// maxShared is the longest window that is shared: sums of a few sizes must not overflow.
const maxShared = event.Duration(1) << 58

// bounds say which windows are made from slices: those that lie between them. The few that reach beyond, at the ends of
// time, have a state of their own.
type bounds struct{ low, high event.Time }

func boundsOf(w windowing.Spec) bounds {
	return bounds{event.MinTime + 2*event.Time(w.Period), event.MaxTime - 2*event.Time(w.Period)}
}

// holds reports whether w is made from slices.
func (b bounds) holds(w event.Window) bool { return b.low < w.Start && w.End < b.high }

// Shares reports whether the machine keeps the state of its windows by slices: see SharesSlices.
func (m *Machine) Shares() bool { return m.share }

// isSlice reports whether the bounds of a window row of the state are those of a slice, not of a window.
func (m *Machine) isSlice(w event.Window) bool {
	return m.share && m.bounds.holds(w) && w.End.Sub(w.Start) < m.cfg.Window.Size
}

// fired returns the end of the last window made from slices for which there is nothing left to do, but for what comes
// late, when the watermark has reached w. MinTime is none.
func (m *Machine) firedAt(w event.Time) event.Time {
	if !m.fires {
		w = w.Add(-m.cfg.Lateness)
	}
	return m.lastShared(w)
}

// lastShared returns the greatest end of a window made from slices that is not above w, MinTime if there is none.
func (m *Machine) lastShared(w event.Time) event.Time {
	spec := m.cfg.Window
	end := spec.EndUntil(min(w, m.bounds.high-1))
	if end <= m.bounds.low.Add(spec.Size) {
		return event.MinTime
	}
	return end
}

// nextShared returns the window with the least end above after that is made from slices and holds something.
func (m *Machine) nextShared(after event.Time) (w event.Window, ok bool) {
	spec := m.cfg.Window
	after = max(after, m.bounds.low.Add(spec.Size))
	if after >= m.bounds.high {
		return w, false
	}
	end := spec.NextEnd(after, after)
	s := m.slices.after(end.Add(-spec.Size))
	if s == nil {
		return w, false
	}
	end = max(end, spec.NextEnd(s.at-1, s.at-1))
	w = event.Window{Start: end.Add(-spec.Size), End: end}
	return w, m.bounds.holds(w)
}
