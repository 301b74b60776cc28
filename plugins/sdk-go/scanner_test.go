package wgate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// walk writes what a Scanner says about text.
func walk(text string) string {
	s := Scan([]byte(text))
	var b strings.Builder
	for s.Next() {
		fmt.Fprintf(&b, "%s=%s", s.Name(), s.Raw())
		if v, ok := s.Int(); ok {
			fmt.Fprintf(&b, "(int %d)", v)
		} else if v, ok := s.Float(); ok {
			fmt.Fprintf(&b, "(float %v)", v)
		}
		if v, ok := s.Text(); ok {
			fmt.Fprintf(&b, "(text %s)", v)
		}
		if v, ok := s.Bool(); ok {
			fmt.Fprintf(&b, "(bool %v)", v)
		}
		b.WriteString(" ")
	}
	if s.Err() != nil {
		b.WriteString("! " + s.Err().Error())
	}
	return strings.TrimSpace(b.String())
}

func TestScanner(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{}`, ``},
		{` [ ] `, ``},
		{`{"a":1}`, `a=1(int 1)`},
		{`{"user":"u17","team":"red","points":7,"ts":1767225600000,"kind":"goal"}`,
			`user="u17"(text u17) team="red"(text red) points=7(int 7) ts=1767225600000(int 1767225600000) kind="goal"(text goal)`},
		{` { "a" : true , "b" : false , "c" : null } `, `a=true(bool true) b=false(bool false) c=null`},
		{`[1,-2,3.5,-0,1e3]`, `=1(int 1) =-2(int -2) =3.5(float 3.5) =-0(int 0) =1e3(float 1000)`},
		{`{"a":9223372036854775807,"b":9223372036854775808,"c":-9223372036854775808}`,
			`a=9223372036854775807(int 9223372036854775807) b=9223372036854775808(float 9.223372036854776e+18) c=-9223372036854775808(int -9223372036854775808)`},
		{`{"a":12345678,"b":123456789,"c":1234567890123456,"d":12345678901234567}`,
			`a=12345678(int 12345678) b=123456789(int 123456789) c=1234567890123456(int 1234567890123456) d=12345678901234567(int 12345678901234567)`},
		{`{"o":{"x":[1,"}"]},"l":[[],{}]}`, `o={"x":[1,"}"]} l=[[],{}]`},
		{`{"a":"x\n\u00e9\ud83d\ude00\"","a\u0062":1}`, "a=\"x\\n\\u00e9\\ud83d\\ude00\\\"\"(text x\né😀\") ab=1(int 1)"},
		{`{"a":"\ud800"}`, "a=\"\\ud800\"(text \ufffd)"},
		{`{"a very long name indeed":"and a very long value, longer than any word"}`,
			`a very long name indeed="and a very long value, longer than any word"(text and a very long value, longer than any word)`},
		{`{"é":"ü"}`, `é="ü"(text ü)`},
		{`1`, `! neither a JSON object nor an array`},
		{``, `! neither a JSON object nor an array`},
		{`{"a":1`, `a=1(int 1) ! not valid JSON`},
		{`{"a":1}x`, `a=1(int 1) ! not valid JSON`},
		{`{"a":1,}`, `a=1(int 1) ! not valid JSON`},
		{`{"a":01}`, `! not valid JSON`},
		{`{"a":1.}`, `! not valid JSON`},
		{`{"a":-}`, `! not valid JSON`},
		{`{"a":1e}`, `! not valid JSON`},
		{`{"abcdef":012,"b":2}`, `! not valid JSON`},
		{`{"a" 1}`, `! not valid JSON`},
		{`{a:1}`, `! not valid JSON`},
		{`{,"a":1}`, `! not valid JSON`},
		{`[1 2]`, `=1(int 1) ! not valid JSON`},
		{`{"a":tru}`, `! not valid JSON`},
		{"{\"a\":\"\n\"}", `! not valid JSON`},
		{`{"a":"\x"}`, `! not valid JSON`},
		{`{"a":"b}`, `! not valid JSON`},
		{`{"a":{`, `! not valid JSON`},
	} {
		if got := walk(c.in); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" || !strings.Contains(c.want, "!") && got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

// FuzzScanner compares with encoding/json: what that accepts must be walked, with equal values.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{"user":"u17","team":"red","points":7,"ts":1767225600000,"kind":"goal"}`, `[1,2.5e3,"x",null,[{}]]`, `{"":""}`,
		`{"a\n":"\u12","b":-1.5}`, "{\"abcdefgh\":\"12345678\",\"abcdefghi\":\"1234567890123456\",\"n\":12345678}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := Scan(b)
		type pair struct{ name, raw string }
		var got []pair
		for s.Next() {
			got = append(got, pair{string(s.Name()), string(s.Raw())})
			if v, ok := s.Int(); ok {
				if want := json.Number(s.Raw()); want.String() != fmt.Sprint(v) && want.String() != "-0" {
					t.Fatalf("%s is read as %d", want, v)
				}
			}
			if v, ok := s.Text(); ok && json.Valid(s.Raw()) {
				var want string
				if err := json.Unmarshal(s.Raw(), &want); err != nil || want != strings.ToValidUTF8(string(v), "\ufffd") && !strings.Contains(want, "\ufffd") {
					t.Fatalf("%s is read as %q, want %q", s.Raw(), v, want)
				}
			}
		}
		if !json.Valid(b) {
			return
		}
		if c := bytes.TrimLeft(b, " \t\r\n")[0]; c != '{' && c != '[' {
			if s.Err() == nil {
				t.Fatalf("%s is accepted", b)
			}
			return
		}
		if s.Err() != nil {
			t.Fatalf("%s: %v", b, s.Err())
		}
		d := json.NewDecoder(bytes.NewReader(b))
		open, _ := d.Token()
		for i := 0; d.More(); i++ {
			if i >= len(got) {
				t.Fatalf("%s: only %d values are found", b, len(got))
			}
			if open == json.Delim('{') {
				if name, _ := d.Token(); name != got[i].name && !strings.Contains(name.(string), "\ufffd") {
					t.Fatalf("%s: name %q, want %q", b, got[i].name, name)
				}
			}
			var raw json.RawMessage
			if err := d.Decode(&raw); err != nil || string(raw) != got[i].raw {
				t.Fatalf("%s: value %s, want %s", b, got[i].raw, raw)
			}
		}
	})
}

