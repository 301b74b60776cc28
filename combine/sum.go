package combine

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/wgate/wgate/event"
)

// sum is sum(x). Its accumulator is a total: see total.go. The result is an int if all elements were ints, a float if one
// was a float, else a decimal; a declared type of the argument is kept also over nothing.
type sum struct {
	plain
	declared event.Kind
}

func newSum(arg event.Type) Func { return sum{plain{"sum", numbers}, arg.Kind} }

func (sum) Init(dst []byte) []byte { return totalInit(dst) }

func (sum) Add(accs [][]byte, p *Batch) { addTotals(accs, p) }

func (sum) Uncombine(accs [][]byte, p *Batch) bool { return subTotals(accs, p) }

func (sum) Merge(acc, other []byte) []byte { return totalMerge(acc, other) }

func addTotals(accs [][]byte, p *Batch) {
	for i, g := range p.Groups {
		v := p.Args[p.Rows[i]]
		if v.Kind == event.Int { // the most frequent case, without a call
			t := accs[g]
			x := v.Int()
			bump(t, 1, 1)
			lo := binary.LittleEndian.Uint64(t[totalInts:])
			hi := binary.LittleEndian.Uint64(t[totalInts+8:]) + uint64(x>>63)
			s := lo + uint64(x)
			if s < lo {
				hi++
			}
			binary.LittleEndian.PutUint64(t[totalInts:], s)
			binary.LittleEndian.PutUint64(t[totalInts+8:], hi)
			continue
		}
		if v.Kind > event.Null {
			accs[g] = totalAdd(accs[g], v)
		}
	}
}

func subTotals(accs [][]byte, p *Batch) bool {
	for i, g := range p.Groups {
		if v := p.Args[p.Rows[i]]; v.Kind > event.Null {
			accs[g] = totalSub(accs[g], v)
		}
	}
	return true
}

func (s sum) Extract(acc []byte, h *event.Heap) event.Value {
	switch {
	case acc[0]&(hasFloat|hasSpecial) != 0 || s.declared == event.Float:
		return event.FloatValue(totalFloat64(acc))
	case acc[0]&hasDecimal != 0 || s.declared == event.Decimal128:
		d, ok := totalDecimal(acc)
		if !ok {
			return overflow(h, "the sum is out of the range of decimals")
		}
		return event.DecimalValue(d)
	}
	hi, lo, _ := fits128(acc[totalInts:totalHead])
	if hi != int64(lo)>>63 {
		return overflow(h, "the sum is out of the range of ints: convert with to_decimal or to_float")
	}
	return event.IntValue(int64(lo))
}

// mean is mean(x): a total, divided by how many there are and rounded once. It is null over nothing.
type mean struct{ plain }

func newMean(event.Type) Func { return mean{plain{"mean", numbers}} }

func (mean) Init(dst []byte) []byte { return totalInit(dst) }

func (mean) Add(accs [][]byte, p *Batch) { addTotals(accs, p) }

func (mean) Uncombine(accs [][]byte, p *Batch) bool { return subTotals(accs, p) }

func (mean) Merge(acc, other []byte) []byte { return totalMerge(acc, other) }

func (mean) Extract(acc []byte, _ *event.Heap) event.Value {
	n := totalCount(acc)
	if n == 0 {
		return event.NullValue()
	}
	if f, ok := totalSpecial(acc); ok {
		return event.FloatValue(f)
	}
	const exact = 1 << 53
	if hi, lo, _ := fits128(acc[totalInts:totalHead]); acc[0] == 0 && n < exact && hi == int64(lo)>>63 {
		if i := int64(lo); -exact < i && i < exact { // both are floats: one division rounds once
			return event.FloatValue(float64(i) / float64(n))
		}
	}
	r := totalRat(acc)
	f, _ := r.Quo(r, new(big.Rat).SetInt(new(big.Int).SetUint64(n))).Float64()
	if f == 0 {
		f = math.Abs(f)
	}
	return event.FloatValue(f)
}
