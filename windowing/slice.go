package windowing

import "github.com/wgate/wgate/event"

// Sliding windows cut time into slices: from one bound of a window, be it a start or an end, to the next. All elements of a
// slice lie in the same windows, so a window can be had from its slices. There is one slice in a period if the period
// divides the size, else there are two. The slices are those of Krishnamurthy et al., "On-the-fly sharing for streamed
// aggregation", SIGMOD 2006, section 3 ("paired windows").

// Slice returns the slice of a sliding window's grid that t lies in. t must be further from the ends of time than size
// and two periods.
func (s Spec) Slice(t event.Time) event.Window {
	start, end := floorTo(t, s.Period, s.Offset), floorTo(t, s.Period, s.endPhase())
	return event.Window{
		Start: max(start, end),
		End:   min(endOf(start, s.Period), endOf(end, s.Period)),
	}
}

// EndUntil returns the greatest end of a sliding window that is not above w, MinTime if there is none.
func (s Spec) EndUntil(w event.Time) event.Time { return floorTo(w, s.Period, s.endPhase()) }

// LastEnd returns the end of the last sliding window that covers t, where windows overlap. t must be further from the ends
// of time than size and two periods.
func (s Spec) LastEnd(t event.Time) event.Time {
	return endOf(floorTo(t, s.Period, s.Offset), s.Size)
}

// endPhase returns the offset of the grid on which a sliding window's ends lie.
func (s Spec) endPhase() event.Duration {
	return event.Duration(mod(int64(s.Offset), int64(s.Period)) + mod(int64(s.Size), int64(s.Period)))
}
