package engine

import (
	"github.com/wgate/wgate/codec"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/expr"
	"github.com/wgate/wgate/host/plan"
)

// pardoStage is a ParDo without Wasm that gives at most one row for each row: where, set, drop, keep, value, event_time.
// Columns that pass unchanged are the input's own arrays.
type pardoStage struct {
	base
	value   *expr.Program   // the condition, the new value, the new event time
	columns []*expr.Program // per slot of the output; nil: a column of the input, or none
	fields  []*expr.Program // set: all fields, when the value is needed as a whole

	out      event.Bundle
	kept     event.Bundle
	rows     []int32
	result   []event.Value
	computed [][]event.Value
	text     []byte
}

func newParDo(b base) *pardoStage {
	n := b.node
	slot := n.In.Slot
	s := &pardoStage{base: b, value: b.task.bind(n.Value, slot)}
	for _, o := range n.Slots {
		s.columns = append(s.columns, b.task.bind(o.Expr, slot))
	}
	if n.Kind == plan.Set && n.Out[0].Whole {
		s.fields = b.task.bindAll(n.Exprs, slot)
	}
	return s
}

func (s *pardoStage) process(b *event.Bundle) error {
	s.stats.In.Add(int64(b.Len()))
	s.result = s.result[:0]
	if s.value != nil {
		s.result = s.value.Eval(b, s.result)
	}
	s.project(b)
	switch s.node.Kind {
	case plan.Filter:
		return s.filter(b)
	case plan.Set:
		s.set(b)
	case plan.Shape:
		s.shape(b)
	case plan.Map:
		s.out.Values = s.result
	case plan.Retime:
		s.retime(b)
	}
	return s.passGood(b)
}

// project makes s.out a view of b with the columns of the output.
func (s *pardoStage) project(b *event.Bundle) {
	fields := s.out.Fields[:0]
	b.Slice(0, b.Len(), &s.out)
	s.out.Fields = fields
	for len(s.computed) < len(s.columns) {
		s.computed = append(s.computed, nil)
	}
	for i, p := range s.columns {
		from := s.node.Slots[i].In
		switch {
		case p != nil:
			s.computed[i] = p.Eval(b, s.computed[i][:0])
		case from >= 0:
			s.out.Fields = append(s.out.Fields, b.Fields[from])
			continue
		default:
			s.computed[i] = missing(s.computed[i][:0], b.Len())
		}
		s.out.Fields = append(s.out.Fields, s.computed[i])
	}
}

func missing(col []event.Value, n int) []event.Value {
	for range n {
		col = append(col, event.Value{})
	}
	return col
}

// filter passes the rows on which the condition is true. Null is not true.
func (s *pardoStage) filter(b *event.Bundle) error {
	s.rows = s.rows[:0]
	for i, v := range s.result {
		switch {
		case v.Kind == event.Bool && v.Bool():
			s.rows = append(s.rows, int32(i))
		case v.Kind == event.Error:
			if err := s.fail(b, i, v); err != nil {
				return err
			}
		case v.Kind != event.Bool && !v.IsNull():
			if err := s.task.deadLetter(s.node, b, i, codeWrongType, "where gives "+v.Kind.String()+", not bool"); err != nil {
				return err
			}
		}
	}
	return s.emit(0, s.pick(&s.out))
}

// set writes the new fields into the value as a whole. Every byte that is not replaced stays as it came.
func (s *pardoStage) set(b *event.Bundle) {
	if s.fields == nil {
		return
	}
	cols := make([][]event.Value, len(s.fields))
	for k, p := range s.fields {
		cols[k] = p.Eval(b, nil)
	}
	s.result = s.result[:0]
	for i := range b.Len() {
		v := b.Values[i]
		for k := range cols {
			if f := cols[k][i]; f.Kind == event.Error {
				v = f
				break
			}
			v = s.splice(b, v, func(dst, doc []byte) ([]byte, error) {
				s.text = jsontext.Append(s.text[:0], b.Heap, cols[k][i])
				return jsontext.Set(dst, doc, s.node.Names[k], s.text)
			})
		}
		s.result = append(s.result, v)
	}
	s.out.Values = s.result
}

