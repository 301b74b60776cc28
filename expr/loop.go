package expr

import (
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// forElems is how many elements a for handles at once, unless one row has more of them.
const forElems = 4096

// forStep is [for x in list : body if cond]. It lays the elements of many rows out as one frame, so that the body runs
// over columns too, and then puts the results of each row together.
type forStep struct {
	site
	list, body, cond step
	elem             *event.Type
	indexed          bool
	inner            frame
	out              []event.Value
}

func (s *forStep) eval(f *frame) []event.Value {
	lists := s.list.eval(f)
	s.out = sized(s.out, f.n)
	for lo := 0; lo < f.n; {
		hi := s.fill(f, lists, lo)
		s.chunk(f.m, lo, hi)
		lo = hi
	}
	return s.out
}

// fill lays out the elements of rows from lo on and returns the first row that it left.
func (s *forStep) fill(f *frame, lists []event.Value, lo int) (hi int) {
	in := &s.inner
	in.m, in.parent, in.rows = f.m, f, in.rows[:0]
	in.vars[0], in.vars[1] = in.vars[0][:0], in.vars[1][:0]
	for hi = lo; hi < f.n && len(in.rows) < forElems; hi++ {
		v := lists[hi]
		s.out[hi] = v
		if v.Kind != event.List && v.Kind != event.Object {
			s.out[hi] = s.operand(f.m, 0, s.node.Args[0], v, "a list or an object")
			continue
		}
		s.elements(in, v, hi)
	}
	in.n = len(in.rows)
	f.m.runs++
	in.run = f.m.runs
	return hi
}

func (s *forStep) elements(in *frame, v event.Value, row int) {
	text, off := v.Bytes(in.m.h), v.Ref().Off
	i := int64(0)
	for m := jsontext.Each(text); m.Next(); i++ {
		in.rows = append(in.rows, int32(row))
		in.vars[0] = append(in.vars[0], s.read(in.m, text, off, m.Start, m.End, s.elem))
		switch {
		case !s.indexed:
		case v.Kind == event.List:
			in.vars[1] = append(in.vars[1], event.IntValue(i))
		default: // the name with its quotes is JSON
			in.vars[1] = append(in.vars[1], s.read(in.m, text, off, m.NameStart-1, m.NameEnd+1, nil))
		}
	}
}

// chunk evaluates the body over what fill laid out and writes the lists of rows lo to hi.
func (s *forStep) chunk(m *machine, lo, hi int) {
	var cond []event.Value
	body := s.body.eval(&s.inner)
	if s.cond != nil {
		cond = s.cond.eval(&s.inner)
	}
	at := 0
	for row := lo; row < hi; row++ {
		end := at
		for end < s.inner.n && int(s.inner.rows[end]) == row {
			end++
		}
		if s.out[row].Kind != event.Error {
			s.out[row] = s.collect(m, body, cond, at, end)
		}
		at = end
	}
}

func (s *forStep) collect(m *machine, body, cond []event.Value, lo, hi int) event.Value {
	for i := lo; i < hi; i++ {
		if cond != nil {
			if cond[i].Kind != event.Bool {
				return s.operand(m, 2, s.node.Args[2], cond[i], "a bool after if")
			}
			if !cond[i].Bool() {
				continue
			}
		}
		if body[i].Kind == event.Error {
			return body[i]
		}
	}
	buf := append(m.h.Begin(), '[')
	first := true
	for i := lo; i < hi; i++ {
		if cond != nil && !cond[i].Bool() {
			continue
		}
		if !first {
			buf = append(buf, ',')
		}
		first = false
		buf = jsontext.Append(buf, m.h, body[i])
	}
	return event.HeapValue(event.List, m.h.End(append(buf, ']')))
}

// varStep reads the element (0) or the index (1) of the innermost for.
type varStep int

func (s varStep) eval(f *frame) []event.Value { return f.vars[s] }

// gather hands the values of an outer frame down to the elements of a for.
type gather struct {
	of     step
	levels int
	run    uint64 // the outer frame that col is of
	col    []event.Value
	out    []event.Value
}

func (s *gather) eval(f *frame) []event.Value {
	outer := f
	for range s.levels {
		outer = outer.parent
	}
	if s.run != outer.run {
		s.run = outer.run
		s.col = s.of.eval(outer)
	}
	s.out = sized(s.out, f.n)
	for i := range s.out {
		row := f.rows[i]
		for p := f.parent; p != outer; p = p.parent {
			row = p.rows[row]
		}
		s.out[i] = s.col[row]
	}
	return s.out
}
