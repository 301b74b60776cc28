package expr

import (
	"bytes"
	"slices"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// scratch is what functions of lists keep from row to row.
type scratch struct {
	canon jsontext.Canon
	buf   []byte
	spans []event.Ref // of elements, in the heap
	elems []event.Value
	order []int
	seen  map[string]struct{}
	names []member
	text  []byte
}

// member is a field of an object: where its name lies in scratch.text, and its span.
type member struct {
	name, nameEnd    int
	raw, rawEnd      int // the name with its quotes
	start, end, seen int
}

// fields lists the fields of an object in the order of the text, each name once: the last one counts.
func (w *scratch) fields(text []byte) []member {
	w.names, w.text = w.names[:0], w.text[:0]
	for m := jsontext.Each(text); m.Next(); {
		at := len(w.text)
		w.text = jsontext.AppendUnescaped(w.text, m.Name())
		w.names = append(w.names, member{at, len(w.text), m.NameStart - 1, m.NameEnd + 1, m.Start, m.End, len(w.names)})
	}
	byName := func(a, b member) int {
		if c := bytes.Compare(w.text[a.name:a.nameEnd], w.text[b.name:b.nameEnd]); c != 0 {
			return c
		}
		return b.seen - a.seen
	}
	slices.SortFunc(w.names, byName)
	w.names = slices.CompactFunc(w.names, func(a, b member) bool {
		return bytes.Equal(w.text[a.name:a.nameEnd], w.text[b.name:b.nameEnd])
	})
	slices.SortFunc(w.names, func(a, b member) int { return a.seen - b.seen })
	return w.names
}

// split notes the spans of a list's elements.
func (w *scratch) split(h *event.Heap, v event.Value) {
	w.spans = w.spans[:0]
	w.addSpans(h, v)
}

func (w *scratch) addSpans(h *event.Heap, v event.Value) {
	off := v.Ref().Off
	for m := jsontext.Each(v.Bytes(h)); m.Next(); {
		w.spans = append(w.spans, event.Ref{Off: off + uint32(m.Start), Len: uint32(m.End - m.Start)})
	}
}

// elements makes values of the elements of the list in a row of the first argument, and notes their spans. It reports
// whether all could be read; if not, the row has its error.
func (s *callStep) elements(m *machine, row int) bool {
	v := s.cols[0][row]
	typ, _ := s.aux.(*event.Type)
	text, off := v.Bytes(m.h), v.Ref().Off
	s.work.spans, s.work.elems = s.work.spans[:0], s.work.elems[:0]
	for e := jsontext.Each(text); e.Next(); {
		s.work.spans = append(s.work.spans, event.Ref{Off: off + uint32(e.Start), Len: uint32(e.End - e.Start)})
		v := s.read(m, text, off, e.Start, e.End, typ)
		if v.Kind == event.Error {
			s.out[row] = v
			return false
		}
		s.work.elems = append(s.work.elems, v)
	}
	return true
}

// list writes a list of spans.
func (w *scratch) list(h *event.Heap, spans []event.Ref) event.Value {
	buf := append(h.Begin(), '[')
	for i, r := range spans {
		if i > 0 {
			buf = append(buf, ',')
		}
		buf = append(buf, h.Get(r)...)
	}
	return event.HeapValue(event.List, h.End(append(buf, ']')))
}

// element reads an element whose type may be declared; null if there is none.
func (s *callStep) element(m *machine, v event.Value, n int64) event.Value {
	text := v.Bytes(m.h)
	if n < 0 {
		n += int64(jsontext.Count(text))
	}
	if n < 0 || n > int64(len(text)) {
		return event.NullValue()
	}
	start, end, ok := jsontext.At(text, int(n))
	if !ok {
		return event.NullValue()
	}
	typ, _ := s.aux.(*event.Type)
	return s.read(m, text, v.Ref().Off, start, end, typ)
}

// runAt takes an element; a negative index counts from the end.
func runAt(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = s.element(f.m, s.cols[0][i], s.cols[1][i].Int())
		}
	}
}

func runFirst(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = s.element(f.m, s.cols[0][i], 0)
		}
	}
}

func runLast(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = s.element(f.m, s.cols[0][i], -1)
		}
	}
}

// runSlice takes the elements from one index up to but without another; negative ones count from the end, and what is
// out of range is cut.
func runSlice(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		s.work.split(f.m.h, s.cols[0][i])
		n := int64(len(s.work.spans))
		from, to := inRange(s.cols[1][i].Int(), n), n
		if len(s.cols) > 2 {
			to = inRange(s.cols[2][i].Int(), n)
		}
		s.out[i] = s.work.list(f.m.h, s.work.spans[from:max(from, to)])
	}
}

func inRange(i, n int64) int64 {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

func runReverse(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.work.split(f.m.h, s.cols[0][i])
			slices.Reverse(s.work.spans)
			s.out[i] = s.work.list(f.m.h, s.work.spans)
		}
	}
}

