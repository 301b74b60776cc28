package expr

import (
	"fmt"
	"testing"

	"github.com/wgate/wgate/event"
)

// thousand is a bundle of 1000 rows with columns, as a decoder would fill them.
func thousand() *bench {
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"user":"User-%d","amount":%d.25,"n":%d,"country":"DE","ok":true}`, i%7, i, i)
	}
	return newBench(lines)
}

// TestScalarsAllocateNothing holds the promise that scalar work costs no memory for a row, once a program is warm.
func TestScalarsAllocateNothing(t *testing.T) {
	for _, in := range []string{
		`value.amount`, `value.amount > 50 && value.country != "XX"`, `value.n * 100 + 1`, `value.amount * value.n / 3`,
		`value.ok ? value.n : 0`, `coalesce(value.nothing, value.n)`, `lower(value.user)`, `hash(value.user) % 16`,
		`"${value.user}/${value.n}"`, `{ user = value.user, n = value.n }`, `value.nothing + 1 > 0`, `matches(value.user, "^User-[1-3]$")`,
		`value.n == value.amount`, `has(value.n) || value.n < value.amount`, `to_int(value.amount)`, `timestamp(value.n) + duration("1s")`,
	} {
		n, err := parse(in)
		if err != nil {
			t.Fatal(err)
		}
		x := thousand()
		e, problems := Check(n, x.scope)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		p := x.bind(e, true)
		x.b.Heap.Begin()
		x.b.Heap.Put(make([]byte, 1<<22)) // room, so that the heap does not grow
		heap := *x.b.Heap
		out := make([]event.Value, 0, 1000)
		out = p.Eval(x.b, out)
		allocs := testing.AllocsPerRun(3, func() {
			*x.b.Heap = heap
			out = p.Eval(x.b, out[:0])
		})
		// Errors are made once a bundle, and under -race a pool (of regexp) forgets some of what it holds; an allocation
		// for a row would make 1000.
		if allocs > 500 {
			t.Errorf("%s: %v allocations for 1000 rows", in, allocs)
		}
	}
}

// TestColumnIsNotCopied holds that reading a field gives the bundle's own column.
func TestColumnIsNotCopied(t *testing.T) {
	x := thousand()
	n, err := parse("value.n")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := Check(n, x.scope)
	col := x.bind(e, true).Column(x.b)
	if &col[0] != &x.b.Fields[0][0] {
		t.Error("the column was copied")
	}
}

func BenchmarkWhere(b *testing.B) {
	x := thousand()
	n, err := parse(`value.amount > 50 && value.country != "XX"`)
	if err != nil {
		b.Fatal(err)
	}
	e, _ := Check(n, x.scope)
	p := x.bind(e, true)
	for b.Loop() {
		p.Column(x.b)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}
