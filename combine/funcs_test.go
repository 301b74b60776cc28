package combine

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

// row is an argument with its event time.
type row struct {
	v event.Value
	t event.Time
}

func foldRows(f Func, h *event.Heap, rows []row) []byte {
	accs := [][]byte{f.Init(nil)}
	p := &Batch{Heap: h}
	for i, r := range rows {
		p.Groups, p.Rows = append(p.Groups, 0), append(p.Rows, int32(i))
		p.Args, p.Times = append(p.Args, r.v), append(p.Times, r.t)
	}
	f.Add(accs, p)
	return accs[0]
}

func show(h *event.Heap, v event.Value) string {
	switch v.Kind {
	case event.Missing, event.Null:
		return "null"
	case event.Bool:
		if v.Bool() {
			return "true"
		}
		return "false"
	case event.Int:
		return event.DecimalFromInt(v.Int()).String()
	case event.Decimal128:
		return v.Decimal().String() + "d"
	case event.Float:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case event.Instant:
		return v.Time().String()
	}
	return string(v.Bytes(h))
}

func TestFunctions(t *testing.T) {
	h := new(event.Heap)
	i := event.IntValue
	s := func(text string) event.Value { return event.HeapValue(event.String, h.PutString(text)) }
	js := func(text string) event.Value { return event.HeapValue(event.JSON, h.PutString(text)) }
	at := func(v event.Value, t event.Time) row { return row{v, t} }
	null := event.NullValue()
	yes, no := event.BoolValue(true), event.BoolValue(false)
	cases := []struct {
		fn   string
		rows []row
		want string
	}{
		{"count", []row{at(i(1), 0), at(null, 0), at(js("null"), 0), at(js(`{"a":1}`), 0), at(event.Value{}, 0)}, "2"},
		{"count", nil, "0"},
		{"min", nil, "null"},
		{"min", []row{at(i(3), 0), at(dec(t, "2.5"), 0), at(null, 0), at(event.FloatValue(4), 0)}, "2.5d"},
		{"max", []row{at(dec(t, "1"), 0), at(i(1), 0)}, "1d"}, // equal by value: decimal is above int, in any order
		{"max", []row{at(i(1), 0), at(dec(t, "1"), 0)}, "1d"},
		{"min", []row{at(dec(t, "1"), 0), at(i(1), 0)}, "1"},
		{"max", []row{at(s("b"), 0), at(s("ab"), 0)}, "b"},
		{"min", []row{at(s("b"), 0), at(i(9), 0)}, "9"}, // numbers are below texts
		{"max", []row{at(i(9), 0), at(s(""), 0)}, ""},
		{"max", []row{at(s(""), 0), at(i(9), 0)}, ""},
		{"first", []row{at(s("x"), 5), at(s("y"), 3), at(s("z"), 3), at(null, 1)}, "y"},
		{"last", []row{at(s("x"), 5), at(s("y"), 7), at(s("z"), 7), at(s("w"), 6)}, "z"},
		{"first", nil, "null"},
		{"list", nil, "[]"},
		{"list", []row{at(i(3), 3), at(s(`a"b`), 1), at(i(2), 3), at(null, 0), at(js(`{"k":[1]}`), 2), at(dec(t, "1.50"), 9)}, `["a\"b",{"k":[1]},3,2,1.5]`},
		{"set", nil, "[]"},
		{"set", []row{at(s("b"), 3), at(i(1), 1), at(null, 0), at(dec(t, "1.0"), 0), at(event.FloatValue(1), 0), at(s("1"), 0), at(js(`{"b":1,"a":[ ]}`), 0), at(js(`{"a":[],"b":1.0}`), 0), at(js("1e0"), 0), at(yes, 0)}, `["1","b",1,true,{"a":[],"b":1}]`},
		{"set", []row{at(event.FloatValue(1e-7), 0), at(dec(t, "0.0000001"), 0), at(event.FloatValue(math.Copysign(0, -1)), 0), at(i(0), 0)}, `[0,0.0000001]`},
		{"set", []row{at(event.TimeValue(5), 0), at(i(5), 0), at(event.DurationValue(5), 0)}, `[5,5,5]`},
		{"count_distinct", nil, "0"},
		{"count_distinct", []row{at(s("a"), 0), at(s("a"), 0), at(null, 0), at(i(1), 0), at(js("1.0"), 0)}, "2"},
		{"variance", nil, "null"},
		{"variance", []row{at(i(5), 0)}, "null"},
		{"variance", []row{at(i(5), 0), at(null, 0), at(i(5), 0)}, "0"},
		{"variance", []row{at(i(2), 0), at(i(4), 0), at(i(4), 0), at(i(4), 0), at(i(5), 0), at(i(5), 0), at(i(7), 0), at(i(9), 0)}, "4.571428571428571"},
		{"variance", []row{at(i(math.MaxInt64), 0), at(i(math.MaxInt64-2), 0)}, "2"},
		{"variance", []row{at(dec(t, "0.1"), 0), at(dec(t, "0.3"), 0), at(i(0), 0), at(event.FloatValue(0.5), 0)}, "0.049166666666666664"},
		{"variance", []row{at(event.FloatValue(1e200), 0), at(event.FloatValue(-1e200), 0)}, "+Inf"},
		{"variance", []row{at(event.FloatValue(math.Inf(1)), 0), at(i(1), 0)}, "NaN"},
		{"stddev", []row{at(i(1), 0), at(i(3), 0)}, "1.4142135623730951"},
		{"stddev", []row{at(i(0), 0), at(i(0), 0), at(i(0), 0), at(i(6), 0)}, "3"},
		{"any", nil, "false"},
		{"all", nil, "true"},
		{"any", []row{at(no, 0), at(null, 0)}, "false"},
		{"any", []row{at(no, 0), at(yes, 0)}, "true"},
		{"all", []row{at(yes, 0), at(null, 0)}, "true"},
		{"all", []row{at(no, 0), at(yes, 0)}, "false"},
	}
	for _, c := range cases {
		f := mustFunc(t, c.fn, event.Any)
		if got := show(h, f.Extract(foldRows(f, h, c.rows), h)); got != c.want {
			t.Errorf("%s of %d rows is %s, want %s", c.fn, len(c.rows), got, c.want)
		}
	}
}

