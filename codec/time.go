package codec

import (
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// EventTime makes an event time of what an event_time expression gave: a number of units since 1970 ("s", "ms", "us" or
// "ns"), rounded down to the millisecond, or an RFC 3339 text, or a time. Ints and decimals are taken exactly, without a
// float on the way. code is empty, or one of package expr that says why there is no time.
func EventTime(v event.Value, unit string, h *event.Heap) (t event.Time, code string) {
	return expr.ToTime(h, v, unit)
}
