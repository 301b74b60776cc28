package codec

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// scalars draws values of all kinds that keys may have, with many that are equal or close.
func scalars(h *event.Heap) *rapid.Generator[event.Value] {
	return rapid.OneOf(
		rapid.Just(event.NullValue()),
		rapid.Map(rapid.Bool(), event.BoolValue),
		rapid.Map(rapid.Int64(), event.IntValue),
		rapid.Map(rapid.Int64Range(-300, 300), event.IntValue),
		rapid.Custom(func(t *rapid.T) event.Value {
			return event.DecimalValue(event.Decimal{Hi: rapid.Int64().Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")})
		}),
		rapid.Map(rapid.Int64Range(-300, 300), func(i int64) event.Value {
			d, _ := event.DecimalFromInt(i).Div(event.DecimalFromInt(10))
			return event.DecimalValue(d)
		}),
		rapid.Map(rapid.Float64(), event.FloatValue),
		rapid.Map(rapid.Int64Range(-300, 300), func(i int64) event.Value { return event.FloatValue(float64(i) / 10) }),
		rapid.Map(rapid.Int64Range(-30, 30), func(i int64) event.Value { return event.FloatValue(float64(i) * 1e-19) }),
		rapid.Map(rapid.SliceOf(rapid.SampledFrom([]byte{0, 1, 'a', 0xff})), func(b []byte) event.Value {
			return event.HeapValue(event.Bytes, h.Put(append([]byte{}, b...)))
		}),
		rapid.Map(rapid.StringOf(rapid.SampledFrom([]rune{0, 1, 'a', 'é'})), func(s string) event.Value {
			return event.HeapValue(event.String, h.PutString(s))
		}),
		rapid.Map(rapid.Int64(), func(i int64) event.Value { return event.TimeValue(event.Time(i)) }),
		rapid.Map(rapid.Int64(), func(i int64) event.Value { return event.DurationValue(event.Duration(i)) }),
	)
}

// rank orders the kinds as their tags do.
func rank(k event.Kind) int {
	switch k {
	case event.Missing, event.Null:
		return 0
	case event.Int, event.Decimal128, event.Float:
		return int(event.Int)
	}
	return int(k)
}

func TestKeyOrderIsValueOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h event.Heap
		a, b := scalars(&h).Draw(t, "a"), scalars(&h).Draw(t, "b")
		want := rank(a.Kind) - rank(b.Kind)
		if c, ok := jsontext.Compare(&h, a, b); ok {
			want = c
		}
		got := bytes.Compare(AppendKey(nil, &h, a), AppendKey(nil, &h, b))
		if (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Fatalf("the bytes compare as %d, the values as %d: % x and % x", got, want, AppendKey(nil, &h, a), AppendKey(nil, &h, b))
		}
		// No encoding is a prefix of another one.
		if got != 0 && bytes.HasPrefix(AppendKey(nil, &h, b), AppendKey(nil, &h, a)) {
			t.Fatal("one key is a prefix of the other")
		}
	})
}

func TestKeyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h event.Heap
		a := scalars(&h).Draw(t, "a")
		key := AppendKey(nil, &h, a)
		b, err := DecodeKey(key, &h)
		var c jsontext.Canon
		if err != nil || !c.Equal(&h, a, b) {
			t.Fatalf("% x decodes to %v: %v", key, b.Kind, err)
		}
		if again := AppendKey(nil, &h, b); !bytes.Equal(again, key) {
			t.Fatalf("% x becomes % x", key, again)
		}
	})
}

func TestKeysOfTheContract(t *testing.T) {
	var h event.Heap
	texts := []string{
		`null`, `""`, `"\u0000"`, `1`, `"1"`, `1.5`, `true`, `false`, `[]`, `[1]`, `[1,"a"]`, `["1","a"]`, `["1a"]`, `[[1],2]`, `[[1,2]]`,
		`{}`, `{"a":1}`, `{"a":2}`, `{"b":1}`, `{"a":1,"b":2}`, `{"a":null}`, `[null]`, `1e300`, `-1e300`, `1e-300`,
	}
	seen := map[string]string{}
	for _, s := range texts {
		key := string(AppendKey(nil, &h, event.HeapValue(event.JSON, h.PutString(s))))
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have one key", s, other)
		}
		seen[key] = s
		v, err := DecodeKey([]byte(key), &h)
		if err != nil || string(jsontext.Append(nil, &h, v)) != canonical(s) {
			t.Errorf("%s comes back as %s, %v", s, jsontext.Append(nil, &h, v), err)
		}
	}
	for _, same := range [][]string{
		{"1", "1.0", "1e0", "10e-1"},
		{"0", "-0", "-0.0", "0e5"},
		{`{"a":1,"b":[2.50]}`, ` {"b":[2.5],"a":1.0}`, `{"b":0,"a":1,"b":[25e-1]}`},
		{`"é\u0000"`, `"\u00e9\u0000"`},
		{`["a\u0000b\u0000"]`, `["\u0061\u0000b\u0000"]`},
	} {
		first := AppendKey(nil, &h, event.HeapValue(event.JSON, h.PutString(same[0])))
		for _, s := range same[1:] {
			if key := AppendKey(nil, &h, event.HeapValue(event.JSON, h.PutString(s))); !bytes.Equal(key, first) {
				t.Errorf("%s and %s have keys % x and % x", same[0], s, first, key)
			}
		}
	}
}