// drawValue draws a value of any kind that min and max take, few enough different ones that they meet.
func drawValue(t *rapid.T, h *event.Heap) event.Value {
	small := rapid.Int64Range(-2, 2)
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		return event.IntValue(small.Draw(t, "int"))
	case 1:
		return event.DecimalValue(event.DecimalFromInt(small.Draw(t, "decimal")))
	case 2:
		return event.FloatValue(rapid.SampledFrom([]float64{-1.5, -1, 0, math.Copysign(0, -1), 1, 1.5, math.NaN(), math.Inf(1)}).Draw(t, "float"))
	case 3:
		return event.HeapValue(event.String, h.PutString(rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "text")))
	case 4:
		return event.BoolValue(rapid.Bool().Draw(t, "bool"))
	case 5:
		return event.TimeValue(event.Time(small.Draw(t, "time")))
	case 6:
		return event.HeapValue(event.Bytes, h.PutString(rapid.SampledFrom([]string{"", "a"}).Draw(t, "bytes")))
	}
	return event.NullValue()
}

// TestMergeIsOrderFree: whatever the order of the elements and the parts in which they are folded, equal elements give
// equal bytes. For list, first and last event times differ, so that arrival does not decide.
func TestMergeIsOrderFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := new(event.Heap)
		name := rapid.SampledFrom([]string{"count", "min", "max", "first", "last", "list", "any", "all", "sum", "mean", "variance", "stddev", "set", "count_distinct"}).Draw(t, "func")
		sig, _ := Lookup(name)
		f, _ := sig.New([]event.Type{event.Any})
		var rows []row
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			v := drawValue(t, h)
			if !f.Takes(v.Kind) {
				v = event.NullValue()
			}
			rows = append(rows, row{v, event.Time(i)})
		}
		perm := rapid.Permutation(rows).Draw(t, "perm")
		cut := rapid.IntRange(0, len(perm)).Draw(t, "cut")
		whole := foldRows(f, h, rows)
		parts := f.Merge(foldRows(f, h, perm[:cut]), foldRows(f, h, perm[cut:]))
		a, b := f.Extract(whole, h), f.Extract(parts, h)
		if name != "list" && !bytes.Equal(whole, parts) {
			t.Fatalf("%s: the bytes differ: %x and %x", name, whole, parts)
		}
		if a.Kind != b.Kind || show(h, a) != show(h, b) {
			t.Fatalf("%s: %s and %s", name, show(h, a), show(h, b))
		}
	})
}

