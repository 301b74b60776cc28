package jsontext

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSplice(t *testing.T) {
	o17 := `{"id":9007199254740993,"u":18446744073709551615,"d":12345678901234567890.123456789,"n":1}`
	for _, c := range []struct {
		name, in string
		set      []Member
		drop     []string
		want     string
	}{
		{"digits stay", o17, []Member{{"m", []byte("2")}}, nil, o17[:len(o17)-1] + `,"m":2}`},
		{"in place", `{"a" : 1, "b":2 }`, []Member{{"a", []byte("9")}}, nil, `{"a" : 9, "b":2 }`},
		{"new before the last white space", `{ "a": 1.50 }`, []Member{{"b", []byte("2")}}, nil, `{ "a": 1.50,"b":2 }`},
		{"into nothing", ` {} `, []Member{{"b", []byte("2")}, {"c", []byte(`"x"`)}}, nil, ` {"b":2,"c":"x"} `},
		{"drop first", `{"a":1, "b":2}`, nil, []string{"a"}, `{ "b":2}`},
		{"drop last", `{"a":1, "b":2}`, nil, []string{"b"}, `{"a":1}`},
		{"drop all", `{"a":1, "b":2}`, nil, []string{"b", "a"}, `{}`},
		{"repeated names", `{"a":1,"b":2,"a":3}`, []Member{{"a", []byte("0")}}, nil, `{"a":0,"b":2,"a":0}`},
		{"drop repeated", `{"a":1,"b":2,"a":3}`, nil, []string{"a"}, `{"b":2}`},
		{"escaped name", `{"\u0061":1}`, []Member{{"a", []byte("2")}}, nil, `{"\u0061":2}`},
		{"name to escape", `{"a":1}`, []Member{{`q"`, []byte("2")}}, nil, `{"a":1,"q\"":2}`},
		{"set wins over drop", `{"a":1}`, []Member{{"a", []byte("2")}}, []string{"a"}, `{"a":2}`},
	} {
		got, err := Splice(nil, []byte(c.in), c.set, c.drop)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
	}
	got, err := Keep([]byte("x"), []byte(`{"a":1 , "b": 2.0,"c":3}`), []string{"b", "z"})
	if want := `x{ "b": 2.0}`; err != nil || string(got) != want {
		t.Errorf("keep: %s, %v; want %s", got, err, want)
	}
	if got, err := Set([]byte("x"), []byte(`[1]`), "a", nil); err == nil || string(got) != "x" {
		t.Errorf("a list took a field: %s", got)
	}
}

func TestSpliceProperty(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", `"`, "é", ""})
	rapid.Check(t, func(t *rapid.T) {
		doc := documents().Filter(func(s string) bool { return s[Space([]byte(s), 0)] == '{' }).Draw(t, "document")
		set := []Member{{names.Draw(t, "set"), []byte(documents().Draw(t, "value"))}}
		drop := []string{names.Draw(t, "drop")}
		got, err := Splice(nil, []byte(doc), set, drop)
		if err != nil || !Valid(got) {
			t.Fatalf("%q: %v", got, err)
		}
		want := decode(t, doc).(map[string]any)
		delete(want, drop[0])
		want[set[0].Name] = decode(t, string(set[0].Text))
		if diff := cmp.Diff(want, decode(t, string(got))); diff != "" {
			t.Fatalf("%q: %s", got, diff)
		}
		same, err := Splice(nil, []byte(doc), nil, []string{"a name that does not occur"})
		if err != nil || string(same) != doc && Count([]byte(doc)) > 0 {
			t.Fatalf("%q became %q", doc, same)
		}
	})
}

func TestStringsAgainstStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("ab\"\\\n\xc3\xa9")))).Draw(t, "bytes"))
		q := AppendString(nil, s)
		var back string
		if err := json.Unmarshal(q, &back); err != nil {
			t.Fatalf("%q is written as %q: %v", s, q, err)
		}
		std, _ := json.Marshal(s)
		var want string
		if err := json.Unmarshal(std, &want); err != nil || back != want {
			t.Fatalf("%q is written as %q", s, q)
		}
		if string(AppendUnescaped(nil, q[1:len(q)-1])) != want || !SameText(q[1:len(q)-1], want) || SameText(q[1:len(q)-1], want+"x") {
			t.Fatalf("%q does not read back", q)
		}
	})
}
