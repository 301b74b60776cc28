package jsontext

import (
	"bytes"
	"cmp"

	"github.com/wgate/wgate/event"
)

// IsNumber reports whether values of kind k are numbers.
func IsNumber(k event.Kind) bool {
	return k == event.Int || k == event.Decimal128 || k == event.Float
}

// CompareNumbers compares two numbers by value, whatever their kinds: -1, 0 or 1. A float counts as the number that it is
// written as (event.Decimal.CmpFloat). What is not a number is below everything and equal to itself.
func CompareNumbers(a, b event.Value) int {
	switch {
	case a.Kind == event.Int && b.Kind == event.Int:
		return cmp.Compare(a.Int(), b.Int())
	case a.Kind == event.Float && b.Kind == event.Float:
		return cmp.Compare(a.Float(), b.Float())
	case a.Kind == event.Float:
		return -compareFloat(exact(b), a.Float())
	case b.Kind == event.Float:
		return compareFloat(exact(a), b.Float())
	}
	return exact(a).Cmp(exact(b))
}

func compareFloat(d event.Decimal, f float64) int {
	if f != f {
		return 1
	}
	return d.CmpFloat(f)
}

// exact returns an int or decimal as a decimal.
func exact(v event.Value) event.Decimal {
	if v.Kind == event.Int {
		return event.DecimalFromInt(v.Int())
	}
	return v.Decimal()
}

// Compare orders two values: numbers by value, text and bytes by their bytes, times and durations by time, false before
// true. ok is false for kinds that have no order or do not go together; null has none.
func Compare(h *event.Heap, a, b event.Value) (c int, ok bool) {
	if IsNumber(a.Kind) && IsNumber(b.Kind) {
		return CompareNumbers(a, b), true
	}
	if a.Kind != b.Kind {
		return 0, false
	}
	switch a.Kind {
	case event.String, event.Bytes:
		return bytes.Compare(a.Bytes(h), b.Bytes(h)), true
	case event.Instant:
		return cmp.Compare(a.Time(), b.Time()), true
	case event.Span:
		return cmp.Compare(a.Duration(), b.Duration()), true
	case event.Bool:
		return b2i(a.Bool()) - b2i(b.Bool()), true
	}
	return 0, false
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Equal reports whether two values are equal: null and missing only to each other, numbers by value, lists member by
// member, objects whatever the order of their members. Values of different kinds are not equal. Values of kind JSON must
// have been resolved.
func (c *Canon) Equal(h *event.Heap, a, b event.Value) bool {
	if a.IsNull() || b.IsNull() {
		return a.IsNull() && b.IsNull()
	}
	if o, ok := Compare(h, a, b); ok {
		return o == 0
	}
	if a.Kind != b.Kind || a.Kind != event.List && a.Kind != event.Object {
		return false
	}
	x, y := a.Bytes(h), b.Bytes(h)
	if bytes.Equal(x, y) {
		return true
	}
	c.a = c.AppendText(c.a[:0], x)
	c.b = c.AppendText(c.b[:0], y)
	return bytes.Equal(c.a, c.b)
}
