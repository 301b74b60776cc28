package jsontext

import (
	"testing"

	"github.com/wgate/wgate/event"
)

func TestTyped(t *testing.T) {
	item := event.Type{Kind: event.Object, Fields: []event.Field{
		{Name: "sku", Type: event.Of(event.String)},
		{Name: "qty", Type: event.Of(event.Int)},
		{Name: "note", Type: event.Type{Kind: event.String, Optional: true}},
	}}
	items := event.Type{Kind: event.List, Elem: &item}
	kind := func(k event.Kind) event.Type { return event.Of(k) }
	for _, c := range []struct {
		t    event.Type
		in   string
		want string // "kind text", or "code path got"
	}{
		{kind(event.Int), "12", "int 12"},
		{kind(event.Int), "1.2e1", "int 12"},
		{kind(event.Int), "12.0", "int 12"},
		{kind(event.Int), "1.5", "wrong_type a number with a fraction"},
		{kind(event.Int), "18446744073709551615", "overflow a number"},
		{kind(event.Int), "1e30", "overflow a number"},
		{kind(event.Int), `"12"`, "wrong_type a string"},
		{kind(event.Int), "null", "wrong_type null"},
		{event.Type{Kind: event.Int, Optional: true}, "null", "null null"},
		{kind(event.Decimal128), "5", "decimal 5"},
		{kind(event.Decimal128), "5e-1", "decimal 0.5"},
		{kind(event.Decimal128), "0.1234567890123456789", "overflow a number"},
		{kind(event.Float), "5", "float 5"},
		{kind(event.Float), "0.1", "float 0.1"},
		{kind(event.Float), "1e999", "overflow a number"},
		{kind(event.Bool), "true", "bool true"},
		{kind(event.Bool), "0", "wrong_type a number"},
		{kind(event.String), `"a\tb"`, `string "a\tb"`},
		{kind(event.Instant), `"2023-11-14T23:13:20+01:00"`, "time 1700000000000"},
		{kind(event.Instant), "1700000000000", "time 1700000000000"},
		{kind(event.Instant), `"yesterday"`, "bad_timestamp a string"},
		{kind(event.Span), `"1h30m"`, "duration 5400000"},
		{kind(event.Span), "90", "duration 90"},
		{kind(event.Span), `"90"`, "bad_argument a string"},
		{kind(event.Bytes), `"AQ\/\/"`, `bytes "AQ//"`},
		{kind(event.Bytes), `"?"`, "bad_argument a string"},
		{items, `[{"sku":"a","qty":1},{"qty":2,"sku":"b","note":null,"more":[]}]`, `list [{"sku":"a","qty":1},{"qty":2,"sku":"b","note":null,"more":[]}]`},
		{items, `[{"sku":"a","qty":1},{"sku":"b"}]`, "missing_field [].qty"},
		{items, `[{"sku":"a","qty":"1"}]`, "wrong_type [].qty a string"},
		{items, `{}`, "wrong_type an object"},
		{event.Any, `[1]`, "list [1]"},
	} {
		var h event.Heap
		r := h.PutString(c.in)
		v, bad := Typed(&h, h.Get(r), r.Off, &c.t)
		got := ""
		if bad != nil {
			got = bad.Code
			for _, s := range []string{bad.Path, bad.Got} {
				if s != "" {
					got += " " + s
				}
			}
		} else {
			got = v.Kind.String() + " " + string(Append(nil, &h, v))
		}
		if got != c.want {
			t.Errorf("%s as %s: %s, want %s", c.in, c.t, got, c.want)
		}
	}
}
