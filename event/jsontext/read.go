package jsontext

import (
	"math"
	"strconv"

	"github.com/wgate/wgate/event"
)

// Number makes a value of a checked number: without fraction and exponent an Int if it fits, else a Decimal, else a
// Float; with a fraction a Decimal if it is exactly one, else a Float; with an exponent a Float. A number that is too
// large even for a float becomes an infinity.
func Number(b []byte) event.Value {
	if v, ok := smallInt(b); ok {
		return event.IntValue(v)
	}
	exponent, fraction := false, false
	for _, c := range b {
		exponent = exponent || c|0x20 == 'e'
		fraction = fraction || c == '.'
	}
	if !exponent {
		if !fraction {
			if i, ok := Int(b); ok {
				return event.IntValue(i)
			}
		}
		if d, ok := event.ParseDecimal(b); ok {
			return event.DecimalValue(d)
		}
	}
	return event.FloatValue(Float(b))
}

// smallInt reads a whole number of up to 18 digits.
func smallInt(b []byte) (i int64, ok bool) {
	neg := false
	if len(b) > 0 && b[0] == '-' {
		neg = true
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		i = i*10 + int64(c-'0')
	}
	if neg {
		return -i, true
	}
	return i, true
}

// Int reads a whole number that fits an int; one with a fraction or exponent does too if its value is whole.
func Int(b []byte) (i int64, ok bool) {
	if i, ok = smallInt(b); ok {
		return i, true
	}
	d, ok := event.ParseDecimal(b)
	if !ok {
		return 0, false
	}
	return d.Int()
}

// Float reads a checked number as the nearest float, or an infinity.
func Float(b []byte) float64 {
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// Read makes a value of the checked JSON value at r. Objects, lists and strings without escapes are spans of the same
// bytes; strings with escapes are written to the end of the heap. White space around the value is left out.
func Read(h *event.Heap, r event.Ref) event.Value {
	b := h.Get(r)
	start := Space(b, 0)
	end := len(b)
	for end > start && (b[end-1] == ' ' || b[end-1] == '\n' || b[end-1] == '\r' || b[end-1] == '\t') {
		end--
	}
	return ReadAt(h, b[start:end], r.Off+uint32(start))
}

// ReadAt is Read for the text b, without white space around it, that lies at offset off of h.
func ReadAt(h *event.Heap, b []byte, off uint32) event.Value {
	if len(b) == 0 {
		return event.Value{}
	}
	span := event.Ref{Off: off, Len: uint32(len(b))}
	switch b[0] {
	case '{':
		return event.HeapValue(event.Object, span)
	case '[':
		return event.HeapValue(event.List, span)
	case '"':
		return readString(h, b[1:len(b)-1], off+1)
	case 't':
		return event.BoolValue(true)
	case 'f':
		return event.BoolValue(false)
	case 'n':
		return event.NullValue()
	}
	return Number(b)
}

func readString(h *event.Heap, raw []byte, off uint32) event.Value {
	for i := range raw {
		if raw[i] == '\\' {
			return event.HeapValue(event.String, h.End(AppendUnescaped(h.Begin(), raw)))
		}
	}
	return event.HeapValue(event.String, event.Ref{Off: off, Len: uint32(len(raw))})
}

// Parse checks the JSON value at r and reads it. ok is false if it is not JSON.
func Parse(h *event.Heap, r event.Ref) (v event.Value, ok bool) {
	if !Valid(h.Get(r)) {
		return event.Value{}, false
	}
	return Read(h, r), true
}

// Resolve returns v with its own kind: a value of kind JSON is checked and read, any other is returned as it is. ok is
// false if it is not JSON.
func Resolve(h *event.Heap, v event.Value) (r event.Value, ok bool) {
	if v.Kind != event.JSON {
		return v, true
	}
	return Parse(h, v.Ref())
}
