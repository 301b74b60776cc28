package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/event"
)

// TestCheck runs testdata/check. scope [source] [windowed] [novalue] [norow] sets the scope; its input is the type of
// value. check gives the type of the expression and what it reads, or its problems.
func TestCheck(t *testing.T) {
	datadriven.Walk(t, "testdata/check", func(t *testing.T, path string) {
		var sc Scope
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "scope":
				sc = Scope{}
				if in := strings.TrimSpace(d.Input); in != "" {
					sc.Value, _ = (&parser{s: in}).parseType()
				}
				sc.Source, sc.Windowed = d.HasArg("source"), d.HasArg("windowed")
				sc.NoValue, sc.NoRow = d.HasArg("novalue"), d.HasArg("norow")
				return ""
			case "check":
				return checkAll(t, d.Input, sc)
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

// checkAll checks each line.
func checkAll(t *testing.T, input string, sc Scope) string {
	var b strings.Builder
	for _, line := range strings.Split(strings.TrimSpace(input), "\n") {
		n, err := parse(line)
		if err != nil {
			t.Fatal(err)
		}
		e, problems := Check(n, sc)
		for _, p := range problems {
			fmt.Fprintf(&b, "%d-%d: %s. %s\n", p.Pos.StartByte, p.Pos.EndByte, p.Summary, p.Detail)
		}
		if e == nil {
			continue
		}
		fmt.Fprintf(&b, "%s", e.Type())
		for _, p := range e.Paths() {
			fmt.Fprintf(&b, " %s", p)
		}
		if u := e.Uses(); u != (Uses{}) {
			fmt.Fprintf(&b, " %+v", u)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestConstant(t *testing.T) {
	for in, want := range map[string]event.Literal{
		"1 + 2 * 3":             {Kind: event.Int, Value: event.IntValue(7)},
		`"a${1 + 1}"`:           {Kind: event.String, Text: "a2"},
		`[1, { a = "x" }]`:      {Kind: event.List, Text: `[1,{"a":"x"}]`},
		`duration("90s")`:       {Kind: event.Span, Value: event.DurationValue(90000)},
		"true ? null : 1":       {Kind: event.Null, Value: event.NullValue()},
		`at(["a", "b"], -1)`:    {Kind: event.String, Text: "b"},
		`[for x in [1] : x][0]`: {Kind: event.Int, Value: event.IntValue(1)},
	} {
		n, err := parse(in)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := Constant(n)
		if strings.Contains(in, "for") {
			if ok {
				t.Errorf("%s is folded although it has variables", in)
			}
			continue
		}
		if !ok || !cmp.Equal(got, want, cmp.AllowUnexported(event.Value{})) {
			t.Errorf("%s is %+v, %v; want %+v", in, got, ok, want)
		}
	}
	for _, in := range []string{"value.x", "key", "1 / 0", "arrival()", `"a" + 1`} {
		n, err := parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := Constant(n); ok {
			t.Errorf("%s is the constant %+v", in, got)
		}
	}
}

func TestAs(t *testing.T) {
	x := newBench([]string{`{"a":1}`, `{"a":1.5}`, `{"a":"s"}`, `{"a":null}`, `{}`})
	n, err := parse("value.a")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := Check(n, x.scope)
	for k, want := range map[event.Kind]string{
		event.Decimal128: "decimal 1\ndecimal 1.5\nerror wrong_type: value.a is a string where a decimal is needed\n" +
			"error wrong_type: value.a is null where a decimal is needed\nerror missing_field: value.a is missing where a decimal is needed\n",
		event.Float: "float 1\nfloat 1.5\nerror wrong_type: value.a is a string where a float is needed\n" +
			"error wrong_type: value.a is null where a float is needed\nerror missing_field: value.a is missing where a float is needed\n",
	} {
		as, problems := e.As(k)
		if len(problems) > 0 || as.Type().Kind != k {
			t.Fatalf("%v: %v", k, problems)
		}
		got := ""
		for _, v := range x.bind(as, true).Eval(x.b, nil) {
			got += x.show(v) + "\n"
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	text, err := parse(`"x"`)
	if err != nil {
		t.Fatal(err)
	}
	e, _ = Check(text, Scope{})
	if _, problems := e.As(event.Bool); len(problems) != 1 || !strings.Contains(problems[0].Detail, "a string") {
		t.Errorf("a string as a bool: %v", problems)
	}
}

func TestSuggest(t *testing.T) {
	names := []string{"lower", "upper", "allowed_lateness", "x"}
	for in, want := range map[string]string{"lowr": "lower", "alowed_lateness": "allowed_lateness", "Uper": "upper", "zzz": "", "": ""} {
		if got := Suggest(in, names); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
