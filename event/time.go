package event

import (
	"math"
	"time"
)

// Time is an instant of event time or processing time: milliseconds since the Unix epoch, UTC. MinTime and MaxTime stand
// for minus and plus infinity; arithmetic on them saturates.
type Time int64

// The ends of time. A watermark is MinTime before the first record and MaxTime after the last.
const (
	MinTime Time = math.MinInt64
	MaxTime Time = math.MaxInt64
)

// Add returns t + d. It saturates: infinity plus anything is infinity, and what would overflow becomes infinity.
func (t Time) Add(d Duration) Time {
	if t == MinTime || t == MaxTime {
		return t
	}
	s := t + Time(d)
	if d > 0 && s < t {
		return MaxTime
	}
	if d < 0 && s > t {
		return MinTime
	}
	return s
}

// Sub returns t - u as a duration. Both must be finite.
func (t Time) Sub(u Time) Duration { return Duration(t - u) }

// IsFinite reports whether t is neither MinTime nor MaxTime.
func (t Time) IsFinite() bool { return t != MinTime && t != MaxTime }

// String formats t as RFC 3339 in UTC with milliseconds, or "-inf" / "+inf".
func (t Time) String() string {
	switch t {
	case MinTime:
		return "-inf"
	case MaxTime:
		return "+inf"
	}
	return time.UnixMilli(int64(t)).UTC().Format("2006-01-02T15:04:05.000Z")
}

// TimeOf converts a time.Time, rounding down to the millisecond.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }
