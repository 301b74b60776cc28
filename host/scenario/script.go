package scenario

import (
	"context"
	"strconv"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

// script is the inputs and the clock of a task. What it has given stays in its log, as records stay in a topic: after a
// crash it is read again from the committed positions on.
type script struct {
	now     event.Time
	sources []source
	log     []entry
	kept    int    // length of the log at the last commit
	next    *entry // the record that the task reads next; nil if there is none
	ended   bool
}

// source is one source of the pipeline.
type source struct {
	topic   string
	decode  string
	offsets []int64 // by partition: of the next record that arrives
	read    []int64 // by partition: of the next record that the task reads
}

// entryKind says what stands in the log.
type entryKind uint8

const (
	record entryKind = iota
	mark
	idle
	end
)

// entry is a record, or something that happened between two records.
type entry struct {
	kind   entryKind
	source int
	parts  []engine.Partition // mark, idle
	at     event.Time         // mark: the watermark; record: its timestamp
	offset int64
	rec    *config.Arrival
}

// newScript returns the script's ports for a pipeline. Every source has the partitions that the script names, and at least
// one.
func newScript(p *config.Pipeline, s *config.Scenario) *script {
	sc := &script{now: s.Start}
	index := map[string]int{}
	for i, src := range p.Sources {
		index[src.Name] = i
		one := source{topic: src.Name, decode: src.Decode, offsets: make([]int64, 1)}
		switch {
		case src.File != nil:
			one.topic = src.File.Path
		case len(src.Kafka.Topics) > 0:
			one.topic = src.Kafka.Topics[0]
		}
		sc.sources = append(sc.sources, one)
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		n := st.Partition
		for _, r := range st.Records {
			n = max(n, r.Partition)
		}
		src, ok := index[st.Name]
		if !ok || st.Kind != config.Arrive && st.Kind != config.Mark && st.Kind != config.Idle {
			continue
		}
		for int(n) >= len(sc.sources[src].offsets) {
			sc.sources[src].offsets = append(sc.sources[src].offsets, 0)
		}
	}
	return sc
}

// add puts an entry in the log.
func (s *script) add(e entry) *entry {
	if e.kind == record {
		off := &s.sources[e.source].offsets[e.rec.Partition]
		e.offset = *off
		*off++
	}
	s.log = append(s.log, e)
	return &s.log[len(s.log)-1]
}

// partitions returns one partition of a source, or all.
func (s *script) partitions(src int, id int32) []engine.Partition {
	var out []engine.Partition
	for i := range s.sources[src].offsets {
		if id == config.AllPartitions || int32(i) == id {
			out = append(out, engine.Partition{Source: src, Topic: s.sources[src].topic, ID: int32(i)})
		}
	}
	return out
}

// lost returns the entries that a task which began at the committed positions has not seen, in order.
func (s *script) lost() []*entry {
	var out []*entry
	for i := range s.log {
		e := &s.log[i]
		if e.kind == record && e.offset >= s.sources[e.source].read[e.rec.Partition] || e.kind != record && i >= s.kept {
			out = append(out, e)
		}
	}
	return out
}

// find returns the record at a position as a dead letter names it, nil if there is none.
func (s *script) find(topic, part, offset string) *config.Arrival {
	for i := range s.log {
		e := &s.log[i]
		if e.kind == record && s.sources[e.source].topic == topic && strconv.Itoa(int(e.rec.Partition)) == part &&
			strconv.FormatInt(e.offset, 10) == offset {
			return e.rec
		}
	}
	return nil
}

// Now is the script's clock.
func (s *script) Now() event.Time { return s.now }

// Poll gives the record whose turn it is.
func (s *script) Poll(_ context.Context, _ time.Duration, b *event.Bundle) (bool, error) {
	e := s.next
	if e == nil {
		return false, nil
	}
	s.next = nil
	h, r := b.Heap, e.rec
	s.sources[e.source].read[r.Partition] = e.offset + 1
	when := event.MinTime // the source's event_time counts
	if r.Time != nil {
		when = *r.Time
	}
	b.Times = append(b.Times, when)
	b.Marks = append(b.Marks, 0)
	b.Ops = append(b.Ops, event.Insert)
	b.Keys = append(b.Keys, keyValue(h, r.Key))
	b.Values = append(b.Values, s.value(h, e))
	b.Origins = append(b.Origins, event.Origin{Source: uint16(e.source), Partition: r.Partition, Offset: e.offset, Timestamp: e.at})
	if len(r.Headers) > 0 {
		for _, hd := range r.Headers {
			one := event.Header{Key: h.PutString(hd.Name), Value: event.NullRef}
			if hd.Value != nil {
				one.Value = h.Put(hd.Value)
			}
			b.Headers = append(b.Headers, one)
		}
		b.Heads = append(b.Heads, event.HeadSpan{Start: 0, End: uint32(len(b.Headers))})
	}
	return true, nil
}

func (s *script) value(h *event.Heap, e *entry) event.Value {
	kind := event.Bytes
	switch s.sources[e.source].decode {
	case "json":
		kind = event.JSON
	case "text":
		kind = event.String
	}
	switch {
	case e.rec.Raw != nil:
		return event.HeapValue(kind, h.Put(e.rec.Raw))
	case e.rec.Value == nil:
		return event.NullValue()
	case kind == event.JSON:
		return event.HeapValue(kind, h.Put(e.rec.Value))
	}
	return event.HeapValue(kind, h.Put(plain(e.rec.Value)))
}

// Partitions tells how the partitions stand. But for a recovery the task is through with what has arrived.
func (s *script) Partitions(dst []engine.PartitionState) []engine.PartitionState {
	for i := range s.sources {
		for _, p := range s.partitions(i, config.AllPartitions) {
			at, next := s.sources[i].read[p.ID], s.sources[i].offsets[p.ID]
			dst = append(dst, engine.PartitionState{Partition: p, Position: at, End: next, CaughtUp: at == next, Ended: s.ended})
		}
	}
	return dst
}

// Pause is not for a script: what it says arrives.
func (s *script) Pause(engine.Partition, bool) {}

// Seek notes where the task begins to read.
func (s *script) Seek(_ context.Context, offs []engine.Offset) error {
	for i := range s.sources {
		s.sources[i].read = make([]int64, len(s.sources[i].offsets))
	}
	for _, o := range offs {
		s.sources[o.Source].read[o.ID] = o.Offset
	}
	return nil
}

// topicOf returns the name of a source's topic.
func (s *script) topicOf(src, _ uint16) string { return s.sources[src].topic }
