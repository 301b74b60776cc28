package expr

import (
	"unicode/utf8"

	"github.com/wgate/wgate/event"
)

// slotStep reads a column of the bundle, without a copy. A column without rows is one that no row has.
type slotStep struct {
	slot int
	none []event.Value
}

func (s *slotStep) eval(f *frame) []event.Value {
	if s.slot < len(f.m.b.Fields) && len(f.m.b.Fields[s.slot]) > 0 {
		return f.m.b.Fields[s.slot]
	}
	s.none = sized(s.none, f.n)
	clear(s.none)
	return s.none
}

// valueStep reads value or key as a whole. JSON that has not been looked at yet gets its own kind.
type valueStep struct {
	site
	key bool
	out []event.Value
}

func (s *valueStep) eval(f *frame) []event.Value {
	col := f.m.b.Values
	if s.key {
		col = f.m.b.Keys
	}
	raw := false
	for i := range col {
		raw = raw || col[i].Kind == event.JSON
	}
	if !raw {
		return col
	}
	s.out = sized(s.out, f.n)
	for i, v := range col {
		s.out[i] = s.resolve(f.m, v)
	}
	return s.out
}

type timeStep struct{ out []event.Value }

func (s *timeStep) eval(f *frame) []event.Value {
	s.out = sized(s.out, f.n)
	for i, t := range f.m.b.Times {
		s.out[i] = event.TimeValue(t)
	}
	return s.out
}

type arrivalStep struct{ out []event.Value }

func (s *arrivalStep) eval(f *frame) []event.Value {
	s.out = sized(s.out, f.n)
	for i := range s.out {
		s.out[i] = event.TimeValue(f.m.env.Arrival)
	}
	return s.out
}

// headerStep reads the last header of a name: text if it is UTF-8, else bytes; null if it is null or there is none.
type headerStep struct {
	name string
	out  []event.Value
}

func (s *headerStep) eval(f *frame) []event.Value {
	s.out = sized(s.out, f.n)
	for i := range s.out {
		s.out[i] = event.NullValue()
		all := f.m.b.RowHeaders(i)
		for j := len(all) - 1; j >= 0; j-- {
			if string(f.m.h.Get(all[j].Key)) != s.name {
				continue
			}
			kind := event.String
			if !utf8.Valid(f.m.h.Get(all[j].Value)) {
				kind = event.Bytes
			}
			s.out[i] = event.HeapValue(kind, all[j].Value)
			break
		}
	}
	return s.out
}

// recordStep reads where a row came from.
type recordStep struct {
	site
	field string
	out   []event.Value
	topic topicCache
}

// topicCache keeps the name of the topic that was looked up last in the heap of a bundle.
type topicCache struct {
	epoch         uint64
	source, topic uint16
	v             event.Value
}

func (s *recordStep) eval(f *frame) []event.Value {
	s.out = sized(s.out, f.n)
	if len(f.m.b.Origins) == 0 {
		for i := range s.out {
			s.out[i] = event.NullValue()
		}
		return s.out
	}
	for i := range f.m.b.Origins {
		o := &f.m.b.Origins[i]
		switch s.field {
		case "partition":
			s.out[i] = event.IntValue(int64(o.Partition))
		case "offset":
			s.out[i] = event.IntValue(o.Offset)
		case "timestamp":
			s.out[i] = event.TimeValue(o.Timestamp)
			if !o.Timestamp.IsFinite() {
				s.out[i] = s.fail(f.m, 0, BadTimestamp, "is not known: the record has no timestamp")
			}
		default:
			s.out[i] = s.topicOf(f.m, o)
		}
	}
	return s.out
}

func (s *recordStep) topicOf(m *machine, o *event.Origin) event.Value {
	if m.env.Topic == nil {
		return s.fail(m, 1, NotAvailable, "is not available here")
	}
	c := &s.topic
	if c.epoch != m.epoch || c.source != o.Source || c.topic != o.Topic {
		*c = topicCache{m.epoch, o.Source, o.Topic, event.HeapValue(event.String, m.h.PutString(m.env.Topic(o.Source, o.Topic)))}
	}
	return c.v
}

// windowStep reads an end of the row's window; the infinite ends of the global window are null.
type windowStep struct {
	end bool
	out []event.Value
}

func (s *windowStep) eval(f *frame) []event.Value {
	s.out = sized(s.out, f.n)
	for i := range s.out {
		s.out[i] = event.NullValue()
		if i >= len(f.m.b.Windows) {
			continue
		}
		t := f.m.b.Windows[i].Start
		if s.end {
			t = f.m.b.Windows[i].End
		}
		if t.IsFinite() {
			s.out[i] = event.TimeValue(t)
		}
	}
	return s.out
}

type paneStep struct {
	field   string
	out     []event.Value
	epoch   uint64
	timings [3]event.Value
}

func (s *paneStep) eval(f *frame) []event.Value {
	s.out = sized(s.out, f.n)
	if s.field == "timing" && s.epoch != f.m.epoch {
		s.epoch = f.m.epoch
		for t := range s.timings {
			s.timings[t] = event.HeapValue(event.String, f.m.h.PutString(event.Timing(t).String()))
		}
	}
	for i := range s.out {
		if i >= len(f.m.b.Panes) {
			s.out[i] = event.NullValue()
			continue
		}
		p := &f.m.b.Panes[i]
		switch s.field {
		case "index":
			s.out[i] = event.IntValue(int64(p.Index))
		case "timing":
			s.out[i] = s.timings[p.Timing]
		case "first":
			s.out[i] = event.BoolValue(p.First)
		default:
			s.out[i] = event.BoolValue(p.Last)
		}
	}
	return s.out
}

// literalStep gives every row one value.
type literalStep struct {
	lit   event.Literal
	epoch uint64
	out   []event.Value
}

func (s *literalStep) eval(f *frame) []event.Value {
	if s.epoch == f.m.epoch && len(s.out) >= f.n {
		return s.out[:f.n]
	}
	v := materialize(f.m.h, s.lit)
	if !v.InHeap() && s.epoch > 0 && len(s.out) >= f.n {
		s.epoch = f.m.epoch
		return s.out[:f.n]
	}
	s.epoch = f.m.epoch
	s.out = sized(s.out, f.n)
	for i := range s.out {
		s.out[i] = v
	}
	return s.out
}
