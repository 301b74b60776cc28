package event

// Window is a span of event time, half open: Start is inside, End is not. (A session with boundary "inclusive" is the one
// exception: it is reported as [first event, last event].)
type Window struct{ Start, End Time }

// Global is the window of everything, the default of the Dataflow Model.
var Global = Window{MinTime, MaxTime}

// IsGlobal reports whether w is the global window.
func (w Window) IsGlobal() bool { return w == Global }

// Contains reports whether t lies in w.
func (w Window) Contains(t Time) bool { return w.Start <= t && t < w.End }

// Last returns the last instant that lies in w: End - 1 ms.
func (w Window) Last() Time {
	if w.End == MaxTime {
		return MaxTime
	}
	return w.End - 1
}

// Less orders windows by end, then by start: the order in which they fire.
func (w Window) Less(o Window) bool { return w.End < o.End || w.End == o.End && w.Start < o.Start }

// String formats w as "[start, end)", or "global".
func (w Window) String() string {
	if w.IsGlobal() {
		return "global"
	}
	return "[" + w.Start.String() + ", " + w.End.String() + ")"
}
