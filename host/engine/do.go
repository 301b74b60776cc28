package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/wgate/wgate/codec"
	"github.com/wgate/wgate/event"
)

// doStage is a ParDo whose function is a plugin's. What the guest keeps unchanged is passed without a copy; what it makes
// is decoded like a record of a source.
type doStage struct {
	base
	call     Invoker
	outOf    []int           // by the number that the guest has for an output; -1: nothing reads it
	decoders []codec.Decoder // per output
	made     Processed
	out      []event.Bundle
}

func newDo(b base) (*doStage, error) {
	n := b.node
	s := &doStage{base: b, out: make([]event.Bundle, len(n.Out))}
	if err := b.task.seated(n.Plugin, s.take); err != nil {
		return nil, fmt.Errorf("%s: %w", n.Block, err)
	}
	for _, c := range n.Out {
		d, err := codec.NewDecoder("json", codec.Projection{Paths: c.Paths, Types: c.Types(), Whole: true})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Block, err)
		}
		s.decoders = append(s.decoders, d)
	}
	return s, nil
}

// take makes in the instance that is called. The function's side outputs go by their names: another version may have them
// in another order.
func (s *doStage) take(in Invoker) error {
	outOf := []int{0}
	var has []string
	if t, ok := in.(interface{ Tags(fn string) []string }); ok {
		has = t.Tags(s.node.Func)
	}
	for _, tag := range has {
		at := slices.Index(s.node.Tags, tag)
		if at >= 0 {
			at++ // after the main output
		}
		outOf = append(outOf, at)
	}
	for _, tag := range s.node.Tags {
		if !slices.Contains(has, tag) {
			return fmt.Errorf("function %s of plugin %q has no side output %q", s.node.Func, s.node.Plugin.Name, tag)
		}
	}
	s.call, s.outOf = in, outOf
	return nil
}

func (s *doStage) process(b *event.Bundle) error {
	s.stats.In.Add(int64(b.Len()))
	s.task.breaker(s.node).passed(b.Len())
	s.task.calling(s.node.Plugin)
	began := time.Now()
	err := s.call.Process(s.task.ctx, s.node.Func, b, &s.made)
	s.stats.Calls.Add(1)
	s.stats.CallNanos.Add(int64(time.Since(began)))
	if err != nil {
		return fmt.Errorf("%s: %w", s.node.Block, err)
	}
	for _, f := range s.made.Failed {
		if err := s.task.deadLetterDigest(s.node, b, int(f.Row), f.Code, f.Text, f.Digest); err != nil {
			return err
		}
	}
	for i := range s.out {
		s.out[i].Reset(0)
		s.out[i].Heap = b.Heap
	}
	for _, m := range s.made.Rows {
		s.append(b, m)
	}
	for i := range s.out {
		if len(s.out[i].Heads) > 0 {
			alignHeads(&s.out[i], s.out[i].Len())
		}
		if err := s.decode(i); err != nil {
			return err
		}
	}
	return nil
}

// append adds one row that the guest gave: input row m.Row with what it made anew.
func (s *doStage) append(b *event.Bundle, m Made) {
	if int(m.Tag) >= len(s.outOf) || s.outOf[m.Tag] < 0 {
		return // a side output that nothing reads
	}
	out := &s.out[s.outOf[m.Tag]]
	out.AppendMeta(b, int(m.Row))
	if m.New < 0 {
		return
	}
	at, k, made := out.Len()-1, int(m.New), &s.made.New
	if v := made.Values[k]; v.Kind != event.Missing {
		out.Values[at] = v
	}
	if v := made.Keys[k]; v.Kind != event.Missing {
		out.Keys[at] = v
	}
	if t := made.Times[k]; t != event.MinTime {
		out.Times[at] = t
		if t < s.wm {
			s.stats.Behind.Add(1)
		}
	}
	if len(made.Heads) > 0 {
		alignHeads(out, at)
		from, hs := uint32(len(out.Headers)), made.Heads[k]
		out.Headers = append(out.Headers, made.Headers[hs.Start:hs.End]...)
		out.Heads = append(out.Heads[:at], event.HeadSpan{Start: from, End: uint32(len(out.Headers))})
	}
}

// alignHeads gives the first n rows of b an entry in Heads each: those without one have no headers.
func alignHeads(b *event.Bundle, n int) {
	for len(b.Heads) < n {
		b.Heads = append(b.Heads, event.HeadSpan{})
	}
}

// decode projects the fields of output i and passes it on. A row that the guest made and that does not decode is the
// guest's fault and becomes a dead letter of this block.
func (s *doStage) decode(i int) error {
	out := &s.out[i]
	bad := s.decoders[i].Decode(out, 0)
	if len(bad) == 0 {
		return s.emit(i, out)
	}
	for _, e := range bad {
		if err := s.task.deadLetter(s.node, out, e.Row, e.Code, "the plugin's result: "+e.Text); err != nil {
			return err
		}
	}
	rows := make([]int32, 0, out.Len())
	for r, k := 0, 0; r < out.Len(); r++ {
		if k < len(bad) && bad[k].Row == r {
			for k < len(bad) && bad[k].Row == r {
				k++
			}
			continue
		}
		rows = append(rows, int32(r))
	}
	var kept event.Bundle
	return s.emit(i, pick(out, rows, &kept))
}
