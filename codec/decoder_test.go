package codec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/expr"
)

func bundle(values ...string) *event.Bundle {
	b := &event.Bundle{Heap: &event.Heap{}}
	for _, s := range values {
		v := event.HeapValue(event.JSON, b.Heap.PutString(s))
		if s == "NULL" {
			v = event.NullValue()
		}
		b.Times, b.Marks, b.Ops = append(b.Times, 0), append(b.Marks, 0), append(b.Ops, event.Insert)
		b.Keys, b.Values = append(b.Keys, event.NullValue()), append(b.Values, v)
	}
	return b
}

// schema of the tests.
func schema() *event.Type {
	opt := func(k event.Kind) event.Type { return event.Type{Kind: k, Optional: true} }
	item := event.Type{Kind: event.Object, Fields: []event.Field{{Name: "sku", Type: event.Of(event.String)}, {Name: "qty", Type: event.Of(event.Int)}}}
	user := event.Type{Kind: event.Object, Optional: true, Fields: []event.Field{
		{Name: "name", Type: event.Of(event.String)},
		{Name: "plan", Type: opt(event.String), Default: &event.Literal{Kind: event.String, Text: "free"}},
	}}
	return &event.Type{Kind: event.Object, Fields: []event.Field{
		{Name: "id", Type: event.Of(event.Int)},
		{Name: "amount", Type: opt(event.Decimal128)},
		{Name: "rate", Type: opt(event.Float)},
		{Name: "at", Type: opt(event.Instant)},
		{Name: "items", Type: event.Type{Kind: event.List, Optional: true, Elem: &item}},
		{Name: "user", Type: user},
	}}
}

// TestDecode runs testdata/decode. The arguments of decode are the paths (a.b.c), schema and text=FORMAT; its input is one
// record in each line. Output: one line a record with a column for each path.
func TestDecode(t *testing.T) {
	datadriven.RunTest(t, "testdata/decode", func(t *testing.T, d *datadriven.TestData) string {
		p := Projection{Whole: true}
		format := "json"
		for _, a := range d.CmdArgs {
			switch a.Key {
			case "schema":
				p.Schema = schema()
			case "format":
				format = a.Vals[0]
			default:
				p.Paths = append(p.Paths, strings.Split(a.Key, "."))
			}
		}
		dec, err := NewDecoder(format, p)
		if err != nil {
			return err.Error()
		}
		b := bundle(strings.Split(strings.TrimRight(d.Input, "\n"), "\n")...)
		bad := dec.Decode(b, 0)
		var out strings.Builder
		for i := range b.Len() {
			for k := range p.Paths {
				if k > 0 {
					out.WriteString(" | ")
				}
				out.WriteString(show(b.Heap, b.Fields[k][i]))
			}
			for len(bad) > 0 && bad[0].Row == i {
				fmt.Fprintf(&out, " !! %s: %s", bad[0].Code, bad[0].Text)
				bad = bad[1:]
			}
			out.WriteByte('\n')
		}
		return out.String()
	})
}

func show(h *event.Heap, v event.Value) string {
	switch v.Kind {
	case event.Missing:
		return "missing"
	case event.Error:
		code, _ := expr.ErrorText(h, v)
		return "error " + code
	}
	return v.Kind.String() + " " + string(jsontext.Append(nil, h, v))
}

func TestDecodeFromAndColumns(t *testing.T) {
	dec, err := NewDecoder("json", Projection{Paths: []expr.Path{{"a"}, {"b"}}})
	if err != nil {
		t.Fatal(err)
	}
	b := bundle(`{"a":1}`, `{"a":2,"b":3}`)
	dec.Decode(b, 0)
	more := bundle(`{"a":4}`, `oops`)
	for _, v := range more.Values {
		b.Values = append(b.Values, v.Move(more.Heap, b.Heap))
		b.Times, b.Keys = append(b.Times, 0), append(b.Keys, event.NullValue())
	}
	bad := dec.Decode(b, 2)
	if len(bad) != 1 || bad[0].Row != 3 || bad[0].Code != expr.NotJSON {
		t.Fatalf("%+v", bad)
	}
	for k, want := range []string{"int 1,int 2,int 4,error not_json", "missing,int 3,missing,missing"} {
		var got []string
		for _, v := range b.Fields[k] {
			got = append(got, show(b.Heap, v))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("column %d: %v, want %s", k, got, want)
		}
	}
}

