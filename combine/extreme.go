package combine

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/wgate/wgate/event"
)

func floatOf(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// extreme is min(x) and max(x): the accumulator is the value (cell.go), or nothing.
type extreme struct {
	final
	sign int // -1 for min, 1 for max
}

func newMin(event.Type) Func { return extreme{final{plain{"min", ordered}}, -1} }

func newMax(event.Type) Func { return extreme{final{plain{"max", ordered}}, 1} }

func (extreme) Init(dst []byte) []byte { return dst }

func (e extreme) Add(accs [][]byte, p *Batch) {
	for i, g := range p.Groups {
		v := p.Args[p.Rows[i]]
		if v.Kind <= event.Null {
			continue
		}
		acc := accs[g]
		if len(acc) == 0 || e.beats(p.Heap, v, acc) {
			accs[g] = AppendValue(acc[:0], p.Heap, v)
		}
	}
}

// beats reports whether v is to replace what acc holds.
func (e extreme) beats(h *event.Heap, v event.Value, acc []byte) bool {
	if k := event.Kind(acc[0]); k == event.String || k == event.Bytes {
		if v.Kind != k {
			return rankSign(v.Kind, k) == e.sign
		}
		return bytes.Compare(v.Bytes(h), acc[1:])*e.sign > 0
	}
	return compare(h, v, nil, readValue(acc, nil))*e.sign > 0
}

func rankSign(a, b event.Kind) int {
	if rank(a) < rank(b) {
		return -1
	}
	return 1
}

func (e extreme) Merge(acc, other []byte) []byte {
	if len(other) == 0 {
		return acc
	}
	if len(acc) > 0 {
		var h event.Heap
		if v := readValue(other, &h); !e.beats(&h, v, acc) {
			return acc
		}
	}
	return append(acc[:0], other...)
}

func (extreme) Extract(acc []byte, h *event.Heap) event.Value {
	if len(acc) == 0 {
		return event.NullValue()
	}
	return readValue(acc, h)
}

// timed is first(x) and last(x), by event time: the accumulator is the time of the element, 8 bytes, and its value, or
// nothing. Of elements at one time first keeps the first that arrived, last the last.
type timed struct {
	final
	last bool
}

func newFirst(event.Type) Func { return timed{final{plain{"first", anything}}, false} }

func newLast(event.Type) Func { return timed{final{plain{"last", anything}}, true} }

func (timed) Init(dst []byte) []byte { return dst }

func (f timed) Add(accs [][]byte, p *Batch) {
	for i, g := range p.Groups {
		row := p.Rows[i]
		v := p.Args[row]
		if isNull(p.Heap, v) {
			continue
		}
		acc := accs[g]
		if t := p.Times[row]; len(acc) == 0 || f.beats(t, acc) {
			acc = binary.LittleEndian.AppendUint64(acc[:0], uint64(t))
			accs[g] = AppendValue(acc, p.Heap, v)
		}
	}
}

func (f timed) beats(t event.Time, acc []byte) bool {
	held := event.Time(binary.LittleEndian.Uint64(acc))
	if f.last {
		return t >= held
	}
	return t < held
}

func (f timed) Merge(acc, other []byte) []byte {
	if len(other) == 0 || len(acc) > 0 && !f.beats(event.Time(binary.LittleEndian.Uint64(other)), acc) {
		return acc
	}
	return append(acc[:0], other...)
}

func (timed) Extract(acc []byte, h *event.Heap) event.Value {
	if len(acc) == 0 {
		return event.NullValue()
	}
	return readValue(acc[8:], h)
}
