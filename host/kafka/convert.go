package kafka

import (
	"fmt"
	"unicode/utf8"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/event"
)

// take copies records of f into b until one of the two is through, and moves the partition's position. What is left of f
// stays in it. The caller holds mu.
func (s *Session) take(b *event.Bundle, f *fetched) error {
	p := f.part
	src := p.topic.src
	stop, bounded := src.bounded()
	for len(f.records) > 0 {
		r := f.records[0]
		if f.life != p.life || !p.owned {
			p.dropped += uint64(len(f.records))
			f.records = nil
			return nil
		}
		if r.Offset < p.next {
			return fault(CodeStaleRecord, fmt.Sprintf("topic %q partition %d: record at offset %d came after the position was set to %d", p.topic.name, p.id, r.Offset, p.next), nil,
				"this is a fault of the client; start the pipeline again and report it")
		}
		if !r.Attrs.IsControl() {
			if bounded && event.TimeOf(r.Timestamp) >= stop && (p.stop < 0 || r.Offset < p.stop) {
				p.stop = r.Offset
			}
			if p.stop >= 0 && r.Offset >= p.stop {
				p.next = max(p.next, p.stop)
				f.records = nil
				return nil
			}
			if b.Len() >= event.BundleRows || b.Len() > 0 && b.Heap.Len()+size(r) > event.BundleBytes {
				return nil
			}
			appendRecord(b, r, p)
		}
		p.next, p.sought = r.Offset+1, false
		f.records[0] = nil
		f.records = f.records[1:]
		r.Recycle()
	}
	return nil
}

// size is how many bytes of a heap a record takes.
func size(r *kgo.Record) int {
	n := len(r.Key) + len(r.Value)
	for i := range r.Headers {
		n += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	return n
}

// appendRecord adds a record as a row of b, its bytes copied into the heap. Null and empty stay two things.
func appendRecord(b *event.Bundle, r *kgo.Record, p *part) {
	row := len(b.Times)
	b.Times = append(b.Times, 0)
	b.Marks = append(b.Marks, 0)
	b.Ops = append(b.Ops, event.Insert)
	kind := event.String
	if !utf8.Valid(r.Key) {
		kind = event.Bytes
	}
	b.Keys = append(b.Keys, event.HeapValue(kind, b.Heap.Put(r.Key)))
	b.Values = append(b.Values, event.HeapValue(p.topic.src.Raw, b.Heap.Put(r.Value)))
	b.Origins = append(b.Origins, event.Origin{
		Source: uint16(p.topic.src.Index), Topic: p.topic.index, Partition: p.id, Offset: r.Offset,
		Timestamp: event.TimeOf(r.Timestamp),
	})
	if len(r.Headers) == 0 && len(b.Heads) == 0 {
		return
	}
	at := uint32(len(b.Headers))
	for len(b.Heads) < row { // the rows before had none
		b.Heads = append(b.Heads, event.HeadSpan{Start: at, End: at})
	}
	for i := range r.Headers {
		h := &r.Headers[i]
		b.Headers = append(b.Headers, event.Header{Key: b.Heap.PutString(h.Key), Value: b.Heap.Put(h.Value)})
	}
	b.Heads = append(b.Heads, event.HeadSpan{Start: at, End: uint32(len(b.Headers))})
}
