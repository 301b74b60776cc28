package engine

import (
	"fmt"

	"github.com/wgate/wgate/codec"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
	"github.com/wgate/wgate/windowing"
)

// sourceStage decodes records, finds their event times and keeps the source's watermark. It is where bundles are cut:
// before every row whose predecessor moved the watermark past something that waits for it.
type sourceStage struct {
	base
	decoder codec.Decoder
	when    *expr.Program // event_time; nil: the record's own timestamp
	tracker *windowing.Tracker

	part    int // of the tracker, of the row at hand
	through bool
	held    map[Partition]bool

	times []event.Value
	good  []int32
	bad   []badRow // in order of their rows
	kept  event.Bundle
	view  event.Bundle
}

type badRow struct {
	row        int32
	code, text string
}

func newSource(b base) (*sourceStage, error) {
	src := b.node.SourceBlock
	dec, err := codec.NewDecoder(src.Decode, codec.Projection{
		Paths: b.node.Out[0].Paths, Types: b.node.Out[0].Types(), Whole: b.node.Out[0].Whole, Schema: src.Schema,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.node.Block, err)
	}
	s := &sourceStage{base: b, decoder: dec, held: map[Partition]bool{}}
	if src.EventTime != nil && !src.Arrival && !isRecordTime(src.EventTime.Node()) {
		s.when = b.task.bind(src.EventTime, b.node.Out[0].Slot)
	}
	s.tracker = windowing.NewTracker(windowing.TrackerConfig{
		OutOfOrder: src.Watermark.OutOfOrder, Idle: src.Watermark.Idle, MaxFuture: src.Watermark.MaxFuture, Arrival: src.Arrival,
		Manual: b.task.cfg.Marked,
	})
	return s, nil
}

// isRecordTime reports whether n is record.timestamp, where -1 is no time: the same as no event_time at all.
func isRecordTime(n *expr.Node) bool {
	return n.Op == expr.OpField && n.Name == "timestamp" && n.Args[0].Op == expr.OpVar && n.Args[0].Name == "record"
}

// process takes records as Input.Poll gave them.
func (s *sourceStage) process(b *event.Bundle) error {
	n := b.Len()
	s.stats.In.Add(int64(n))
	s.task.breaker(s.node).passed(n)
	for i := range n {
		o := &b.Origins[i]
		o.Key, o.Value = rawRef(b.Keys[i]), rawRef(b.Values[i])
	}
	s.bad = s.bad[:0]
	for _, e := range s.decoder.Decode(b, 0) {
		s.bad = append(s.bad, badRow{int32(e.Row), e.Code, e.Text})
	}
	s.findTimes(b)
	rows := s.keepGood(b)
	return s.cut(b, rows)
}

func rawRef(v event.Value) event.Ref {
	if v.IsNull() {
		return event.NullRef
	}
	return v.Ref()
}

// findTimes fills b.Times. Rows without a usable event time become bad rows.
func (s *sourceStage) findTimes(b *event.Bundle) {
	src := s.node.SourceBlock
	switch {
	case src.Arrival:
		for i := range b.Times {
			b.Times[i] = s.task.now
		}
	case s.when == nil:
		for i := range b.Times {
			b.Times[i] = b.Origins[i].Timestamp
			if b.Times[i] == -1 && src.Kafka != nil && !s.task.cfg.Scripted {
				s.bad = append(s.bad, badRow{int32(i), codeTimestamp, "the record has no timestamp (-1)"})
			}
		}
	default:
		s.times = s.when.Eval(b, s.times[:0])
		for i, v := range s.times {
			if s.task.cfg.Scripted && b.Times[i] != event.MinTime {
				continue
			}
			if v.Kind == event.Error {
				code, text := expr.ErrorText(b.Heap, v)
				s.bad = append(s.bad, badRow{int32(i), code, "event_time: " + text})
				continue
			}
			t, code := codec.EventTime(v, src.TimeUnit, b.Heap)
			if code != "" {
				s.bad = append(s.bad, badRow{int32(i), code, "event_time gives " + v.Kind.String() + " that is no time in " + src.TimeUnit})
				continue
			}
			b.Times[i] = t
		}
	}
}

// keepGood returns b without its bad rows. s.bad is then sorted and holds each row once.
func (s *sourceStage) keepGood(b *event.Bundle) *event.Bundle {
	s.good = s.good[:0]
	if len(s.bad) == 0 {
		return b
	}
	reason := make([]int32, b.Len()) // index into s.bad + 1; the first reason counts
	for k := len(s.bad) - 1; k >= 0; k-- {
		reason[s.bad[k].row] = int32(k) + 1
	}
	sorted := make([]badRow, 0, len(s.bad))
	for i := range b.Len() {
		if reason[i] > 0 {
			sorted = append(sorted, s.bad[reason[i]-1])
			continue
		}
		s.good = append(s.good, int32(i))
	}
	s.bad = sorted
	return pick(b, s.good, &s.kept)
}

