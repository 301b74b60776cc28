package event

import (
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

func TestValueHasNoPointer(t *testing.T) {
	if n := unsafe.Sizeof(Value{}); n != 24 {
		t.Errorf("a value has %d bytes", n)
	}
}

func TestValues(t *testing.T) {
	d, _ := ParseDecimal("-1.5")
	if !BoolValue(true).Bool() || BoolValue(false).Bool() || IntValue(-7).Int() != -7 || FloatValue(0.1).Float() != 0.1 ||
		DecimalValue(d).Decimal() != d || TimeValue(-1).Time() != -1 || DurationValue(-2).Duration() != -2 {
		t.Error("a value does not read back")
	}
	if !(Value{}).IsNull() || !NullValue().IsNull() || IntValue(0).IsNull() || (Value{}).Kind != Missing {
		t.Error("null and missing")
	}
	if v := HeapValue(String, NullRef); v.Kind != Null {
		t.Error("the span of nothing is null")
	}
	for k := Missing; k <= Error; k++ {
		if k.String() == "" {
			t.Errorf("kind %d has no name", k)
		}
	}
}

func TestHeap(t *testing.T) {
	var h Heap
	a, empty, null := h.PutString("abc"), h.Put([]byte{}), h.Put(nil)
	if string(h.Get(a)) != "abc" || h.Get(empty) == nil || len(h.Get(empty)) != 0 || h.Get(null) != nil || !null.IsNull() {
		t.Error("null is not empty")
	}
	r := h.End(append(h.Begin(), "def"...))
	if string(h.Get(r)) != "def" || h.Len() != 6 || string(h.Bytes()) != "abcdef" {
		t.Errorf("begin and end: %q", h.Bytes())
	}
	// What is appended to a span must not run into the next one.
	_ = append(h.Get(a), 'X')
	if string(h.Get(r)) != "def" {
		t.Error("a span can be grown over its neighbour")
	}
	var to Heap
	v := HeapValue(String, r)
	if m := v.Move(&h, &to); string(m.Bytes(&to)) != "def" || v.Move(&h, &h) != v || !v.InHeap() || IntValue(1).InHeap() {
		t.Error("move")
	}
	h.Reset()
	if h.Len() != 0 {
		t.Error("reset")
	}
}

func TestType(t *testing.T) {
	item := Type{Kind: Object, Fields: []Field{{Name: "sku", Type: Of(String)}, {Name: "n", Type: Type{Kind: Int, Optional: true}}}}
	for want, typ := range map[string]Type{
		"any": Any, "int": Of(Int), "optional(string)": {Kind: String, Optional: true}, "list({ sku = string, n = optional(int) })": {Kind: List, Elem: &item},
		"object": {Kind: Object, Open: true},
	} {
		if got := typ.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if f, ok := item.Field("sku"); !ok || f.Kind != String {
		t.Error("a field that is there")
	}
	if _, ok := item.Field("x"); ok {
		t.Error("a closed object has a field x")
	}
	if f, ok := (Type{Kind: Object, Open: true}).Field("x"); !ok || !f.IsAny() {
		t.Error("an open object may have a field x")
	}
	if _, ok := Of(Int).Field("x"); ok {
		t.Error("an int has a field x")
	}
	if f, ok := Any.Field("x"); !ok || !f.IsAny() {
		t.Error("a value of any type may have a field x")
	}
}

func TestBundle(t *testing.T) {
	h := &Heap{}
	src := &Bundle{
		Heap: h, Times: []Time{1, 2, 3}, Marks: []Time{0, 0, 1}, Ops: []Op{Insert, Retract, Insert},
		Keys: []Value{IntValue(1), IntValue(2), IntValue(3)}, Values: make([]Value, 3),
		Origins: []Origin{{Offset: 5}, {Offset: 6}, {Offset: 7}},
		Heads:   []HeadSpan{{0, 1}, {1, 1}, {1, 3}}, Headers: make([]Header, 3),
		Fields: [][]Value{{IntValue(10), IntValue(20), IntValue(30)}},
	}
	src.Headers[2].Key = h.PutString("last")
	var view Bundle
	src.Slice(1, 3, &view)
	if view.Len() != 2 || view.Times[0] != 2 || view.Fields[0][1] != IntValue(30) || len(view.Windows) != 0 || len(view.RowHeaders(1)) != 2 {
		t.Errorf("a slice: %+v", view)
	}
	dst := &Bundle{Heap: h}
	dst.Reset(2)
	dst.AppendMeta(src, 2)
	dst.AppendMeta(src, 1)
	want := []Origin{{Offset: 7}, {Offset: 6}}
	if diff := cmp.Diff(want, dst.Origins); diff != "" || dst.Ops[1] != Retract || len(dst.RowHeaders(1)) != 0 {
		t.Errorf("appended rows: %s", diff)
	}
	if got := dst.RowHeaders(0); len(got) != 2 || string(h.Get(got[1].Key)) != "last" {
		t.Errorf("headers of an appended row: %v", got)
	}
	if len(dst.Fields) != 2 || (&Bundle{}).RowHeaders(0) != nil {
		t.Error("columns, or headers of a bundle without any")
	}
	dst.Reset(1)
	if dst.Len() != 0 || len(dst.Fields) != 1 || len(dst.Headers) != 0 {
		t.Error("reset")
	}
}

func TestNamesOfPanes(t *testing.T) {
	if Early.String() != "early" || OnTime.String() != "on_time" || Late.String() != "late" || Insert.String() != "insert" || Retract.String() != "retract" {
		t.Error("names")
	}
}
