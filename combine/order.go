package combine

import (
	"bytes"
	"cmp"
	"math"

	"github.com/wgate/wgate/event"
)

// rank orders the kinds among one another: all numbers are one rank.
func rank(k event.Kind) int {
	switch k {
	case event.Int, event.Decimal128, event.Float:
		return int(event.Int)
	}
	return int(k)
}

// compare is a total order of the values that min and max take: by value among numbers, by bytes among texts, by kind
// otherwise. Numbers that are equal by value are ordered int, decimal, float, -0.0 below 0.0; NaN is below all floats.
func compare(ah *event.Heap, a event.Value, bh *event.Heap, b event.Value) int {
	if c := cmp.Compare(rank(a.Kind), rank(b.Kind)); c != 0 {
		return c
	}
	var c int
	switch a.Kind {
	case event.Int, event.Decimal128, event.Float:
		c = compareNumbers(a, b)
	case event.Bool:
		c = boolInt(a.Bool()) - boolInt(b.Bool())
	case event.Instant, event.Span:
		return cmp.Compare(a.Time(), b.Time())
	default:
		return bytes.Compare(a.Bytes(ah), b.Bytes(bh))
	}
	if c == 0 {
		c = cmp.Compare(a.Kind, b.Kind)
	}
	return c
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareNumbers(a, b event.Value) int {
	switch {
	case a.Kind == event.Int && b.Kind == event.Int:
		return cmp.Compare(a.Int(), b.Int())
	case a.Kind == event.Float && b.Kind == event.Float:
		if c := cmp.Compare(a.Float(), b.Float()); c != 0 || a.Float() != 0 {
			return c
		}
		return boolInt(math.Signbit(b.Float())) - boolInt(math.Signbit(a.Float()))
	case b.Kind == event.Float:
		if f := b.Float(); f == f {
			return exact(a).CmpFloat(f)
		}
		return 1
	case a.Kind == event.Float:
		return -compareNumbers(b, a)
	}
	return exact(a).Cmp(exact(b))
}

func exact(v event.Value) event.Decimal {
	if v.Kind == event.Int {
		return event.DecimalFromInt(v.Int())
	}
	return v.Decimal()
}