// cut passes rows on in pieces. raw is the bundle as it came, for the dead letters and positions of rows in between.
func (s *sourceStage) cut(raw, rows *event.Bundle) error {
	n := rows.Len()
	bad := 0
	for lo := 0; lo < n; {
		bound := s.base.boundary(oldest(rows.Times[lo:]))
		hi, w := s.mark(rows, lo, bound)
		rows.Slice(lo, hi, &s.view)
		if err := s.emit(0, &s.view); err != nil {
			return err
		}
		last := hi - 1
		if len(s.good) > 0 {
			last = int(s.good[hi-1])
		}
		var err error
		if bad, err = s.bury(raw, bad, last); err != nil {
			return err
		}
		s.task.reached(raw, last)
		if err := s.advance(w); err != nil {
			return err
		}
		lo = hi
	}
	if _, err := s.bury(raw, bad, raw.Len()-1); err != nil {
		return err
	}
	s.task.reached(raw, raw.Len()-1)
	return nil
}

// bury sends the dead letters of the bad rows up to row last, from the k-th on, and returns how far it came.
func (s *sourceStage) bury(raw *event.Bundle, k, last int) (int, error) {
	for ; k < len(s.bad) && int(s.bad[k].row) <= last; k++ {
		r := s.bad[k]
		if err := s.task.deadLetter(s.node, raw, int(r.row), r.code, r.text); err != nil {
			return k, err
		}
	}
	return k, nil
}

// mark gives rows from lo on their marks, up to the row that moves the watermark to bound. It returns where it stopped and
// the watermark there.
func (s *sourceStage) mark(rows *event.Bundle, lo int, bound event.Time) (hi int, w event.Time) {
	w = s.tracker.Watermark()
	for hi = lo; hi < rows.Len(); {
		o := &rows.Origins[hi]
		if hi == lo || o.Partition != rows.Origins[hi-1].Partition || o.Topic != rows.Origins[hi-1].Topic {
			s.part = s.tracker.Part(windowing.Partition{Topic: s.task.topic(*o), ID: o.Partition}, s.task.now)
		}
		rows.Marks[hi] = w
		if s.tracker.Observe(s.part, rows.Times[hi], s.task.now) {
			s.stats.Future.Add(1)
		}
		w = s.tracker.Watermark()
		hi++
		if w >= bound {
			break
		}
	}
	return hi, w
}

// boundary of a source is only asked for by itself.
func (s *sourceStage) boundary(event.Time) event.Time { return event.MaxTime }

func oldest(times []event.Time) event.Time {
	first := event.MaxTime
	for _, t := range times {
		first = min(first, t)
	}
	return first
}

// look tells the tracker how the partitions stand, lets the watermark move for what time has brought, and holds back
// partitions that are too far ahead of the slowest one.
func (s *sourceStage) look(parts []PartitionState) error {
	own := 0
	for i := range parts {
		p := &parts[i]
		if p.Source != s.node.Index {
			continue
		}
		own++
		k := s.tracker.Part(windowing.Partition{Topic: p.Topic, ID: p.ID}, s.task.now)
		if p.Ended {
			s.tracker.End(k)
			continue
		}
		s.tracker.Look(k, p.CaughtUp, s.task.now)
	}
	if own > 0 {
		s.tracker.Assigned()
	}
	s.through = own > 0 && s.tracker.Watermark() == event.MaxTime
	s.align(parts)
	return s.advance(s.tracker.Watermark())
}

// align pauses partitions whose watermark is more than max_ahead above the slowest one, and lets the others go on. One that
// has caught up with its end is no longer slow: holding others back would not bring its next record any sooner.
func (s *sourceStage) align(parts []PartitionState) {
	ahead := s.node.SourceBlock.Watermark.MaxAhead
	if ahead <= 0 {
		return
	}
	slowest := event.MaxTime
	for i := range parts {
		if p := &parts[i]; p.Source == s.node.Index && !p.Ended && !p.CaughtUp {
			slowest = min(slowest, s.markOf(p))
		}
	}
	for i := range parts {
		p := &parts[i]
		if p.Source != s.node.Index || p.Ended {
			continue
		}
		hold := slowest != event.MaxTime && s.markOf(p) > slowest.Add(ahead)
		if hold != s.held[p.Partition] {
			s.held[p.Partition] = hold
			s.task.pause(p.Partition, hold)
		}
	}
}

// release lets all partitions go on that align has held back. The stage ends with that: the next one starts with none.
func (s *sourceStage) release() {
	for p, hold := range s.held { // order does not matter
		if hold {
			s.task.pause(p, false)
		}
	}
	clear(s.held)
}

// markOf returns the watermark of one partition.
func (s *sourceStage) markOf(p *PartitionState) event.Time {
	mark, _ := s.tracker.State(s.tracker.Part(windowing.Partition{Topic: p.Topic, ID: p.ID}, s.task.now))
	return mark
}

// ended reports whether all partitions of the source are through.
func (s *sourceStage) ended() bool { return s.through }
