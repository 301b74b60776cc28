package combine

import (
	"encoding/binary"

	"github.com/wgate/wgate/event"
)

// countRows is count(): the accumulator is the number of elements, 8 bytes.
type countRows struct{ plain }

func newCountRows() Func { return countRows{plain{"count", anything}} }

func (countRows) Init(dst []byte) []byte { return append(dst, make([]byte, 8)...) }

func (countRows) Add(accs [][]byte, p *Batch) {
	for _, g := range p.Groups {
		bump(accs[g], 0, 1)
	}
}

func (countRows) Uncombine(accs [][]byte, p *Batch) bool {
	for _, g := range p.Groups {
		bump(accs[g], 0, ^uint64(0))
	}
	return true
}

func (countRows) Merge(acc, other []byte) []byte {
	bump(acc, 0, binary.LittleEndian.Uint64(other))
	return acc
}

func (countRows) Extract(acc []byte, _ *event.Heap) event.Value {
	return event.IntValue(int64(binary.LittleEndian.Uint64(acc)))
}

// bump adds n to the 8 bytes of acc at off.
func bump(acc []byte, off int, n uint64) {
	b := acc[off : off+8]
	binary.LittleEndian.PutUint64(b, binary.LittleEndian.Uint64(b)+n)
}

// countValues is count(x): elements of which x is not null.
type countValues struct{ countRows }

func newCount(event.Type) Func { return countValues{countRows{plain{"count", anything}}} }

func (countValues) Add(accs [][]byte, p *Batch) {
	for i, g := range p.Groups {
		if !isNull(p.Heap, p.Args[p.Rows[i]]) {
			bump(accs[g], 0, 1)
		}
	}
}

func (countValues) Uncombine(accs [][]byte, p *Batch) bool {
	for i, g := range p.Groups {
		if !isNull(p.Heap, p.Args[p.Rows[i]]) {
			bump(accs[g], 0, ^uint64(0))
		}
	}
	return true
}

// quantifier is any(x) and all(x): the accumulator is how often x was false and how often true, 8 bytes each.
type quantifier struct {
	plain
	all bool
}

func newAny(event.Type) Func { return quantifier{plain{"any", setOf(event.Bool)}, false} }

func newAll(event.Type) Func { return quantifier{plain{"all", setOf(event.Bool)}, true} }

func (quantifier) Init(dst []byte) []byte { return append(dst, make([]byte, 16)...) }

func (q quantifier) Add(accs [][]byte, p *Batch) { q.count(accs, p, 1) }

func (q quantifier) Uncombine(accs [][]byte, p *Batch) bool {
	q.count(accs, p, ^uint64(0))
	return true
}

func (quantifier) count(accs [][]byte, p *Batch, n uint64) {
	for i, g := range p.Groups {
		v := p.Args[p.Rows[i]]
		switch {
		case v.Kind != event.Bool:
		case v.Bool():
			bump(accs[g], 8, n)
		default:
			bump(accs[g], 0, n)
		}
	}
}

func (quantifier) Merge(acc, other []byte) []byte {
	bump(acc, 0, binary.LittleEndian.Uint64(other))
	bump(acc, 8, binary.LittleEndian.Uint64(other[8:]))
	return acc
}

func (q quantifier) Extract(acc []byte, _ *event.Heap) event.Value {
	if q.all {
		return event.BoolValue(binary.LittleEndian.Uint64(acc) == 0)
	}
	return event.BoolValue(binary.LittleEndian.Uint64(acc[8:]) != 0)
}
