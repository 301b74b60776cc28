package expr

import (
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// runToString writes a value as JSON would have it, but text without quotes.
func runToString(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		v := s.cols[0][i]
		if v.Kind != event.String {
			v = event.HeapValue(event.String, f.m.h.End(jsontext.AppendText(f.m.h.Begin(), f.m.h, v)))
		}
		s.out[i] = v
	}
}

// runToInt cuts off fractions, reads whole numbers from text, and takes the milliseconds of times and durations.
func runToInt(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		v := s.cols[0][i]
		n, ok, code := int64(0), true, Overflow
		switch v.Kind {
		case event.Decimal128:
			n, ok = v.Decimal().Trunc()
		case event.Float:
			n, ok = truncFloat(v.Float())
		case event.String:
			n, ok, code = parseInt(v.Bytes(f.m.h))
		default:
			n = millis(v)
		}
		if !ok {
			s.out[i] = s.unfit(f.m, code, "int")
			continue
		}
		s.out[i] = event.IntValue(n)
	}
}

// unfit is the error of a conversion.
func (s *callStep) unfit(m *machine, code, kind string) event.Value {
	if code == Overflow {
		return s.fail(m, 0, Overflow, "does not fit "+withArticle(kind))
	}
	return s.fail(m, 1, BadArgument, "has a text that is no "+kind)
}

func truncFloat(f float64) (int64, bool) {
	t := math.Trunc(f)
	if !(t >= -1<<63 && t < 1<<63) {
		return 0, false
	}
	return int64(t), true
}

func parseInt(b []byte) (n int64, ok bool, code string) {
	if n, ok = jsontext.Int(b); ok {
		return n, true, ""
	}
	if d, ok := event.ParseDecimal(b); ok {
		if n, ok := d.Int(); ok { // with a plus
			return n, true, ""
		}
		if d.IsInt() {
			return 0, false, Overflow
		}
	}
	return 0, false, BadArgument
}

func runToDecimal(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		v := s.cols[0][i]
		var d event.Decimal
		ok, code := true, Overflow
		switch v.Kind {
		case event.Float:
			d, ok = event.DecimalFromFloat(v.Float())
		case event.String:
			if d, ok = event.ParseDecimal(v.Bytes(f.m.h)); !ok && !isNumber(v.Bytes(f.m.h)) {
				code = BadArgument
			}
		default:
			d = toDecimal(v)
		}
		if !ok {
			s.out[i] = s.unfit(f.m, code, "decimal")
			continue
		}
		s.out[i] = event.DecimalValue(d)
	}
}

// isNumber reports whether b is a number as JSON writes it.
func isNumber(b []byte) bool {
	return len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') && jsontext.Valid(b)
}

func runToFloat(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		v := s.cols[0][i]
		if v.Kind != event.String {
			s.out[i] = event.FloatValue(toFloat(v))
			continue
		}
		b := v.Bytes(f.m.h)
		switch x := jsontext.Float(b); {
		case !isNumber(b):
			s.out[i] = s.unfit(f.m, BadArgument, "float")
		case math.IsInf(x, 0):
			s.out[i] = s.unfit(f.m, Overflow, "float")
		default:
			s.out[i] = event.FloatValue(x)
		}
	}
}

// runHash is xxHash64 with seed 0, as an int with the same 64 bits: of the bytes of text and bytes, and of the canonical
// JSON of everything else, so that equal values have equal hashes.
func runHash(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		v := s.cols[0][i]
		var sum uint64
		if v.Kind == event.String || v.Kind == event.Bytes {
			sum = xxhash.Sum64(v.Bytes(f.m.h))
		} else {
			s.work.buf = s.work.canon.Append(s.work.buf[:0], f.m.h, v)
			sum = xxhash.Sum64(s.work.buf)
		}
		s.out[i] = event.IntValue(int64(sum))
	}
}
