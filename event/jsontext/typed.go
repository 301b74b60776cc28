package jsontext

import (
	"encoding/base64"
	"math"

	"github.com/wgate/wgate/event"
)

// Mismatch says why a value is not of a declared type. It holds no data of the value.
type Mismatch struct {
	Code string // wrong_type, missing_field, overflow, bad_timestamp or bad_argument
	Path string // where, below the value that was looked at: "", ".name", "[].qty"
	Want event.Type
	Got  string // "a string", "null"; empty for a missing field
}

// Typed makes a value of type t of the checked JSON text b, which lies at offset off of h without white space around it.
// Times are RFC 3339 texts or whole milliseconds, durations texts with a unit or whole milliseconds, bytes are base64; a
// number with an exponent is an int or decimal if it is exactly one. Lists and objects are checked all the way down and
// stay as they are: defaults of what they lack are applied by who reads it. Nothing is written to h for a mismatch.
func Typed(h *event.Heap, b []byte, off uint32, t *event.Type) (event.Value, *Mismatch) {
	if t.IsAny() {
		return ReadAt(h, b, off), nil
	}
	if m := Check(h, b, t); m != nil {
		return event.Value{}, m
	}
	if b[0] == 'n' {
		return event.NullValue(), nil
	}
	text := b[0] == '"'
	switch t.Kind {
	case event.Int:
		i, _ := Int(b)
		return event.IntValue(i), nil
	case event.Decimal128:
		d, _ := event.ParseDecimal(b)
		return event.DecimalValue(d), nil
	case event.Float:
		return event.FloatValue(Float(b)), nil
	case event.Instant:
		if text {
			at, _ := ParseTime(b[1 : len(b)-1])
			return event.TimeValue(at), nil
		}
		i, _ := Int(b)
		return event.TimeValue(event.Time(i)), nil
	case event.Span:
		d, _ := span(b, text)
		return event.DurationValue(d), nil
	case event.Bytes:
		grown, _ := unbase64(h.Begin(), b)
		return event.HeapValue(event.Bytes, h.End(grown)), nil
	}
	return ReadAt(h, b, off), nil
}

// Check holds the checked JSON text b against t as Typed does, and makes no value. It uses the free end of h as scratch
// and leaves h as it was.
func Check(h *event.Heap, b []byte, t *event.Type) *Mismatch {
	if len(b) == 0 {
		return mismatch("wrong_type", b, t)
	}
	if b[0] == 'n' {
		if t.Optional || t.IsAny() || t.Kind == event.Null || t.Kind == event.JSON {
			return nil
		}
		return mismatch("wrong_type", b, t)
	}
	number := b[0] == '-' || b[0] >= '0' && b[0] <= '9'
	text := b[0] == '"'
	code := "wrong_type"
	ok := false
	switch t.Kind {
	case event.Missing, event.JSON:
		ok = true
	case event.Bool:
		ok = b[0] == 't' || b[0] == 'f'
	case event.String:
		ok = text
	case event.Int, event.Decimal128, event.Float:
		if number {
			ok, code = checkNumber(b, t.Kind)
		}
	case event.Instant:
		switch {
		case text:
			_, ok = ParseTime(b[1 : len(b)-1])
			code = "bad_timestamp"
		case number:
			ok, code = checkNumber(b, event.Int)
		}
	case event.Span:
		if text || number {
			_, ok = span(b, text)
			code = "bad_argument"
		}
	case event.Bytes:
		if text {
			_, ok = unbase64(h.Begin(), b)
			code = "bad_argument"
		}
	case event.List:
		if ok = b[0] == '['; ok {
			return checkList(h, b, t)
		}
	case event.Object:
		if ok = b[0] == '{'; ok {
			return checkObject(h, b, t)
		}
	}
	if ok {
		return nil
	}
	m := mismatch(code, b, t)
	if number && t.Kind == event.Int && code == "wrong_type" {
		m.Got = "a number with a fraction"
	}
	return m
}

// checkNumber tells an int that is too large (overflow) from a number that is not whole (wrong_type).
func checkNumber(b []byte, k event.Kind) (ok bool, code string) {
	switch k {
	case event.Int:
		if _, ok = Int(b); ok {
			return true, ""
		}
		if d, exact := event.ParseDecimal(b); exact && !d.IsInt() {
			return false, "wrong_type"
		}
		f := Float(b)
		if f == math.Trunc(f) {
			return false, "overflow"
		}
		return false, "wrong_type"
	case event.Decimal128:
		_, ok = event.ParseDecimal(b)
		return ok, "overflow"
	}
	return !math.IsInf(Float(b), 0), "overflow"
}

func span(b []byte, text bool) (event.Duration, bool) {
	if text {
		d, err := event.ParseDuration(string(b[1 : len(b)-1]))
		return d, err == nil
	}
	i, ok := Int(b)
	return event.Duration(i), ok
}

func unbase64(dst, b []byte) ([]byte, bool) {
	raw := b[1 : len(b)-1]
	for _, c := range raw {
		if c == '\\' { // "\/" is a usual way to write a slash
			raw = AppendUnescaped(nil, raw)
			break
		}
	}
	out, err := base64.StdEncoding.AppendDecode(dst, raw)
	return out, err == nil
}

func checkList(h *event.Heap, b []byte, t *event.Type) *Mismatch {
	if t.Elem == nil || t.Elem.IsAny() {
		return nil
	}
	for m := Each(b); m.Next(); {
		if bad := Check(h, m.Value(), t.Elem); bad != nil {
			bad.Path = "[]" + bad.Path
			return bad
		}
	}
	return nil
}

func checkObject(h *event.Heap, b []byte, t *event.Type) *Mismatch {
	for i := range t.Fields {
		f := &t.Fields[i]
		start, end, ok := Find(b, f.Name)
		if !ok {
			if f.Type.Optional || f.Type.IsAny() {
				continue
			}
			return &Mismatch{Code: "missing_field", Path: "." + f.Name, Want: f.Type}
		}
		if bad := Check(h, b[start:end], &f.Type); bad != nil {
			bad.Path = "." + f.Name + bad.Path
			return bad
		}
	}
	return nil
}

func mismatch(code string, b []byte, t *event.Type) *Mismatch {
	return &Mismatch{Code: code, Want: *t, Got: Describe(b)}
}

// Describe says of what kind the JSON text b is: "a string", "an object", "null".
func Describe(b []byte) string {
	if len(b) == 0 {
		return "nothing"
	}
	switch b[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a bool"
	case 'n':
		return "null"
	}
	return "a number"
}