// shape drops or keeps fields of the value as a whole.
func (s *pardoStage) shape(b *event.Bundle) {
	if !s.node.Out[0].Whole {
		return
	}
	s.result = s.result[:0]
	for _, v := range b.Values {
		s.result = append(s.result, s.splice(b, v, func(dst, doc []byte) ([]byte, error) {
			if s.node.Keep {
				return jsontext.Keep(dst, doc, s.node.Names)
			}
			return jsontext.Drop(dst, doc, s.node.Names)
		}))
	}
	s.out.Values = s.result
}

// splice gives the value whose text is edit of v's text.
func (s *pardoStage) splice(b *event.Bundle, v event.Value, edit func(dst, doc []byte) ([]byte, error)) event.Value {
	switch v.Kind {
	case event.Error:
		return v
	case event.JSON, event.Object:
	default:
		return expr.ErrorValue(b.Heap, codeWrongType, "the value is "+v.Kind.String()+", not an object")
	}
	doc := v.Bytes(b.Heap)
	text, err := edit(b.Heap.Begin(), doc)
	if err != nil {
		return expr.ErrorValue(b.Heap, codeWrongType, err.Error())
	}
	return event.HeapValue(event.Object, b.Heap.End(text))
}

// retime gives rows a new event time. A time behind the watermark is allowed and counted.
func (s *pardoStage) retime(b *event.Bundle) {
	times := make([]event.Time, b.Len())
	for i, v := range s.result {
		if v.Kind == event.Error {
			continue
		}
		t, code := codec.EventTime(v, "ms", b.Heap)
		if code != "" {
			s.result[i] = expr.ErrorValue(b.Heap, code, "event_time gives "+v.Kind.String())
			continue
		}
		times[i] = t
		if t < s.wm {
			s.stats.Behind.Add(1)
		}
	}
	s.out.Times = times
}

// passGood passes the rows whose result and columns are no errors; the others are dead letters.
func (s *pardoStage) passGood(b *event.Bundle) error {
	s.rows = s.rows[:0]
	for i := range b.Len() {
		if bad, ok := s.bad(i); ok {
			if err := s.fail(b, i, bad); err != nil {
				return err
			}
			continue
		}
		s.rows = append(s.rows, int32(i))
	}
	if len(s.rows) == b.Len() {
		return s.emit(0, &s.out)
	}
	return s.emit(0, s.pick(&s.out))
}

func (s *pardoStage) bad(i int) (event.Value, bool) {
	if s.result != nil && i < len(s.result) && s.result[i].Kind == event.Error {
		return s.result[i], true
	}
	for k, p := range s.columns {
		if p != nil && s.computed[k][i].Kind == event.Error {
			return s.computed[k][i], true
		}
	}
	return event.Value{}, false
}

func (s *base) fail(b *event.Bundle, row int, v event.Value) error {
	code, text := expr.ErrorText(b.Heap, v)
	return s.task.deadLetter(s.node, b, row, code, text)
}

// pick returns the rows s.rows of b as a bundle of its own that shares the heap.
func (s *pardoStage) pick(b *event.Bundle) *event.Bundle {
	return pick(b, s.rows, &s.kept)
}

// pick makes dst the given rows of b. When they are all rows, b itself is returned.
func pick(b *event.Bundle, rows []int32, dst *event.Bundle) *event.Bundle {
	if len(rows) == b.Len() {
		return b
	}
	dst.Reset(len(b.Fields))
	dst.Heap = b.Heap
	for _, i := range rows {
		dst.AppendMeta(b, int(i))
	}
	for f, col := range b.Fields {
		for _, i := range rows {
			dst.Fields[f] = append(dst.Fields[f], col[i])
		}
	}
	return dst
}