func canonical(s string) string {
	var c jsontext.Canon
	return string(c.AppendText(nil, []byte(s)))
}

// TestKeyBytes holds the format on disk.
func TestKeyBytes(t *testing.T) {
	var h event.Heap
	d, _ := event.ParseDecimal("-1.5")
	for _, c := range []struct {
		v    event.Value
		want []byte
	}{
		{event.Value{}, []byte{1}},
		{event.IntValue(0), []byte{4, 0x80, 0}},
		{event.IntValue(9007199254740993), []byte{4, 0x87, 0x20, 0, 0, 0, 0, 0, 1, 0}},
		{event.IntValue(-1), []byte{4, 0x7e, 0xfe, 0}},
		{event.IntValue(math.MinInt64), []byte{4, 0x77, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0}},
		{event.DecimalValue(d), []byte{4, 0x7e, 0xfd, 1, 0x06, 0xf0, 0x5b, 0x59, 0xd3, 0xb2, 0, 0, 0}},
		{event.HeapValue(event.String, h.PutString("a\x00b")), []byte{5, 'a', 0, 0xff, 'b', 0, 1}},
		{event.TimeValue(-1), []byte{7, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{event.HeapValue(event.List, h.PutString(`["a",true]`)), []byte{9, 5, 'a', 0, 1, 3, 0}},
		{event.HeapValue(event.Object, h.PutString(`{"b":null,"a":1}`)), []byte{10, 1, 'a', 0, 1, 4, 0x81, 1, 0, 1, 'b', 0, 1, 1, 0}},
	} {
		if got := AppendKey(nil, &h, c.v); !bytes.Equal(got, c.want) {
			t.Errorf("%v: % x, want % x", c.v.Kind, got, c.want)
		}
	}
}

func TestRestoreKey(t *testing.T) {
	var h event.Heap
	typ := event.Type{Kind: event.Object, Fields: []event.Field{{Name: "sku"}, {Name: "region"}}}
	obj := event.HeapValue(event.Object, h.PutString(`{"sku":1,"region":"eu"}`))
	v, err := DecodeKey(AppendKey(nil, &h, obj), &h)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(v.Bytes(&h)); got != `{"region":"eu","sku":1}` {
		t.Errorf("decoded: %s", got)
	}
	if got := string(RestoreKey(&h, v, typ).Bytes(&h)); got != `{"sku":1,"region":"eu"}` {
		t.Errorf("restored: %s", got)
	}
	if got := RestoreKey(&h, event.IntValue(2), event.Of(event.Float)); got != event.FloatValue(2) {
		t.Errorf("an int as a float: %v", got)
	}
}

func FuzzDecodeKey(f *testing.F) {
	var h event.Heap
	for _, s := range []string{`null`, `{"a":[1,2.5,-3,1e300,1e-30],"b":"x\u0000y","c":{"d":true}}`, `"é"`, `[[[]]]`, `-170141183460469231731.687303715884105728`} {
		f.Add(AppendKey(nil, &h, event.HeapValue(event.JSON, h.PutString(s))))
	}
	f.Add(AppendKey(nil, &h, event.HeapValue(event.Bytes, h.Put([]byte{0, 0xff}))))
	f.Add([]byte{7, 0x80, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var h event.Heap
		v, err := DecodeKey(b, &h)
		if err != nil {
			return
		}
		key := AppendKey(nil, &h, v)
		w, err := DecodeKey(key, &h)
		if err != nil {
			t.Fatalf("% x becomes % x: %v", b, key, err)
		}
		if again := AppendKey(nil, &h, w); !bytes.Equal(again, key) {
			t.Fatalf("% x becomes % x, then % x", b, key, again)
		}
	})
}

func TestKeysAllocateNothing(t *testing.T) {
	var h event.Heap
	values := []event.Value{
		event.IntValue(7), event.FloatValue(0.1), event.HeapValue(event.String, h.PutString("user-1")),
		event.HeapValue(event.List, h.PutString(`["a",1]`)), event.HeapValue(event.Object, h.PutString(`{"region":"eu","sku":1}`)),
	}
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		for _, v := range values {
			buf = AppendKey(buf[:0], &h, v)
		}
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
