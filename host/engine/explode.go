package engine

import (
	"bytes"

	"github.com/wgate/wgate/codec"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/expr"
)

// explodeStage gives one row for each member of a list. An empty or null list gives none.
type explodeStage struct {
	base
	list    *expr.Program
	decoder codec.Decoder // of the fields below the member
	below   []int         // per slot of the output that is below the member: its slot in the decoder's output

	lists   []event.Value
	from    []int32 // row of b that each output row stems from
	members event.Bundle
	out     event.Bundle
	text    []byte
}

func newExplode(b base) (*explodeStage, error) {
	n := b.node
	s := &explodeStage{base: b, list: b.task.bind(n.Value, n.In.Slot)}
	var paths []expr.Path
	for _, o := range n.Slots {
		at := -1
		if o.In < 0 && len(o.Sub) > 0 {
			at = len(paths)
			paths = append(paths, o.Sub)
		}
		s.below = append(s.below, at)
	}
	var err error
	s.decoder, err = codec.NewDecoder("json", codec.Projection{Paths: paths, Types: make([]event.Type, len(paths))})
	return s, err
}

func (s *explodeStage) process(b *event.Bundle) error {
	s.stats.In.Add(int64(b.Len()))
	s.lists = s.list.Eval(b, s.lists[:0])
	s.members.Reset(0)
	s.members.Heap, s.from = b.Heap, s.from[:0]
	for i, v := range s.lists {
		switch {
		case v.Kind == event.Error:
			if err := s.fail(b, i, v); err != nil {
				return err
			}
		case v.Kind == event.List && s.node.Out[0].Whole && !isObject(b.Heap, b.Values[i]):
			if err := s.task.deadLetter(s.node, b, i, codeWrongType, "explode adds a field to the value, which is no object"); err != nil {
				return err
			}
		case v.Kind == event.List:
			jsontext.Members(b.Heap, v, func(m event.Value) bool {
				s.members.AppendMeta(b, i)
				s.members.Values[len(s.members.Values)-1] = m
				s.from = append(s.from, int32(i))
				return true
			})
		case !v.IsNull():
			if err := s.task.deadLetter(s.node, b, i, codeWrongType, "explode needs a list, this is "+v.Kind.String()); err != nil {
				return err
			}
		}
	}
	s.decoder.Decode(&s.members, 0)
	return s.emit(0, s.rows(b))
}

// isObject reports whether v, whose text is valid JSON, is an object.
func isObject(h *event.Heap, v event.Value) bool {
	return v.Kind == event.Object || v.Kind == event.JSON && bytes.HasPrefix(bytes.TrimLeft(v.Bytes(h), " \t\r\n"), []byte("{"))
}

// rows puts the output together: columns of the input repeated, the member, and what is below it.
func (s *explodeStage) rows(b *event.Bundle) *event.Bundle {
	out := &s.out
	out.Reset(len(s.below))
	out.Heap = b.Heap
	for k, i := range s.from {
		out.AppendMeta(b, int(i))
		if s.node.Out[0].Whole {
			out.Values[k] = s.whole(b, int(i), s.members.Values[k])
		}
	}
	for slot, at := range s.below {
		col := out.Fields[slot]
		for k, i := range s.from {
			switch from := s.node.Slots[slot].In; {
			case from >= 0:
				col = append(col, b.Fields[from][i])
			case at >= 0:
				col = append(col, s.members.Fields[at][k])
			default:
				col = append(col, s.members.Values[k])
			}
		}
		out.Fields[slot] = col
	}
	return out
}

func (s *explodeStage) whole(b *event.Bundle, i int, member event.Value) event.Value {
	s.text = jsontext.Append(s.text[:0], b.Heap, member)
	doc := b.Values[i].Bytes(b.Heap)
	text, err := jsontext.Set(b.Heap.Begin(), doc, s.node.Name, s.text)
	if err != nil {
		return b.Values[i]
	}
	return event.HeapValue(event.Object, b.Heap.End(text))
}
