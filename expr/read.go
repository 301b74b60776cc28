package expr

import (
	"math"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// known returns a type to hold values against, nil if nothing is known of it.
func known(t event.Type) *event.Type {
	if unknown(t) {
		return nil
	}
	return &t
}

// resolve gives a value of kind JSON its own kind.
func (s *site) resolve(m *machine, v event.Value) event.Value {
	r, ok := jsontext.Resolve(m.h, v)
	if !ok {
		return s.fail(m, 2, NotJSON, "is not JSON")
	}
	return s.finite(m, r)
}

// finite turns a number that even a float cannot hold into an error.
func (s *site) finite(m *machine, v event.Value) event.Value {
	if v.Kind == event.Float && math.IsInf(v.Float(), 0) {
		return s.fail(m, 3, Overflow, "has a number that is too large")
	}
	return v
}

// read makes a value of a part of a list or object: text[start:end], text being the bytes at off. typ is nil where
// nothing was declared.
func (s *site) read(m *machine, text []byte, off uint32, start, end int, typ *event.Type) event.Value {
	part, at := text[start:end], off+uint32(start)
	if typ == nil {
		return s.finite(m, jsontext.ReadAt(m.h, part, at))
	}
	v, bad := jsontext.Typed(m.h, part, at, typ)
	if bad == nil {
		return v
	}
	if bad.Code == MissingField {
		return ErrorValue(m.h, bad.Code, short(s.node)+bad.Path+" is missing")
	}
	return ErrorValue(m.h, bad.Code, short(s.node)+bad.Path+" is "+bad.Got+" and no "+bad.Want.String())
}

// fieldStep reads a field of objects; of everything else it is missing. A declared default stands for what is missing
// from an object or null in it.
type fieldStep struct {
	site
	of   step
	name string
	elem *event.Type
	dflt *event.Literal
	out  []event.Value
}

func (s *fieldStep) eval(f *frame) []event.Value {
	col := s.of.eval(f)
	s.out = sized(s.out, f.n)
	for i := range s.out {
		v := s.one(f.m, col[i])
		if s.dflt != nil && v.IsNull() && col[i].Kind == event.Object {
			v = materialize(f.m.h, *s.dflt)
		}
		s.out[i] = v
	}
	return s.out
}

func (s *fieldStep) one(m *machine, v event.Value) event.Value {
	switch v.Kind {
	case event.Error:
		return v
	case event.Object:
		text := v.Bytes(m.h)
		if start, end, ok := jsontext.Find(text, s.name); ok {
			return s.read(m, text, v.Ref().Off, start, end, s.elem)
		}
	}
	return event.Value{}
}

// indexStep reads an element of lists or, by a text, a field of objects.
type indexStep struct {
	site
	elem *event.Type
	soft bool // what is out of range is missing
	args []step
	out  []event.Value
}

func (s *indexStep) eval(f *frame) []event.Value {
	a, idx := s.args[0].eval(f), s.args[1].eval(f)
	s.out = sized(s.out, f.n)
	for i := range s.out {
		s.out[i] = s.one(f.m, a[i], idx[i])
	}
	return s.out
}

func (s *indexStep) one(m *machine, v, idx event.Value) event.Value {
	switch {
	case v.Kind == event.List && idx.Kind == event.Int:
		text := v.Bytes(m.h)
		if start, end, ok := jsontext.At(text, int(idx.Int())); ok {
			return s.read(m, text, v.Ref().Off, start, end, s.elem)
		}
		if s.soft {
			return event.Value{}
		}
		return s.fail(m, 0, OutOfRange, "has no such element")
	case v.Kind == event.Object && idx.Kind == event.String:
		text := v.Bytes(m.h)
		if start, end, ok := findBytes(text, idx.Bytes(m.h)); ok {
			return s.read(m, text, v.Ref().Off, start, end, s.elem)
		}
		return event.Value{}
	case s.soft && v.Kind != event.Error && idx.Kind != event.Error:
		return event.Value{}
	case v.Kind != event.List && v.Kind != event.Object:
		return s.operand(m, 0, s.node.Args[0], v, "a list or an object")
	case v.Kind == event.List:
		return s.operand(m, 1, s.node.Args[1], idx, "an int for a list")
	}
	return s.operand(m, 2, s.node.Args[1], idx, "a string for an object")
}

// findBytes is jsontext.Find for a name that is not a string yet.
func findBytes(text, name []byte) (start, end int, ok bool) {
	for m := jsontext.Each(text); m.Next(); {
		if m.Escaped && jsontext.SameText(m.Name(), string(name)) || !m.Escaped && string(m.Name()) == string(name) {
			start, end, ok = m.Start, m.End, true
		}
	}
	return start, end, ok
}

// hasStep tells what is there from what is missing. null is there.
type hasStep struct {
	of  step
	out []event.Value
}

func (s *hasStep) eval(f *frame) []event.Value {
	col := s.of.eval(f)
	s.out = sized(s.out, f.n)
	for i, v := range col {
		s.out[i] = v
		if v.Kind != event.Error {
			s.out[i] = event.BoolValue(v.Kind != event.Missing)
		}
	}
	return s.out
}