// TestObject compares with encoding/json, for texts and numbers of all lengths.
func TestObject(t *testing.T) {
	var o Emitter
	o.reset(1)
	o.begin(0)
	names := []string{"", "a", "ab", "abc", "abcd", "abcdefg", "abcdefgh", "abcdefghijklmno", "abcdefghijklmnop", "abcdefghijklmnopq", "a\"b", "é", "ab\x01cdefgh\\", strings.Repeat("x", 100)}
	ints := []int64{0, 7, 10, 99, 12345678, 99999999, 100000000, 1767225600000, 9999999999999999, 10000000000000000, -1, -99999999, 1<<63 - 1, -1 << 63}
	for i, name := range names {
		for j := range ints {
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			_ = enc.Encode(name)
			q := strings.TrimSpace(want.String())
			w := o.Object()
			w.Int(name, ints[j]).Raw("r", []byte(q)).Text("t", []byte(name)).Open("o").Float("f", float64(ints[j])/3).Close().Null("z")
			w.Emit()
			e := o.emits[len(o.emits)-1]
			got := string(o.frame[e.offset : e.offset+e.length])
			f, _ := json.Marshal(float64(ints[j]) / 3)
			if exp := fmt.Sprintf(`{%s:%d,"r":%s,"t":%s,"o":{"f":%s},"z":null}`, q, ints[j], q, q, f); got != exp {
				t.Errorf("%d, %d: %s\nwant %s", i, j, got, exp)
			}
		}
	}
}

func TestFloat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{1e21, "1e+21"}, {1e20, "100000000000000000000"}, {1e-6, "0.000001"}, {1e-7, "1e-7"}, {0, "0"}, {-1.5, "-1.5"}, {1.0 / 3, "0.3333333333333333"}, {1e-100, "1e-100"},
	} {
		if got := string(appendFloat(nil, c.v)); got != c.want {
			t.Errorf("%v is printed as %s, want %s", c.v, got, c.want)
		}
	}
}
