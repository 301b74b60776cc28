package jsontext

import (
	"encoding/base64"
	"math"
	"strconv"

	"github.com/wgate/wgate/event"
)

// Append appends v as JSON to dst. Lists, objects and values of kind JSON are copied as they are; text is quoted; bytes
// become base64 (RFC 4648, standard alphabet, padded); times and durations whole milliseconds; floats the fewest digits
// that read back as the same float, with an exponent below 1e-6 and from 1e21 on. Missing values, values of kind Error
// and floats that JSON cannot write become null.
func Append(dst []byte, h *event.Heap, v event.Value) []byte {
	switch v.Kind {
	case event.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case event.Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case event.Decimal128:
		return v.Decimal().AppendTo(dst)
	case event.Float:
		return AppendFloat(dst, v.Float())
	case event.String:
		return AppendString(dst, v.Bytes(h))
	case event.Bytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, v.Bytes(h))
		return append(dst, '"')
	case event.Instant:
		return strconv.AppendInt(dst, int64(v.Time()), 10)
	case event.Span:
		return strconv.AppendInt(dst, int64(v.Duration()), 10)
	case event.List, event.Object, event.JSON:
		return append(dst, v.Bytes(h)...)
	}
	return append(dst, "null"...)
}

// AppendText appends v as plain text, as a template or a Kafka key has it: text as it is, everything else as JSON.
func AppendText(dst []byte, h *event.Heap, v event.Value) []byte {
	if v.Kind == event.String {
		return append(dst, v.Bytes(h)...)
	}
	if v.Kind == event.Bytes {
		return base64.StdEncoding.AppendEncode(dst, v.Bytes(h))
	}
	return Append(dst, h, v)
}

// AppendFloat appends f as Append does.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	abs := math.Abs(f)
	if abs == 0 {
		return append(dst, '0')
	}
	if abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// e-09 becomes e-9.
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// AppendCompact appends the checked JSON text b without white space between its parts, so that it takes one line.
func AppendCompact(dst, b []byte) []byte {
	start := 0
	for i := 0; i < len(b); {
		switch b[i] {
		case ' ', '\n', '\r', '\t':
			dst = append(dst, b[start:i]...)
			i = Space(b, i)
			start = i
		case '"':
			end, _, ok := SkipString(b, i)
			if !ok {
				end = len(b)
			}
			i = end
		default:
			i++
		}
	}
	return append(dst, b[start:]...)
}
