package combine

import (
	"encoding/binary"

	"github.com/wgate/wgate/event"
)

// A value stands in an accumulator as its kind and its bytes: 8 for an int, float, time or duration, 16 for a decimal, 1
// for a bool, none for null, and for what lives in a heap all that follows.

// AppendValue appends v, whose text is in h, to dst.
func AppendValue(dst []byte, h *event.Heap, v event.Value) []byte {
	dst = append(dst, byte(v.Kind))
	switch v.Kind {
	case event.Missing, event.Null:
		return dst
	case event.Bool:
		return append(dst, byte(boolInt(v.Bool())))
	case event.Int:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.Int()))
	case event.Decimal128:
		d := v.Decimal()
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, d.Lo), uint64(d.Hi))
	case event.Float, event.Instant, event.Span:
		return binary.LittleEndian.AppendUint64(dst, uint64(v.Time()))
	}
	return append(dst, v.Bytes(h)...)
}

// ReadValue is the reverse of AppendValue; text goes to h. ok is false if b is not a value.
func ReadValue(b []byte, h *event.Heap) (v event.Value, ok bool) {
	if len(b) == 0 || event.Kind(b[0]) > event.Error {
		return event.Value{}, false
	}
	if k := (event.Value{Kind: event.Kind(b[0])}); !k.InHeap() && len(b) != valueLen(k) {
		return event.Value{}, false
	}
	return readValue(b, h), true
}

// readValue is ReadValue of bytes that are known to be a value.
func readValue(b []byte, h *event.Heap) event.Value {
	k, b := event.Kind(b[0]), b[1:]
	switch k {
	case event.Missing, event.Null:
		return event.Value{Kind: k}
	case event.Bool:
		return event.BoolValue(b[0] != 0)
	case event.Int:
		return event.IntValue(int64(binary.LittleEndian.Uint64(b)))
	case event.Decimal128:
		return event.DecimalValue(event.Decimal{Lo: binary.LittleEndian.Uint64(b), Hi: int64(binary.LittleEndian.Uint64(b[8:]))})
	case event.Float:
		return event.FloatValue(floatOf(b))
	case event.Instant:
		return event.TimeValue(event.Time(binary.LittleEndian.Uint64(b)))
	case event.Span:
		return event.DurationValue(event.Duration(binary.LittleEndian.Uint64(b)))
	}
	return event.HeapValue(k, h.Put(b[:len(b):len(b)]))
}

// valueLen returns how many bytes AppendValue appends.
func valueLen(v event.Value) int {
	switch v.Kind {
	case event.Missing, event.Null:
		return 1
	case event.Bool:
		return 2
	case event.Int, event.Float, event.Instant, event.Span:
		return 9
	case event.Decimal128:
		return 17
	}
	return 1 + int(v.Ref().Len)
}
