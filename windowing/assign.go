package windowing

import (
	"math"

	"github.com/wgate/wgate/event"
)

// Assign appends the windows that an element at t starts out in, by ascending end: one for most kinds, none where sliding
// windows leave gaps, several where they overlap. A session's window is the element's own, before merging; with boundary
// "inclusive" it is [t, t]. Window bounds saturate at the ends of time.
//
// This is AssignWindows of the Dataflow Model, section 2.2.1. A grid's start is offset + size * floor((t - offset) / size),
// for negative times too.
func (s Spec) Assign(t event.Time, dst []event.Window) []event.Window {
	switch s.Kind {
	case Fixed, Cumulative:
		start := floorTo(t, s.Size, s.Offset)
		return append(dst, event.Window{Start: start, End: endOf(start, s.Size)})
	case Sliding:
		return s.slide(t, dst)
	case Session:
		if s.Inclusive {
			return append(dst, event.Window{Start: t, End: t})
		}
		return append(dst, event.Window{Start: t, End: endOf(t, s.Gap)})
	}
	return append(dst, event.Global)
}

// slide walks from the first grid point after t - size to the last at or before t.
func (s Spec) slide(t event.Time, dst []event.Window) []event.Window {
	last := floorTo(t, s.Period, s.Offset)
	n := (s.Size - 1 - event.Duration(t-last)) / s.Period // windows that start before last and still cover t
	if s.Size <= event.Duration(t-last) {
		return dst
	}
	for ; n >= 0; n-- {
		start, ok := back(last, n, s.Period)
		if !ok {
			continue
		}
		dst = append(dst, event.Window{Start: start, End: endOf(start, s.Size)})
	}
	return dst
}

// back returns last - n*period unless that is below the range of times.
func back(last event.Time, n, period event.Duration) (event.Time, bool) {
	d := n * period // below size, so it does not overflow
	if last < math.MinInt64+event.Time(d) {
		return 0, false
	}
	return last - event.Time(d), true
}

// floorTo returns the greatest offset + k*size that is not above t, MinTime if there is none.
func floorTo(t event.Time, size, offset event.Duration) event.Time {
	r := mod(int64(t), int64(size)) - mod(int64(offset), int64(size))
	if r < 0 {
		r += int64(size)
	}
	if int64(t) < math.MinInt64+r {
		return event.MinTime
	}
	return t - event.Time(r)
}

// mod returns a modulo m, in [0, m).
func mod(a, m int64) int64 {
	r := a % m
	if r < 0 {
		r += m
	}
	return r
}

func endOf(start event.Time, size event.Duration) event.Time {
	if int64(start) > math.MaxInt64-int64(size) {
		return event.MaxTime
	}
	return start + event.Time(size)
}

// Due returns the watermark at which w is complete: its end, or one past last event + gap for a session with boundary
// "inclusive", which is reported as [first, last].
func (s Spec) Due(w event.Window) event.Time {
	if s.Kind == Session && s.Inclusive {
		return endOf(endOf(w.End, s.Gap), 1)
	}
	return w.End
}

// NextEnd returns the least Due above w of a window that can hold an element at or after t; of a cumulative window, the
// least end of a step. For sessions, which may end
// anywhere, it is the end of a session of one element at t, or the time after w. It is MaxTime for the global window.
func (s Spec) NextEnd(w, t event.Time) event.Time {
	switch s.Kind {
	case Fixed:
		return s.nextGrid(w, t, s.Size)
	case Cumulative:
		return s.nextGrid(w, t, s.Step)
	case Sliding:
		return s.nextGrid(w, t, s.Period)
	case Session:
		return max(s.Due(s.own(t)), endOf(w, 1))
	}
	return event.MaxTime
}

func (s Spec) own(t event.Time) event.Window {
	if s.Inclusive {
		return event.Window{Start: t, End: t}
	}
	return event.Window{Start: t, End: endOf(t, s.Gap)}
}

// nextGrid returns the least end above both w and t. Ends lie at offset + size + k*period.
func (s Spec) nextGrid(w, t event.Time, period event.Duration) event.Time {
	phase := event.Duration(mod(int64(s.Offset), int64(period)) + mod(int64(s.Size), int64(period)))
	return endOf(floorTo(max(w, t), period, phase), period)
}
