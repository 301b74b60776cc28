package wasm

import (
	"fmt"
	"strings"

	"github.com/wgate/wgate/abi"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

// apply takes over the checked frames of a call over run r of b: rows and failures into out, log lines and metrics to
// whoever wants them. It fails only if the heap is full.
func (in *Instance) apply(b *event.Bundle, r run, out *engine.Processed) error {
	for i := range in.frames {
		o := &in.frames[i]
		if uint64(b.Heap.Len())+uint64(len(o.Heap)) > event.MaxHeap {
			return fmt.Errorf("plugin %q: its output does not fit the heap of the bundle; make epochs or bundles smaller", in.m.opt.Name)
		}
		in.rows(o, b, r, out)
		for j := range o.Fails() {
			f := o.Fail(j)
			out.Failed = append(out.Failed, engine.FailedRow{
				Row: int32(r.lo) + int32(f.Row), Code: string(f.Code), Text: cut(string(f.Text), messageBytes), Digest: in.m.key.digest,
			})
		}
		in.say(o)
	}
	return nil
}

// say hands log lines and metrics of a frame to whoever wants them.
func (in *Instance) say(o *abi.Output) {
	for j := range o.Lines() {
		l := o.Line(j)
		in.g.log(levelOf(l.Level), strings.ToValidUTF8(string(l.Text), "\ufffd"))
	}
	if in.m.opt.Metric != nil {
		for j := range o.Samples() {
			s := o.Sample(j)
			in.m.opt.Metric(string(s.Name), s.Kind == abi.MetricGauge, s.Value)
		}
	}
}

// rows merges what was kept and what was emitted, in the order that SPEC.md states.
func (in *Instance) rows(o *abi.Output, b *event.Bundle, r run, out *engine.Processed) {
	in.kept = o.AppendKept(in.kept[:0])
	var base uint32
	if o.Emits() > 0 && len(o.Heap) > 0 {
		base = b.Heap.Put(o.Heap).Off
	}
	k := 0
	for i := range o.Emits() {
		e := o.Emit(i)
		for ; k < len(in.kept) && in.kept[k] <= int32(e.Row); k++ {
			out.Rows = append(out.Rows, engine.Made{Row: int32(r.lo) + in.kept[k], New: -1})
		}
		row := r.lo + int(e.Row)
		out.Rows = append(out.Rows, engine.Made{Row: int32(row), New: int32(out.New.Len()), Tag: e.Tag})
		made(o, &e, base, b, row, &out.New)
	}
	for ; k < len(in.kept); k++ {
		out.Rows = append(out.Rows, engine.Made{Row: int32(r.lo) + in.kept[k], New: -1})
	}
}

// made appends the row that e stands for to n. Bytes of the frame's heap are in b's heap from base on.
func made(o *abi.Output, e *abi.Emit, base uint32, b *event.Bundle, row int, n *event.Bundle) {
	at := event.MinTime
	if e.Given&abi.GivenTime != 0 {
		at = e.Time
	}
	n.Times = append(n.Times, at)
	n.Marks = append(n.Marks, b.Marks[row])
	n.Ops = append(n.Ops, b.Ops[row])
	n.Keys = append(n.Keys, value(e.Key, base))
	n.Values = append(n.Values, value(e.Value, base))
	given := e.Given&abi.GivenHeaders != 0
	if !given && len(b.Heads) == 0 && len(n.Heads) == 0 {
		return
	}
	for len(n.Heads) < len(n.Times)-1 {
		n.Heads = append(n.Heads, event.HeadSpan{}) // rows before the first one with headers
	}
	start := uint32(len(n.Headers))
	if !given {
		n.Headers = append(n.Headers, b.RowHeaders(row)...)
	} else {
		for i := e.Head; i < e.Tail; i++ {
			name, val := o.Header(int(i))
			n.Headers = append(n.Headers, event.Header{Key: ref(name, base), Value: ref(val, base)})
		}
	}
	n.Heads = append(n.Heads, event.HeadSpan{Start: start, End: uint32(len(n.Headers))})
}

func ref(s abi.Span, base uint32) event.Ref {
	if s.Form == abi.FormNull {
		return event.NullRef
	}
	return event.Ref{Off: base + s.Off, Len: s.Len}
}

func value(s abi.Span, base uint32) event.Value {
	switch s.Form {
	case abi.FormNull:
		return event.NullValue()
	case abi.FormJSON:
		return event.HeapValue(event.JSON, ref(s, base))
	case abi.FormText:
		return event.HeapValue(event.String, ref(s, base))
	case abi.FormBytes:
		return event.HeapValue(event.Bytes, ref(s, base))
	}
	return event.Value{}
}
