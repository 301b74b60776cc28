package combine

import (
	"encoding/binary"
	"slices"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// list is list(x): the elements by event time, then arrival, as a JSON array; nulls are left out. The accumulator holds
// them as they arrived: time 8 bytes, length uvarint, value.
type list struct{ final }

func newList(event.Type) Func { return list{final{plain{"list", anything}}} }

func (list) Init(dst []byte) []byte { return dst }

func (list) Add(accs [][]byte, p *Batch) {
	for i, g := range p.Groups {
		row := p.Rows[i]
		v := p.Args[row]
		if isNull(p.Heap, v) {
			continue
		}
		acc := binary.LittleEndian.AppendUint64(accs[g], uint64(p.Times[row]))
		acc = binary.AppendUvarint(acc, uint64(valueLen(v)))
		accs[g] = AppendValue(acc, p.Heap, v)
	}
}

func (list) Merge(acc, other []byte) []byte { return append(acc, other...) }

// member is an element of a list: its time, and where in the accumulator its value is.
type member struct {
	time     event.Time
	from, to int
}

func (list) Extract(acc []byte, h *event.Heap) event.Value {
	members := make([]member, 0, 16)
	sorted := true
	for at := 0; at < len(acc); {
		t := event.Time(binary.LittleEndian.Uint64(acc[at:]))
		n, w := binary.Uvarint(acc[at+8:])
		from := at + 8 + w
		at = from + int(n)
		sorted = sorted && (len(members) == 0 || members[len(members)-1].time <= t)
		members = append(members, member{t, from, at})
	}
	if !sorted {
		slices.SortStableFunc(members, func(a, b member) int {
			switch {
			case a.time < b.time:
				return -1
			case a.time > b.time:
				return 1
			}
			return 0
		})
	}
	var tmp event.Heap
	out := append(make([]byte, 0, len(acc)+2), '[')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		tmp.Reset()
		out = jsontext.Append(out, &tmp, readValue(acc[m.from:m.to], &tmp))
	}
	return event.HeapValue(event.List, h.Put(append(out, ']')))
}