// runSort sorts values of one kind; equal ones keep their order.
func runSort(s *callStep, f *frame) {
	w := &s.work
	for i := range s.out {
		if !s.ready(f.m, i) || !s.elements(f.m, i) {
			continue
		}
		w.order = w.order[:0]
		good := true
		for j := range w.elems {
			w.order = append(w.order, j)
			_, ok := jsontext.Compare(f.m.h, w.elems[j], w.elems[0])
			good = good && ok
		}
		if !good {
			s.out[i] = s.fail(f.m, 0, WrongType, "has elements that have no order among them")
			continue
		}
		slices.SortStableFunc(w.order, func(a, b int) int {
			c, _ := jsontext.Compare(f.m.h, w.elems[a], w.elems[b])
			return c
		})
		buf := append(f.m.h.Begin(), '[')
		for n, j := range w.order {
			if n > 0 {
				buf = append(buf, ',')
			}
			buf = append(buf, f.m.h.Get(w.spans[j])...)
		}
		s.out[i] = event.HeapValue(event.List, f.m.h.End(append(buf, ']')))
	}
}

// runDistinct keeps the first of equal elements.
func runDistinct(s *callStep, f *frame) {
	w := &s.work
	if w.seen == nil {
		w.seen = map[string]struct{}{}
	}
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		clear(w.seen)
		w.split(f.m.h, s.cols[0][i])
		kept := w.spans[:0]
		for _, r := range w.spans {
			w.buf = w.canon.AppendText(w.buf[:0], f.m.h.Get(r))
			if _, ok := w.seen[string(w.buf)]; !ok {
				w.seen[string(w.buf)] = struct{}{}
				kept = append(kept, r)
			}
		}
		s.out[i] = w.list(f.m.h, kept)
	}
}

// runFlatten puts the elements of lists in the list in their place, one level deep.
func runFlatten(s *callStep, f *frame) {
	w := &s.work
	for i := range s.out {
		if !s.ready(f.m, i) || !s.elements(f.m, i) {
			continue
		}
		outer := len(w.spans)
		for j, v := range w.elems {
			if v.Kind == event.List {
				w.addSpans(f.m.h, v)
			} else {
				w.spans = append(w.spans, w.spans[j])
			}
		}
		s.out[i] = w.list(f.m.h, w.spans[outer:])
	}
}

func runConcat(s *callStep, f *frame) {
	w := &s.work
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		w.spans = w.spans[:0]
		for _, col := range s.cols {
			w.addSpans(f.m.h, col[i])
		}
		s.out[i] = w.list(f.m.h, w.spans)
	}
}

func runJoin(s *callStep, f *frame) {
	w := &s.work
	for i := range s.out {
		if !s.ready(f.m, i) || !s.elements(f.m, i) {
			continue
		}
		good := true
		for _, v := range w.elems {
			good = good && !v.IsNull()
		}
		if !good {
			s.out[i] = s.fail(f.m, 0, WrongType, "has a null in its list")
			continue
		}
		buf := f.m.h.Begin()
		for j, v := range w.elems {
			if j > 0 {
				buf = append(buf, s.cols[1][i].Bytes(f.m.h)...)
			}
			buf = jsontext.AppendText(buf, f.m.h, v)
		}
		s.out[i] = event.HeapValue(event.String, f.m.h.End(buf))
	}
}

func runKeys(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = s.parts(f.m.h, s.cols[0][i], true)
		}
	}
}

func runValues(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = s.parts(f.m.h, s.cols[0][i], false)
		}
	}
}

// parts lists the names or the values of an object.
func (s *callStep) parts(h *event.Heap, v event.Value, names bool) event.Value {
	off := v.Ref().Off
	s.work.spans = s.work.spans[:0]
	for _, m := range s.work.fields(v.Bytes(h)) {
		start, end := m.start, m.end
		if names {
			start, end = m.raw, m.rawEnd
		}
		s.work.spans = append(s.work.spans, event.Ref{Off: off + uint32(start), Len: uint32(end - start)})
	}
	return s.work.list(h, s.work.spans)
}

// runSum adds numbers: ints and decimals exactly, floats one after the other. The sum of nothing is 0.
func runSum(s *callStep, f *frame) {
	w := &s.work
	adder := arithStep{site: s.site, op: '+'}
	for i := range s.out {
		if !s.ready(f.m, i) || !s.elements(f.m, i) {
			continue
		}
		sum := event.IntValue(0)
		for _, v := range w.elems {
			if !jsontext.IsNumber(v.Kind) {
				sum = s.fail(f.m, 1<<8|uint32(v.Kind), WrongType, "has an element that is "+kindArticle(v.Kind))
				break
			}
			if x, ok := intArith('+', sum.Int(), v.Int()); ok && sum.Kind == event.Int && v.Kind == event.Int {
				sum = x
				continue
			}
			if sum = adder.slow(f.m, sum, v); sum.Kind == event.Error {
				break
			}
		}
		s.out[i] = sum
	}
}
