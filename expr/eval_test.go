package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// bench is a bundle for the tests, and the scope that goes with it.
type bench struct {
	b     *event.Bundle
	scope Scope
	slots map[string]int // nil: no columns, all is read from the value
}

// newBench makes a row of each line of JSON. A line may be followed by " | key JSON".
func newBench(lines []string) *bench {
	b := &event.Bundle{Heap: &event.Heap{}}
	for i, l := range lines {
		value, key, _ := strings.Cut(l, " | ")
		b.Times = append(b.Times, event.Time(1700000000000+int64(i)))
		b.Marks = append(b.Marks, 0)
		b.Ops = append(b.Ops, event.Insert)
		v := event.HeapValue(event.JSON, b.Heap.PutString(value))
		if value == "" {
			v = event.NullValue()
		}
		b.Values = append(b.Values, v)
		k := event.NullValue()
		if key != "" {
			k = jsontext.Read(b.Heap, b.Heap.PutString(key))
		}
		b.Keys = append(b.Keys, k)
	}
	return &bench{b: b}
}

// bind gives a program columns for its paths, filled as a decoder would without a schema.
func (x *bench) bind(e *Expr, columns bool) *Program {
	x.b.Fields = nil
	x.slots = map[string]int{}
	if columns {
		for _, p := range e.Paths() {
			x.slots[p.String()] = len(x.b.Fields)
			x.b.Fields = append(x.b.Fields, x.column(p))
		}
	}
	p := e.Bind(func(p Path) int {
		if !columns {
			return -1
		}
		return x.slots[p.String()]
	})
	p.SetEnv(Env{Topic: func(source, topic uint16) string { return fmt.Sprintf("topic-%d-%d", source, topic) }, Arrival: 42})
	return p
}

func (x *bench) column(p Path) []event.Value {
	var col []event.Value
	for _, v := range x.b.Values {
		v, _ = jsontext.Resolve(x.b.Heap, v)
		for _, name := range p {
			if v.Kind != event.Object {
				v = event.Value{}
				break
			}
			text := v.Bytes(x.b.Heap)
			start, end, ok := jsontext.Find(text, name)
			if !ok {
				v = event.Value{}
				break
			}
			v = jsontext.ReadAt(x.b.Heap, text[start:end], v.Ref().Off+uint32(start))
		}
		col = append(col, v)
	}
	return col
}

func (x *bench) show(v event.Value) string {
	switch v.Kind {
	case event.Error:
		code, text := ErrorText(x.b.Heap, v)
		return "error " + code + ": " + text
	case event.Missing:
		return "missing"
	case event.Bytes:
		return fmt.Sprintf("bytes %q", v.Bytes(x.b.Heap))
	case event.Instant:
		return "time " + v.Time().String()
	case event.Span:
		return "duration " + v.Duration().String()
	}
	s := string(jsontext.Append(nil, x.b.Heap, v))
	if v.Kind == event.Float || v.Kind == event.Decimal128 {
		s = v.Kind.String() + " " + s
	}
	return s
}

// TestEval runs testdata/eval. rows [source] [windowed] sets the rows, schema declares the type of value, eval gives one
// line of output for each row. Every expression is evaluated over columns and over whole values, twice, and must give the same.
func TestEval(t *testing.T) {
	datadriven.Walk(t, "testdata/eval", func(t *testing.T, path string) {
		var x *bench
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "rows":
				x = newBench(strings.Split(strings.TrimRight(d.Input, "\n"), "\n"))
				x.setScope(t, d)
				return ""
			case "schema":
				x.scope.Value, _ = (&parser{s: d.Input}).parseType()
				return ""
			case "eval":
				return x.eval(t, d.Input)
			}
			d.Fatalf(t, "unknown command")
			return ""
		})
	})
}

func (x *bench) setScope(t *testing.T, d *datadriven.TestData) {
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "source":
			x.scope.Source = true
			x.sourceRows()
		case "windowed":
			x.scope.Windowed = true
			for i := range x.b.Times {
				w := event.Window{Start: 0, End: 60000}
				if i > 0 {
					w = event.Global
				}
				x.b.Windows = append(x.b.Windows, w)
				x.b.Panes = append(x.b.Panes, event.Pane{Index: uint32(i), Timing: event.Timing(i % 3), First: i == 0, Last: true})
			}
		default:
			d.Fatalf(t, "unknown argument %s", a.Key)
		}
	}
}

func (x *bench) sourceRows() {
	for i := range x.b.Times {
		o := event.Origin{Topic: uint16(i), Partition: 3, Offset: int64(10 + i), Timestamp: event.Time(i)}
		if i > 0 {
			o.Timestamp = event.MinTime
		}
		x.b.Origins = append(x.b.Origins, o)
		start := uint32(len(x.b.Headers))
		if i == 0 {
			for _, h := range [][2]string{{"trace", "a"}, {"n", "null"}, {"trace", "b"}, {"e", ""}, {"raw", "\xff"}} {
				v := x.b.Heap.PutString(h[1])
				if h[1] == "null" {
					v = event.NullRef
				}
				x.b.Headers = append(x.b.Headers, event.Header{Key: x.b.Heap.PutString(h[0]), Value: v})
			}
		}
		x.b.Heads = append(x.b.Heads, event.HeadSpan{Start: start, End: uint32(len(x.b.Headers))})
	}
}

func (x *bench) eval(t *testing.T, input string) string {
	n, err := parse(strings.TrimSpace(input))
	if err != nil {
		t.Fatal(err)
	}
	e, problems := Check(n, x.scope)
	if len(problems) > 0 {
		t.Fatalf("%s: %v", input, problems)
	}
	if n2, err := parse(n.String()); err != nil || n2.String() != n.String() {
		t.Errorf("%s is written as %s, which does not read back: %v", input, n, err)
	}
	first := ""
	for round, columns := range []bool{true, false, true} {
		if columns && x.scope.Value.Kind == event.Object && round == 0 {
			continue // the test's columns know no types
		}
		p := x.bind(e, columns && x.scope.Value.Kind != event.Object)
		for range 2 {
			var lines []string
			for _, v := range p.Eval(x.b, nil) {
				lines = append(lines, x.show(v))
			}
			out := strings.Join(lines, "\n")
			if first == "" {
				first = out
			}
			if out != first {
				t.Errorf("%s gives\n%s\nand then (columns %v)\n%s", input, first, columns, out)
			}
			p = p.Clone()
		}
	}
	return first + "\n"
}
