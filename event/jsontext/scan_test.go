package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

// depthOf is how deep the text nests, for the one rule in which the standard library is laxer.
func depthOf(b []byte) int {
	deepest, depth, text := 0, 0, false
	for i := 0; i < len(b); i++ {
		switch {
		case text && b[i] == '\\':
			i++
		case b[i] == '"':
			text = !text
		case text:
		case b[i] == '{' || b[i] == '[':
			depth++
			deepest = max(deepest, depth)
		case b[i] == '}' || b[i] == ']':
			depth--
		}
	}
	return deepest
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"", "0", "-0", "01", "1.", ".5", "1e5", "1E+05", "-", "\"", `"a\u00zz"`, `"\ud800"`, `"\x"`, "{}", "[]", "[1,]", `{"a":1,}`,
		`{"a"}`, `{"a":{"b":[true,false,null]}} `, "[[[[]]]]", "tru", "nulls", "{\"\xff\":1}", "\"\x01\"", " [ 1 , 2 ] ", "[1 2]", `{"a":1 "b":2}`,
		strings.Repeat("[", 512) + strings.Repeat("]", 512), strings.Repeat("[", 513) + strings.Repeat("]", 513),
		`"a long text of which the end \u00e9 and € lie beyond eight bytes"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := Valid(b)
		if want := json.Valid(b) && utf8.Valid(b) && depthOf(b) <= MaxDepth; got != want {
			t.Fatalf("%q: valid %v, want %v", b, got, want)
		}
		if !got {
			return
		}
		var h event.Heap
		v := Read(&h, h.Put(b))
		out := Append(nil, &h, v)
		if !Valid(out) {
			t.Fatalf("%q is written as %q", b, out)
		}
		var c Canon
		text := c.AppendText(nil, b)
		if again := c.AppendText(nil, text); string(again) != string(text) || !Valid(text) {
			t.Fatalf("%q: canonical form %q, of which the form is %q", b, text, again)
		}
		if compact := AppendCompact(nil, b); string(c.AppendText(nil, compact)) != string(text) || strings.ContainsAny(string(compact), "\n\r") {
			t.Fatalf("%q made compact is %q", b, compact)
		}
	})
}

// documents draws JSON texts with white space, escapes, repeated names and all kinds of numbers.
func documents() *rapid.Generator[string] {
	space := rapid.SampledFrom([]string{"", "", "", " ", "\n", " \t\r"})
	text := rapid.Map(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"a", "b", `a\`, `"`, "\u2028", "é"})), func(s string) string {
		q, _ := json.Marshal(s) // strings marshal always
		return string(q)
	})
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,22})(\.[0-9]{1,22})?([eE][+-]?[0-9]{1,2})?`)
	leaf := rapid.OneOf(text, number, rapid.SampledFrom([]string{"true", "false", "null", "{}", "[]", `"\ud83d\ude00\/\u0041"`}))
	value := leaf
	for range 3 {
		inner := value
		list := rapid.Custom(func(t *rapid.T) string {
			return "[" + strings.Join(rapid.SliceOfN(rapid.Map(inner, func(s string) string { return " " + s }), 1, 4).Draw(t, "list"), ",") + "]"
		})
		object := rapid.Custom(func(t *rapid.T) string {
			var parts []string
			for range rapid.IntRange(1, 4).Draw(t, "n") {
				sp := space.Draw(t, "space")
				parts = append(parts, sp+text.Draw(t, "name")+sp+":"+sp+inner.Draw(t, "value")+sp)
			}
			return "{" + strings.Join(parts, ",") + "}"
		})
		value = rapid.OneOf(leaf, list, object)
	}
	return rapid.Custom(func(t *rapid.T) string {
		return space.Draw(t, "before") + value.Draw(t, "value") + space.Draw(t, "after")
	})
}

// decode reads a document with the standard library, numbers as they are written.
func decode(t *rapid.T, s string) any {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return v
}

func TestDocumentsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := documents().Draw(t, "document")
		if !Valid([]byte(s)) {
			t.Fatalf("%q is refused", s)
		}
		cut := rapid.IntRange(0, len(s)).Draw(t, "cut")
		if got, want := Valid([]byte(s[:cut])), json.Valid([]byte(s[:cut])) && utf8.ValidString(s[:cut]); got != want {
			t.Fatalf("%q: valid %v", s[:cut], got)
		}
	})
}

func TestWalkAgainstStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := documents().Draw(t, "document")
		var h event.Heap
		compare(t, &h, Read(&h, h.PutString(s)), decode(t, s))
	})
}

// compare holds what this package reads against what the standard library read.
func compare(t *rapid.T, h *event.Heap, v event.Value, want any) {
	switch w := want.(type) {
	case nil:
		if v.Kind != event.Null {
			t.Fatalf("%v for null", v.Kind)
		}
	case bool:
		if v.Kind != event.Bool || v.Bool() != w {
			t.Fatalf("%v for %v", v.Kind, w)
		}
	case string:
		if v.Kind != event.String || string(v.Bytes(h)) != w {
			t.Fatalf("%q for %q", v.Bytes(h), w)
		}
	case json.Number:
		if n := Number([]byte(w)); v != n {
			t.Fatalf("%v for %v", v, w)
		}
	case []any:
		i := 0
		Members(h, v, func(e event.Value) bool {
			compare(t, h, e, w[i])
			i++
			return true
		})
		if v.Kind != event.List || i != len(w) || Count(v.Bytes(h)) != i {
			t.Fatalf("%d elements, want %d", i, len(w))
		}
	case map[string]any:
		for name, e := range w {
			start, end, ok := Find(v.Bytes(h), name)
			if !ok {
				t.Fatalf("no member %q", name)
			}
			compare(t, h, ReadAt(h, v.Bytes(h)[start:end], v.Ref().Off+uint32(start)), e)
		}
		for m := Each(v.Bytes(h)); m.Next(); {
			if _, ok := w[string(AppendUnescaped(nil, m.Name()))]; !ok {
				t.Fatalf("a member %q too many", m.Name())
			}
		}
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	text := []byte(`{"id":9007199254740993,"user":{"name":"x y","tags":["a","b"]},"amount":12.50,"rate":1e-3,"esc":"a\nb"}`)
	var h event.Heap
	r := h.Put(text)
	h.Put(make([]byte, 4096)) // room for the escaped text
	n := testing.AllocsPerRun(100, func() {
		if !Valid(h.Get(r)) {
			t.Fatal("refused")
		}
		for m := Each(h.Get(r)); m.Next(); {
			if m.Is("esc") {
				continue
			}
			ReadAt(&h, m.Value(), r.Off+uint32(m.Start))
		}
	})
	if n != 0 {
		t.Fatalf("%v allocations", n)
	}
}
