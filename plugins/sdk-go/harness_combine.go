//go:build !wasip1

package wgate

import (
	"errors"
	"fmt"
)

// Combine runs combiner name as the host does: the rows of every part are checked and folded into an accumulator of the
// part, the accumulators are merged in order, and the result is extracted. A row is its arguments: nil, bool, int, int64,
// float64, string, or []byte, which is JSON text. So is the result; an error of it is an error. Rows that the combiner
// refuses are left out and returned; they are counted over all parts.
func (h *Harness) Combine(name string, parts ...[][]any) (result any, failed []HarnessFailure, err error) {
	for id := range plugin.functions {
		if f := &plugin.functions[id]; f.name == name && f.fold != nil {
			return h.combine(uint32(id), f.fold, parts)
		}
	}
	return nil, nil, fmt.Errorf("no combiner is called %q", name)
}

func (h *Harness) combine(id uint32, c *combiner, parts [][][]any) (any, []HarnessFailure, error) {
	b := newFrameBuilder()
	var args []valueRow
	n := 0
	for _, rows := range parts {
		for _, row := range rows {
			if len(row) != c.args {
				return nil, nil, fmt.Errorf("row %d has %d arguments, the combiner takes %d", n, len(row), c.args)
			}
			for _, v := range row {
				x, err := b.value(v)
				if err != nil {
					return nil, nil, err
				}
				args = append(args, x)
			}
			n++
		}
	}
	failed, err := h.check(id, *b, args, n)
	if err != nil {
		return nil, failed, err
	}
	bad := map[int]bool{}
	for _, f := range failed {
		bad[f.Row] = true
	}
	var accs [][]byte
	from := 0
	for _, rows := range parts {
		var pairs []uint32
		for i := range rows {
			if !bad[from+i] {
				pairs = append(pairs, uint32(from+i))
			}
		}
		from += len(rows)
		out, err := h.run(id, *b, args, n, nil, pairs, stepRow{op: stepAdd, count: uint32(len(pairs))})
		if err != nil {
			return nil, failed, err
		}
		accs = append(accs, out.first())
	}
	for len(accs) > 1 {
		out, err := h.run(id, *newFrameBuilder(), nil, 0, accs[:2], nil, stepRow{op: stepMerge, from: 1})
		if err != nil {
			return nil, failed, err
		}
		accs = append([][]byte{out.first()}, accs[2:]...)
	}
	out, err := h.run(id, *newFrameBuilder(), nil, 0, accs, nil, stepRow{op: stepExtract})
	if err != nil {
		return nil, failed, err
	}
	return out.result, failed, out.err
}

func (h *Harness) check(id uint32, b frameBuilder, args []valueRow, n int) ([]HarnessFailure, error) {
	var pairs []uint32
	for i := range n {
		pairs = append(pairs, uint32(i))
	}
	out, err := h.run(id, b, args, n, nil, pairs, stepRow{op: stepCheck, count: uint32(n)})
	return out.failed, err
}

// value encodes an argument.
func (b *frameBuilder) value(v any) (valueRow, error) {
	bytes := func(kind uint32, p []byte) valueRow {
		return valueRow{kind: kind, length: uint32(len(p)), low: uint64(b.put(p))}
	}
	switch v := v.(type) {
	case nil:
		return valueRow{kind: kindNull}, nil
	case bool:
		x := valueRow{kind: kindBool}
		if v {
			x.low = 1
		}
		return x, nil
	case int:
		return valueRow{kind: kindInt, low: uint64(v), float: float64(v)}, nil
	case int64:
		return valueRow{kind: kindInt, low: uint64(v), float: float64(v)}, nil
	case float64:
		return valueRow{kind: kindFloat, float: v}, nil
	case string:
		return bytes(kindText, []byte(v)), nil
	case []byte:
		return bytes(kindJSON, v), nil
	}
	return valueRow{}, fmt.Errorf("an argument of type %T", v)
}

// folded is what one run gave.
type folded struct {
	grown  [][]byte
	failed []HarnessFailure
	result any
	err    error
}

// first returns the one accumulator; nil if nothing was folded into it.
func (f *folded) first() []byte {
	if len(f.grown) == 0 {
		return nil
	}
	return f.grown[0]
}

// run has the combiner run one step over the given accumulators, or one that is new.
func (h *Harness) run(id uint32, b frameBuilder, args []valueRow, rows int, accs [][]byte, pairs []uint32, step stepRow) (folded, error) {
	b.frame = append([]byte(nil), b.frame...)
	var in []accRow
	if accs == nil {
		in = append(in, accRow{})
	}
	for _, a := range accs {
		for len(b.frame)%8 != 0 {
			b.frame = append(b.frame, 0)
		}
		in = append(in, accRow{b.put(a), uint32(len(a))})
	}
	b.add(sectionAccs, bytesOf(in), len(in))
	b.add(sectionSteps, bytesOf([]stepRow{step}), 1)
	b.add(sectionPairs, bytesOf(pairs), len(pairs))
	b.add(sectionArgs, bytesOf(args), len(args))
	h.frames, h.why = nil, ""
	if s := h.g.call(id, opRun, h.load(b.build(id, rows))); s != statusOK || len(h.frames) != 1 {
		return folded{}, fmt.Errorf("status %d: %s", s, h.why)
	}
	return readFolded(h.frames[0])
}

func readFolded(frame []byte) (out folded, err error) {
	_, table, ok := sections(frame, magicOutput)
	if !ok {
		return out, errors.New("the output frame is not sound")
	}
	text := func(off uint64, n uint32) []byte { return frame[off : off+uint64(n)] }
	for i := range table {
		switch e := &table[i]; e.kind {
		case sectionGrown:
			rows, _ := rowsAt[grownRow](frame, e)
			for _, g := range rows {
				out.grown = append(out.grown, append([]byte(nil), text(uint64(g.offset), g.length)...))
			}
		case sectionFail:
			rows, _ := rowsAt[failRow](frame, e)
			for _, f := range rows {
				out.failed = append(out.failed, HarnessFailure{
					int(f.row), string(text(uint64(f.codeOffset), f.codeLength)), string(text(uint64(f.offset), f.length)),
				})
			}
		case sectionResults:
			rows, _ := rowsAt[valueRow](frame, e)
			for _, v := range rows {
				switch v.kind {
				case kindBool:
					out.result = v.low == 1
				case kindInt:
					out.result = int64(v.low)
				case kindFloat, kindDecimal:
					out.result = v.float
				case kindText:
					out.result = string(text(v.low, v.length))
				case kindJSON:
					out.result = text(v.low, v.length)
				case kindError:
					out.err = errors.New(string(text(v.low, v.length)))
				}
			}
		}
	}
	return out, nil
}
