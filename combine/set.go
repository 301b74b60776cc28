package combine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// set is set(x), the different elements as a JSON array in the order of their bytes, and count_distinct(x), how many there
// are. Nulls count for nothing. Elements are equal if their canonical JSON is (jsontext.Canon), so 1 and 1.0 are one;
// bytes, times and durations differ from the texts and numbers that they are written as. The accumulator holds each
// element once, in order:
//
//	how often it has come u64 | length uvarint | bytes
type set struct {
	plain
	count bool
}

func newSet(event.Type) Func { return set{plain{"set", anything}, false} }

func newCountDistinct(event.Type) Func { return set{plain{"count_distinct", anything}, true} }

func (set) Init(dst []byte) []byte { return dst }

func (s set) Add(accs [][]byte, p *Batch) { s.fold(accs, p, 1) }

func (s set) Uncombine(accs [][]byte, p *Batch) bool {
	s.fold(accs, p, ^uint64(0))
	return true
}

func (set) Merge(acc, other []byte) []byte {
	if len(acc) == 0 {
		return append(acc, other...)
	}
	return mergeSets(acc, &setReader{rest: other})
}

func (s set) Extract(acc []byte, h *event.Heap) event.Value {
	n := int64(0)
	out := append(make([]byte, 0, len(acc)+2), '[')
	for r := (setReader{rest: acc}); r.next(); n++ {
		if n > 0 {
			out = append(out, ',')
		}
		out = append(out, r.text[tagLen(r.text):]...)
	}
	if s.count {
		return event.IntValue(n)
	}
	return event.HeapValue(event.List, h.Put(append(out, ']')))
}

// setReader walks over the elements of an accumulator.
type setReader struct {
	rest  []byte
	entry []byte // the element as it stands there
	text  []byte
	times uint64
}

func (r *setReader) next() bool {
	if len(r.rest) == 0 {
		return false
	}
	n, w := binary.Uvarint(r.rest[8:])
	end := 8 + w + int(n)
	r.times = binary.LittleEndian.Uint64(r.rest)
	r.text, r.entry, r.rest = r.rest[8+w:end], r.rest[:end], r.rest[end:]
	return true
}

// element is an element of a batch, for one accumulator: its bytes are text[from:to].
type element struct {
	group    int32
	from, to int
}

// fold merges the elements of p into accs, all of one accumulator at once; times is 1, or -1 to take them back.
func (set) fold(accs [][]byte, p *Batch, times uint64) {
	var text []byte
	var canon jsontext.Canon
	elements := make([]element, 0, len(p.Groups))
	for i, g := range p.Groups {
		v := p.Args[p.Rows[i]]
		if isNull(p.Heap, v) {
			continue
		}
		from := len(text)
		text = appendElement(text, &canon, p.Heap, v)
		elements = append(elements, element{g, from, len(text)})
	}
	slices.SortFunc(elements, func(a, b element) int {
		return cmp.Or(cmp.Compare(a.group, b.group), bytes.Compare(text[a.from:a.to], text[b.from:b.to]))
	})
	var run []byte
	for len(elements) > 0 {
		g := elements[0].group
		run = run[:0]
		for len(elements) > 0 && elements[0].group == g {
			e := elements[0]
			same := uint64(0)
			for len(elements) > 0 && elements[0].group == g && bytes.Equal(text[elements[0].from:elements[0].to], text[e.from:e.to]) {
				same += times
				elements = elements[1:]
			}
			run = appendEntry(run, same, text[e.from:e.to])
		}
		if !bumpAll(accs[g], run) {
			accs[g] = mergeSets(accs[g], &setReader{rest: run})
		}
	}
}

func appendEntry(dst []byte, times uint64, text []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, times)
	dst = binary.AppendUvarint(dst, uint64(len(text)))
	return append(dst, text...)
}

// bumpAll adds the counts of run to those of acc if acc has all its elements and none of them goes; else it changes
// nothing.
func bumpAll(acc, run []byte) bool {
	for _, write := range [2]bool{false, true} {
		have := setReader{rest: acc}
		for r := (setReader{rest: run}); r.next(); {
			for more := have.next(); ; more = have.next() {
				if !more || bytes.Compare(have.text, r.text) > 0 {
					return false
				}
				if bytes.Equal(have.text, r.text) {
					break
				}
			}
			switch {
			case write:
				bump(have.entry, 0, r.times)
			case have.times+r.times == 0:
				return false
			}
		}
	}
	return true
}

// mergeSets adds the elements of r to acc. Those that come to nothing go.
func mergeSets(acc []byte, r *setReader) []byte {
	old := slices.Clone(acc)
	have := setReader{rest: old}
	acc = acc[:0]
	a, b := have.next(), r.next()
	for a || b {
		order := -1
		switch {
		case !a:
			order = 1
		case b:
			order = bytes.Compare(have.text, r.text)
		}
		switch {
		case order < 0:
			acc = append(acc, have.entry...)
		case order > 0:
			acc = append(acc, r.entry...)
		case have.times+r.times != 0:
			acc = appendEntry(acc, have.times+r.times, have.text)
		}
		if order <= 0 {
			a = have.next()
		}
		if order >= 0 {
			b = r.next()
		}
	}
	return acc
}

// appendElement appends the bytes by which v is told from other elements: its canonical JSON, after a tag if its kind is
// written as another.
func appendElement(dst []byte, c *jsontext.Canon, h *event.Heap, v event.Value) []byte {
	switch v.Kind {
	case event.Bytes:
		dst = append(dst, 1)
	case event.Instant:
		dst = append(dst, 2)
	case event.Span:
		dst = append(dst, 3)
	case event.JSON:
		if b := v.Bytes(h); len(b) > 0 && (b[0] == '-' || '0' <= b[0] && b[0] <= '9') {
			return appendElement(dst, c, h, jsontext.Number(b))
		}
	case event.Float:
		from := len(dst)
		dst = jsontext.AppendFloat(dst, v.Float())
		if d, ok := event.ParseDecimal(dst[from:]); ok { // as an equal decimal is written
			dst = d.AppendTo(dst[:from])
		}
		return dst
	}
	return c.Append(dst, h, v)
}

// tagLen returns how many bytes of an element are its tag.
func tagLen(text []byte) int {
	if len(text) > 0 && text[0] < ' ' {
		return 1
	}
	return 0
}
