package expr

import (
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// buildStep makes lists and objects. Missing members become null.
type buildStep struct {
	args      []step
	cols      [][]event.Value
	names     [][]byte // of an object: the quoted names with their colons
	open, end byte
	kind      event.Kind
	out       []event.Value
}

func (s *buildStep) eval(f *frame) []event.Value {
	for i, a := range s.args {
		s.cols[i] = a.eval(f)
	}
	s.out = sized(s.out, f.n)
	for row := range s.out {
		s.out[row] = s.row(f.m.h, row)
	}
	return s.out
}

func (s *buildStep) row(h *event.Heap, row int) event.Value {
	buf := append(h.Begin(), s.open)
	for i, col := range s.cols {
		v := col[row]
		if v.Kind == event.Error {
			return v
		}
		if i > 0 {
			buf = append(buf, ',')
		}
		if s.names != nil {
			buf = append(buf, s.names[i]...)
		}
		buf = jsontext.Append(buf, h, v)
	}
	return event.HeapValue(s.kind, h.End(append(buf, s.end)))
}

// templateStep joins texts.
type templateStep struct {
	site
	args []step
	cols [][]event.Value
	out  []event.Value
}

func (s *templateStep) eval(f *frame) []event.Value {
	for i, a := range s.args {
		s.cols[i] = a.eval(f)
	}
	s.out = sized(s.out, f.n)
	for row := range s.out {
		s.out[row] = s.row(f.m, row)
	}
	return s.out
}

func (s *templateStep) row(m *machine, row int) event.Value {
	for i, col := range s.cols {
		if v := col[row]; v.IsNull() || v.Kind == event.Error {
			return s.operand(m, i, s.node.Args[i], v, "a value, for example coalesce(..., \"\")")
		}
	}
	buf := m.h.Begin()
	for _, col := range s.cols {
		buf = jsontext.AppendText(buf, m.h, col[row])
	}
	return event.HeapValue(event.String, m.h.End(buf))
}
