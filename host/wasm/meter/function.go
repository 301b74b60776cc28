package meter

import (
	"fmt"

	"github.com/wgate/wgate/abi/wasmbin"
)

// weights are what the parts of a function cost: all that is not in a loop first, then each loop, in the order in which
// they begin, without the loops inside.
type weights struct {
	parts []uint32
	calls bool // it calls functions
	bulk  bool // it has instructions that work on many bytes
}

// weigh counts the instructions of code.
func weigh(b []byte, from, to int) (weights, error) {
	w := weights{parts: []uint32{0}}
	open := []int{0} // the part that each open block belongs to
	for at := from; at < to; {
		o, err := wasmbin.NextOp(b[:to], at)
		if err != nil {
			return w, err
		}
		at = o.To
		if len(open) == 0 {
			return w, fmt.Errorf("%w: instructions behind the end", wasmbin.ErrFormat)
		}
		w.parts[open[len(open)-1]]++
		switch o.Code {
		case wasmbin.OpBlock, wasmbin.OpIf:
			open = append(open, open[len(open)-1])
		case wasmbin.OpLoop:
			w.parts = append(w.parts, 0)
			open = append(open, len(w.parts)-1)
		case wasmbin.OpEnd:
			open = open[:len(open)-1]
		case wasmbin.OpCall, wasmbin.OpCallIndirect:
			w.calls = true
		case wasmbin.OpPrefixFC:
			w.bulk = w.bulk || shiftOf(o.Sub) > 0
		}
	}
	if len(open) != 0 {
		return w, fmt.Errorf("%w: a block is not closed", wasmbin.ErrFormat)
	}
	return w, nil
}

// shiftOf returns how many bits of its size an instruction behind OpPrefixFC costs nothing; 0 for those without size.
func shiftOf(sub uint32) uint32 {
	switch sub {
	case wasmbin.SubMemoryInit, wasmbin.SubMemoryCopy, wasmbin.SubMemoryFill:
		return bytesShift
	case wasmbin.SubTableInit, wasmbin.SubTableCopy, wasmbin.SubTableGrow, wasmbin.SubTableFill:
		return elementsShift
	}
	return 0
}

// function returns the body of own function i with the counting code.
func (r *rewriter) function(i int) ([]byte, error) {
	body, b := r.m.Bodies[i], r.m.Bytes
	w, err := weigh(b, body.Code, body.To)
	if err != nil {
		return nil, err
	}
	out, spare, err := r.locals(i, w.bulk)
	if err != nil {
		return nil, err
	}
	if w.calls {
		out = r.appendCount(out, w.parts[0])
	}
	loop := 0
	for at := body.Code; at < body.To; {
		o, err := wasmbin.NextOp(b[:body.To], at)
		if err != nil {
			return nil, err
		}
		at = o.To
		if shift := shiftOf(o.Sub); o.Code == wasmbin.OpPrefixFC && shift > 0 {
			out = r.appendBulk(out, spare, shift)
		}
		out = append(out, b[o.From:o.To]...)
		if o.Code == wasmbin.OpLoop {
			loop++
			out = r.appendCount(out, w.parts[loop])
		}
	}
	return out, nil
}

// locals returns the declarations of own function i, with one more i32 if it is needed, and that one's index.
func (r *rewriter) locals(i int, more bool) (decls []byte, spare uint32, err error) {
	body := r.m.Bodies[i]
	old := r.m.Bytes[body.From:body.Code]
	if !more {
		return append([]byte(nil), old...), 0, nil
	}
	t, ok := r.m.FuncType(uint32(r.m.ImportedFuncs() + i))
	if !ok {
		return nil, 0, fmt.Errorf("%w: its type does not exist", wasmbin.ErrFormat)
	}
	index := uint64(len(t.Params)) + body.Locals
	if index > 1<<20 {
		return nil, 0, fmt.Errorf("%w: %d locals", wasmbin.ErrLimit, index)
	}
	return grown(old, body.Groups, 1, []byte{1, i32}), uint32(index), nil
}