// TestOrderIsTotal: compare is antisymmetric and transitive over all kinds.
func TestOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := new(event.Heap)
		var v [3]event.Value
		for i := range v {
			for v[i] = drawValue(t, h); v[i].IsNull(); v[i] = drawValue(t, h) {
			}
		}
		c := func(i, j int) int { return cmp.Compare(compare(h, v[i], h, v[j]), 0) }
		if c(0, 1) != -c(1, 0) || c(0, 0) != 0 {
			t.Fatalf("not antisymmetric: %v", v)
		}
		if c(0, 1) <= 0 && c(1, 2) <= 0 && c(0, 2) > 0 {
			t.Fatalf("not transitive: %v", v)
		}
	})
}

func TestValueRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, to := new(event.Heap), new(event.Heap)
		v := drawValue(t, h)
		b := AppendValue([]byte("x"), h, v)[1:]
		if len(b) != valueLen(v) {
			t.Fatalf("valueLen is %d, the bytes are %d", valueLen(v), len(b))
		}
		got, ok := ReadValue(b, to)
		if !ok || got.Kind != v.Kind || !bytes.Equal(AppendValue(nil, to, got), b) {
			t.Fatalf("%v came back as %v, %v", v, got, ok)
		}
	})
}

func FuzzReadValue(f *testing.F) {
	f.Add([]byte{byte(event.Int), 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{byte(event.String), 'a'})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		h := new(event.Heap)
		v, ok := ReadValue(b, h)
		if ok && !v.IsNull() && v.Kind != event.Bool && !bytes.Equal(AppendValue(nil, h, v), b) {
			t.Errorf("%x is read as %v and written as %x", b, v, AppendValue(nil, h, v))
		}
	})
}

func TestResultTypes(t *testing.T) {
	list := event.Type{Kind: event.List, Elem: &event.Type{Kind: event.String}}
	cases := []struct {
		fn   string
		args []event.Type
		want string // the type, or the error
	}{
		{"count", nil, "int"},
		{"count", []event.Type{event.Any}, "int"},
		{"sum", []event.Type{event.Of(event.Int)}, "int"},
		{"sum", []event.Type{{Kind: event.Decimal128, Optional: true}}, "decimal"},
		{"sum", []event.Type{event.Any}, "any"},
		{"sum", []event.Type{event.Of(event.String)}, "sum cannot take string"},
		{"sum", nil, "sum takes one argument, not 0"},
		{"count", []event.Type{event.Any, event.Any}, "count takes at most one argument, not 2"},
		{"mean", []event.Type{event.Of(event.Int)}, "optional(float)"},
		{"min", []event.Type{event.Of(event.String)}, "optional(string)"},
		{"min", []event.Type{list}, "min cannot take list(string)"},
		{"first", []event.Type{list}, "optional(list(string))"},
		{"list", []event.Type{event.Of(event.Int)}, "list(int)"},
		{"set", []event.Type{event.Of(event.Int)}, "list(int)"},
		{"count_distinct", []event.Type{list}, "int"},
		{"stddev", []event.Type{event.Of(event.Int)}, "optional(float)"},
		{"stddev", []event.Type{event.Of(event.String)}, "stddev cannot take string"},
		{"any", []event.Type{event.Of(event.Bool)}, "bool"},
		{"any", []event.Type{event.Of(event.Int)}, "any cannot take int"},
	}
	for _, c := range cases {
		sig, ok := Lookup(c.fn)
		if !ok {
			t.Fatalf("there is no function %s", c.fn)
		}
		typ, err := sig.Result(c.args)
		got := typ.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s%v: %s, want %s", c.fn, c.args, got, c.want)
		}
		if f, err := sig.New(c.args); (err == nil) != (f != nil) {
			t.Errorf("%s%v: New gives %v and %v", c.fn, c.args, f, err)
		}
	}
	if _, ok := Lookup("median"); ok {
		t.Error("there is a function median")
	}
	if !Later("top") || Later("sum") {
		t.Error("top is for later, sum is not")
	}
}

// TestFixedAccumulatorsStayInPlace: folding ints allocates nothing.
func TestFixedAccumulatorsStayInPlace(t *testing.T) {
	vals := make([]event.Value, 100)
	for i := range vals {
		vals[i] = event.IntValue(int64(i))
	}
	h := new(event.Heap)
	for _, name := range []string{"count", "sum", "mean", "min", "max", "first", "last", "variance"} {
		f := mustFunc(t, name, event.Of(event.Int))
		p := batchOf(h, vals)
		accs := [][]byte{fold(f, h, vals...)}
		if n := testing.AllocsPerRun(10, func() { f.Add(accs, p) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