func TestDecodeText(t *testing.T) {
	for format, want := range map[string]string{"text": "string,null,json,string", "bytes": "bytes,null,bytes,bytes"} {
		dec, err := NewDecoder(format, Projection{Paths: []expr.Path{{"a"}}})
		if err != nil {
			t.Fatal(err)
		}
		b := bundle("", "NULL", "\xff", "x")
		bad := dec.Decode(b, 0)
		var got []string
		for _, v := range b.Values {
			got = append(got, v.Kind.String())
		}
		if strings.Join(got, ",") != want || (format == "text") != (len(bad) == 1 && bad[0].Row == 2) {
			t.Errorf("%s: %v, %+v", format, got, bad)
		}
	}
	for _, format := range []string{"avro", "yaml"} {
		if _, err := NewDecoder(format, Projection{}); err == nil {
			t.Errorf("%s is accepted", format)
		}
		if _, err := NewEncoder(format); err == nil {
			t.Errorf("%s is accepted", format)
		}
	}
}

func TestStringsAreNotCopied(t *testing.T) {
	b := bundle(`{"user":{"name":"ann"},"id":5,"n":12.50,"f":1e3}`)
	dec, err := NewDecoder("json", Projection{Paths: []expr.Path{{"user", "name"}, {"user"}, {"n"}, {"f"}, {"id"}}, Schema: schema()})
	if err != nil {
		t.Fatal(err)
	}
	before := b.Heap.Len()
	if n := testing.AllocsPerRun(100, func() { dec.Decode(b, 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if b.Heap.Len() != before {
		t.Errorf("the heap grew by %d bytes", b.Heap.Len()-before)
	}
	if r := b.Fields[0][0].Ref(); r.Off != uint32(strings.Index(`{"user":{"name":"ann"}`, "ann")) {
		t.Errorf("the text lies at %d", r.Off)
	}
}

// FuzzDecode holds the decoder against the standard library: the same texts are JSON, and a path finds the same value.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"a":{"b":1},"c":[1,2]}`, `{"a":{"b":"x\u0041"},"a":{}}`, `{"a":1}x`, `[`, ``, `{"\u0061":{"b":[]}}`, `{"a":{"b":1e999}}`, `{"c":{"a":{"b":5}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		b := bundle(string(text))
		if string(text) == "NULL" {
			return
		}
		plain, err := NewDecoder("json", Projection{Paths: []expr.Path{{"a", "b"}, {"a"}, {"c"}}})
		if err != nil {
			t.Fatal(err)
		}
		bad := plain.Decode(b, 0)
		if (len(bad) > 0 && bad[0].Code == expr.NotJSON) == jsontext.Valid(text) {
			t.Fatalf("%q: %v", text, bad)
		}
		if len(bad) > 0 {
			return
		}
		checkPath(t, b, 0, "a", "b")
		checkPath(t, b, 1, "a")
		checkPath(t, b, 2, "c")
		typed, err := NewDecoder("json", Projection{Paths: []expr.Path{{"user"}, {"id"}}, Schema: schema()})
		if err != nil {
			t.Fatal(err)
		}
		typed.Decode(bundle(string(text)), 0)
	})
}

func checkPath(t *testing.T, b *event.Bundle, slot int, path ...string) {
	t.Helper()
	text, ok := b.Values[0].Bytes(b.Heap), true
	for _, name := range path {
		var start, end int
		if start, end, ok = jsontext.Find(text, name); !ok {
			break
		}
		text = text[start:end]
	}
	v := b.Fields[slot][0]
	if ok != (v.Kind != event.Missing) {
		t.Fatalf("%v of %q: %v", path, b.Values[0].Bytes(b.Heap), v.Kind)
	}
	var c jsontext.Canon
	if got := c.Append(nil, b.Heap, v); ok && string(got) != string(c.AppendText(nil, text)) {
		t.Fatalf("%v of %q is %q", path, b.Values[0].Bytes(b.Heap), got)
	}
}
