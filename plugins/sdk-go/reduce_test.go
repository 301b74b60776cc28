package wgate

import (
	"fmt"
	"strings"
	"testing"
)

type sumCount struct {
	sum   float64
	count int64
}

// registered after the functions of harness_test.go: golden frames name functions by their order
func init() {
	Combiner("mean", 1, Fold[sumCount]{
		Add: func(acc *sumCount, args *Args) {
			v, ok := args.Float(0)
			switch {
			case !ok:
				args.Fail("no_number", "a number is needed")
			case v == 13:
				panic("unlucky")
			default:
				acc.sum += v
				acc.count++
			}
		},
		Merge: func(acc, other *sumCount) { acc.sum += other.sum; acc.count += other.count },
		Extract: func(acc *sumCount, out *Result) {
			switch {
			case acc.count > 100:
				out.Fail("too_many", "there are too many")
			case acc.count > 0:
				out.Float(acc.sum / float64(acc.count))
			}
		},
		Uncombine: func(acc *sumCount, args *Args) {
			v, _ := args.Float(0)
			acc.sum -= v
			acc.count--
		},
	}, Total())
	ByteCombiner("join", 2, ByteFold{
		Create: func() []byte { return []byte{'['} },
		Add: func(acc []byte, args *Args) []byte {
			a, _ := args.Text(0)
			return append(append(acc, a...), ',')
		},
		Merge:   func(acc, other []byte) []byte { return append(acc, other[1:]...) },
		Extract: func(acc []byte, out *Result) { out.Text(string(acc)) },
	})
}

func TestCombine(t *testing.T) {
	h, err := NewHarness("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fn    string
		parts [][][]any
		want  string
	}{
		{"mean", [][][]any{{{1}, {2.5}}}, "1.75 []"},
		{"mean", [][][]any{{{1}}, {{2}, {3}}, {}}, "2 []"},
		{"mean", [][][]any{{}}, "<nil> []"},
		{"mean", [][][]any{{{1}, {"x"}, {nil}, {3}}}, "2 [1 no_number 2 no_number]"},
		{"mean", [][][]any{{{1}, {13}, {3}}}, "2 [1 guest_trap]"},
		{"join", [][][]any{{{"a", 1}, {"b", nil}}, {{strings.Repeat("c", 100), true}}}, "[a,b," + strings.Repeat("c", 100) + ", []"},
	} {
		got, failed, err := h.Combine(c.fn, c.parts...)
		if err != nil {
			t.Error(err)
		}
		var bad []string
		for _, f := range failed {
			bad = append(bad, fmt.Sprint(f.Row, " ", f.Code))
		}
		if s := fmt.Sprint(got, " ", bad); s != c.want {
			t.Errorf("%s %v: got %s, want %s", c.fn, c.parts, s, c.want)
		}
	}
	many := make([][]any, 101)
	for i := range many {
		many[i] = []any{1}
	}
	if _, _, err := h.Combine("mean", many); err == nil || err.Error() != "too_many there are too many" {
		t.Error(err)
	}
	if !strings.Contains(h.Manifest(), `"kind":"combiner","args":1,"total":true,"uncombine":true}`) {
		t.Error(h.Manifest())
	}
}

func TestNotFixed(t *testing.T) {
	for _, v := range []any{struct{ p *int }{}, struct{ s string }{}, struct{ b bool }{}, struct {
		a int8
		b int64
	}{}, struct{}{}, [2][]byte{}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T was taken", v)
				}
			}()
			checkFixed("f", v)
		}()
	}
	checkFixed("f", struct {
		a [3]float64
		b uint32
		c int32
	}{})
}
