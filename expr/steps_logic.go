package expr

import (
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// logicStep is && and ||. The right side counts only where the left one does not decide; where it decides on all rows
// the right side is not evaluated at all.
type logicStep struct {
	site
	or   bool
	a, b step
	out  []event.Value
}

func (s *logicStep) eval(f *frame) []event.Value {
	a := s.a.eval(f)
	s.out = sized(s.out, f.n)
	open := false
	for i, v := range a {
		if v.Kind != event.Bool {
			v = s.operand(f.m, 0, s.node.Args[0], v, "a bool")
		}
		s.out[i] = v
		open = open || v.Kind == event.Bool && v.Bool() != s.or
	}
	if !open {
		return s.out
	}
	b := s.b.eval(f)
	for i, v := range s.out {
		if v.Kind != event.Bool || v.Bool() == s.or {
			continue
		}
		if b[i].Kind == event.Bool {
			s.out[i] = b[i]
		} else {
			s.out[i] = s.operand(f.m, 1, s.node.Args[1], b[i], "a bool")
		}
	}
	return s.out
}

type notStep struct {
	site
	of  step
	out []event.Value
}

func (s *notStep) eval(f *frame) []event.Value {
	col := s.of.eval(f)
	s.out = sized(s.out, f.n)
	for i, v := range col {
		if v.Kind == event.Bool {
			s.out[i] = event.BoolValue(!v.Bool())
		} else {
			s.out[i] = s.operand(f.m, 0, s.node.Args[0], v, "a bool")
		}
	}
	return s.out
}

// condStep is a ? b : c. Only the branch that is taken counts; one that no row takes is not evaluated.
type condStep struct {
	site
	cond, yes, no step
	out           []event.Value
}

func (s *condStep) eval(f *frame) []event.Value {
	c := s.cond.eval(f)
	s.out = sized(s.out, f.n)
	yes, no := false, false
	for i, v := range c {
		if v.Kind != event.Bool {
			v = s.operand(f.m, 0, s.node.Args[0], v, "a bool")
		} else {
			yes, no = yes || v.Bool(), no || !v.Bool()
		}
		s.out[i] = v
	}
	var y, n []event.Value
	if yes {
		y = s.yes.eval(f)
	}
	if no {
		n = s.no.eval(f)
	}
	for i, v := range s.out {
		switch {
		case v.Kind != event.Bool:
		case v.Bool():
			s.out[i] = y[i]
		default:
			s.out[i] = n[i]
		}
	}
	return s.out
}

// coalesceStep takes the first value that is not null. Later arguments are evaluated only if some row needs them.
type coalesceStep struct {
	args []step
	out  []event.Value
}

func (s *coalesceStep) eval(f *frame) []event.Value {
	s.out = append(s.out[:0], s.args[0].eval(f)...)
	for _, a := range s.args[1:] {
		open := false
		for i := range s.out {
			open = open || s.out[i].IsNull()
		}
		if !open {
			break
		}
		col := a.eval(f)
		for i := range s.out {
			if s.out[i].IsNull() {
				s.out[i] = col[i]
			}
		}
	}
	return s.out
}

// asStep requires one kind.
type asStep struct {
	site
	of   step
	kind event.Kind
	out  []event.Value
}

func (s *asStep) eval(f *frame) []event.Value {
	col := s.of.eval(f)
	s.out = sized(s.out, f.n)
	for i, v := range col {
		switch {
		case v.Kind == s.kind:
			s.out[i] = v
		case s.kind == event.Decimal128 && v.Kind == event.Int:
			s.out[i] = event.DecimalValue(event.DecimalFromInt(v.Int()))
		case s.kind == event.Float && jsontext.IsNumber(v.Kind):
			s.out[i] = event.FloatValue(toFloat(v))
		default:
			s.out[i] = s.require(f.m, v)
		}
	}
	return s.out
}

func (s *asStep) require(m *machine, v event.Value) event.Value {
	if v.Kind == event.Error {
		return v
	}
	key := keyFail | uint32(v.Kind)
	if f, ok := s.cached(m, key); ok {
		return f
	}
	code := WrongType
	if v.Kind == event.Missing {
		code = MissingField
	}
	return s.put(m, key, code, short(s.node)+" is "+kindArticle(v.Kind)+" where "+kindArticle(s.kind)+" is needed")
}
