package jsontext

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		in   string
		kind event.Kind
		out  string
	}{
		{"0", event.Int, "0"},
		{"-0", event.Int, "0"},
		{"9007199254740993", event.Int, "9007199254740993"},
		{"9223372036854775807", event.Int, "9223372036854775807"},
		{"-9223372036854775808", event.Int, "-9223372036854775808"},
		{"9223372036854775808", event.Decimal128, "9223372036854775808"},
		{"18446744073709551615", event.Decimal128, "18446744073709551615"},
		{"12345678901234567890.123456789", event.Decimal128, "12345678901234567890.123456789"},
		{"1.50", event.Decimal128, "1.5"},
		{"0.1234567890123456789", event.Float, "0.12345678901234568"},
		{"200000000000000000000", event.Float, "200000000000000000000"},
		{"1000000000000000000000", event.Float, "1e+21"},
		{"1e3", event.Float, "1000"},
		{"1E-7", event.Float, "1e-7"},
		{"-0.0e0", event.Float, "0"},
		{"1e400", event.Float, "null"},
	} {
		v := Number([]byte(c.in))
		if out := string(Append(nil, nil, v)); v.Kind != c.kind || out != c.out {
			t.Errorf("%s is the %v %s, want the %v %s", c.in, v.Kind, out, c.kind, c.out)
		}
	}
}

func TestFloatsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		s := AppendFloat(nil, f)
		if !Valid(s) || Float(s) != f {
			t.Fatalf("%v is written as %s", f, s)
		}
	})
}

func TestParseTimeAgainstStandardLibrary(t *testing.T) {
	digits := func(t *rapid.T, n int) string {
		return rapid.StringMatching(`[0-9]{`+string(rune('0'+n))+`}`).Draw(t, "d")
	}
	rapid.Check(t, func(t *rapid.T) {
		var s string
		if rapid.Bool().Draw(t, "real") {
			sec := rapid.Int64Range(-62167219200, 253402300799).Draw(t, "sec")
			zone := time.FixedZone("", 60*rapid.IntRange(-1439, 1439).Draw(t, "zone"))
			at := time.Unix(sec, rapid.Int64Range(0, 999999999).Draw(t, "ns")).In(zone)
			if s = at.Format(time.RFC3339Nano); at.Year() < 0 || at.Year() > 9999 {
				return
			}
		} else {
			s = digits(t, 4) + "-" + digits(t, 2) + "-" + digits(t, 2) + "T" + digits(t, 2) + ":" + digits(t, 2) + ":" + digits(t, 2) +
				rapid.SampledFrom([]string{"Z", "+00:00", "-23:59", "+24:00", ".5Z", ".Z", "", "z "}).Draw(t, "end")
		}
		want, err := time.Parse(time.RFC3339Nano, s)
		got, ok := ParseTime([]byte(s))
		if ok != (err == nil) && !strings.Contains(s, "+24:00") {
			t.Fatalf("%q: %v, want %v", s, ok, err)
		}
		if ok && got != event.TimeOf(want) {
			t.Fatalf("%q is %v, want %v", s, got, want)
		}
	})
}

func TestParseTimeExamples(t *testing.T) {
	for s, want := range map[string]event.Time{
		"2023-11-14T23:13:20+01:00": 1700000000000, "2023-11-14T22:13:20.123456Z": 1700000000123, "1969-12-31 23:59:59.999z": -1,
		"2024-02-29t00:00:00Z": 1709164800000,
	} {
		if got, ok := ParseTime([]byte(s)); !ok || got != want {
			t.Errorf("%q is %d, %v; want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"", "2023-11-14", "2023-02-29T00:00:00Z", "2023-11-14T23:13:20", "2023-11-14T23:13:60Z", "2023-11-14T23:13:20+0100", "2023-11-14T23:13:20,5Z"} {
		if got, ok := ParseTime([]byte(s)); ok {
			t.Errorf("%q was read as %v", s, got)
		}
	}
}

func numbers() *rapid.Generator[event.Value] {
	return rapid.OneOf(
		rapid.Map(rapid.Int64(), event.IntValue),
		rapid.Map(rapid.Int64Range(-3, 3), event.IntValue),
		rapid.Custom(func(t *rapid.T) event.Value {
			return event.DecimalValue(event.Decimal{Hi: rapid.Int64Range(-3, 3).Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")})
		}),
		rapid.Map(rapid.Int64Range(-30, 30), func(i int64) event.Value {
			d, _ := event.DecimalFromInt(i).Div(event.DecimalFromInt(10)) // small numbers over 10 always fit
			return event.DecimalValue(d)
		}),
		rapid.Map(rapid.Float64(), event.FloatValue),
		rapid.Map(rapid.Int64Range(-30, 30), func(i int64) event.Value { return event.FloatValue(float64(i) / 10) }),
	)
}

func TestNumbersHaveOneOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := numbers().Draw(t, "a"), numbers().Draw(t, "b"), numbers().Draw(t, "c")
		ab, bc, ac := CompareNumbers(a, b), CompareNumbers(b, c), CompareNumbers(a, c)
		if ab != -CompareNumbers(b, a) || CompareNumbers(a, a) != 0 {
			t.Fatalf("no antisymmetry: %d", ab)
		}
		if ab <= 0 && bc <= 0 && (ac > 0 || ac == 0 && (ab < 0 || bc < 0)) {
			t.Fatalf("no transitivity: %d %d %d", ab, bc, ac)
		}
		// Equal numbers are written alike, and numbers that are written alike are equal.
		var canon Canon
		x, y := string(canon.Append(nil, nil, a)), string(canon.Append(nil, nil, b))
		if (ab == 0) != (x == y) {
			t.Fatalf("%s against %s: %d", x, y, ab)
		}
	})
	nan := event.FloatValue(math.NaN())
	if CompareNumbers(nan, event.IntValue(-1)) >= 0 || CompareNumbers(nan, nan) != 0 {
		t.Error("what is not a number is not below everything")
	}
}

func TestEqual(t *testing.T) {
	var c Canon
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[1,2.0]}`, ` {"b":[1.0, 2],"a":1e0} `, true},
		{`{"a":1,"a":2}`, `{"a":2}`, true},
		{`{"a":1}`, `{"a":1,"b":null}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`["\u0061"]`, `["a"]`, true},
		{`"1"`, `1`, false},
		{`null`, `0`, false},
		{`[0.1]`, `[1e-1]`, true},
		{`{"\u0062":1,"a":{"z":1,"y":2}}`, `{"a":{"y":2,"z":1},"b":1}`, true},
	} {
		var h event.Heap
		a, b := Read(&h, h.PutString(x.a)), Read(&h, h.PutString(x.b))
		if got := c.Equal(&h, a, b); got != x.want {
			t.Errorf("%s == %s is %v", x.a, x.b, got)
		}
	}
}

// TestScalarsReadBack holds that what is written reads back as an equal value, in the form in which it was written.
func TestScalarsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h event.Heap
		v := rapid.OneOf(numbers(), rapid.Map(rapid.String(), func(s string) event.Value {
			return event.HeapValue(event.String, h.PutString(s))
		}), rapid.Map(rapid.Bool(), event.BoolValue), rapid.Just(event.NullValue())).Draw(t, "v")
		text := Append(nil, &h, v)
		back, ok := Parse(&h, h.Put(text))
		var c Canon
		if !ok || !c.Equal(&h, v, back) || string(Append(nil, &h, back)) != string(text) {
			t.Fatalf("%s reads back as %s", text, Append(nil, &h, back))
		}
	})
}
