package meter

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wgate/wgate/abi/wasmbin"
)

// StopExport is the name under which the stop flag is exported: a mutable i32, 0 at first; any other value ends the
// running call with a trap when the module next looks at it.
const StopExport = "__wgate_stop"

// Budget is the number of instructions after which the code leaves to the host.
const Budget = 200_000

// The weights in instructions of one unit of the bulk instructions are fractions: so many bytes or elements count as one.
const (
	bytesShift    = 6
	elementsShift = 2
)

const i32 = 0x7f

// rewriter holds the indexes of what is added.
type rewriter struct {
	m             *wasmbin.Module
	counter, stop uint32 // globals
	refill        uint32 // function
	refillType    uint32
	newType       bool // refillType is added
}

// Rewrite returns a metered copy of module b. Debugging information is left out: it would no longer fit the code. Errors
// are about modules that are malformed, have no memory, or already export StopExport.
func Rewrite(b []byte) ([]byte, error) {
	m, err := wasmbin.Parse(b)
	if err != nil {
		return nil, err
	}
	if m.Export(StopExport) != nil {
		return nil, fmt.Errorf("the module exports %s, a name that wgate keeps for itself", StopExport)
	}
	if len(m.Memories) != 1 {
		return nil, errors.New("the module does not define exactly one memory")
	}
	r := &rewriter{m: m, refill: uint32(m.ImportedFuncs() + len(m.Funcs))}
	globals := m.Globals
	for _, i := range m.Imports {
		if i.Kind == wasmbin.KindGlobal {
			globals++
		}
	}
	r.counter, r.stop = uint32(globals), uint32(globals)+1
	r.refillType, r.newType = uint32(len(m.Types)), true
	for i, t := range m.Types {
		if len(t.Params)+len(t.Results) == 0 {
			r.refillType, r.newType = uint32(i), false
			break
		}
	}
	return r.sections()
}

// sections writes the module anew.
func (r *rewriter) sections() ([]byte, error) {
	out := slices.Clone(r.m.Bytes[:8])
	done := map[byte]bool{}
	// changed are the sections that get something added, in order. They are made if they are not there.
	changed := []byte{wasmbin.SectionType, wasmbin.SectionFunction, wasmbin.SectionGlobal, wasmbin.SectionExport, wasmbin.SectionCode}
	emit := func(id byte, old []byte) error {
		done[id] = true
		body, err := r.section(id, old)
		if err != nil {
			return err
		}
		out = append(out, id)
		out = wasmbin.AppendU32(out, uint32(len(body)))
		out = append(out, body...)
		return nil
	}
	for _, s := range r.m.Sections {
		if s.ID == wasmbin.SectionCustom {
			if !strings.HasPrefix(s.Name, ".debug_") {
				out = append(out, r.m.Bytes[s.From:s.To]...)
			}
			continue
		}
		for _, id := range changed {
			before := id < s.ID
			if s.ID == wasmbin.SectionDataCount {
				before = id < wasmbin.SectionCode // it stands before the code
			}
			if before && !done[id] {
				if err := emit(id, nil); err != nil {
					return nil, err
				}
			}
		}
		if !slices.Contains(changed, s.ID) {
			out = append(out, r.m.Bytes[s.From:s.To]...)
			continue
		}
		if err := emit(s.ID, r.m.Bytes[s.Body:s.To]); err != nil {
			return nil, err
		}
	}
	for _, id := range changed {
		if !done[id] {
			if err := emit(id, nil); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// section returns section id with what is added to it; old is its content, nil if there is none.
func (r *rewriter) section(id byte, old []byte) ([]byte, error) {
	switch id {
	case wasmbin.SectionType:
		if !r.newType {
			return old, nil
		}
		return grown(old, len(r.m.Types), 1, []byte{0x60, 0, 0}), nil
	case wasmbin.SectionFunction:
		return grown(old, len(r.m.Funcs), 1, wasmbin.AppendU32(nil, r.refillType)), nil
	case wasmbin.SectionGlobal:
		add := appendConst([]byte{i32, 1}, Budget)
		add = append(add, wasmbin.OpEnd, i32, 1, wasmbin.OpI32Const, 0, wasmbin.OpEnd)
		return grown(old, r.m.Globals, 2, add), nil
	case wasmbin.SectionExport:
		add := append(wasmbin.AppendU32(nil, uint32(len(StopExport))), StopExport...)
		add = wasmbin.AppendU32(append(add, wasmbin.KindGlobal), r.stop)
		return grown(old, len(r.m.Exports), 1, add), nil
	}
	body := wasmbin.AppendU32(nil, uint32(len(r.m.Bodies))+1)
	for i := range r.m.Bodies {
		f, err := r.function(i)
		if err != nil {
			return nil, fmt.Errorf("function %d: %w", i, err)
		}
		body = wasmbin.AppendU32(body, uint32(len(f)))
		body = append(body, f...)
	}
	f := r.refillBody()
	body = wasmbin.AppendU32(body, uint32(len(f)))
	return append(body, f...), nil
}

// grown returns the vector old of n elements with more behind them.
func grown(old []byte, n, more int, add []byte) []byte {
	// The count may be written in more bytes than it needs.
	skip := 0
	for skip < len(old) && old[skip] >= 0x80 {
		skip++
	}
	if len(old) > 0 {
		skip++
	}
	out := wasmbin.AppendU32(nil, uint32(n+more))
	out = append(out, old[skip:]...)
	return append(out, add...)
}

// appendConst appends i32.const v, v >= 0.
func appendConst(dst []byte, v uint32) []byte {
	dst = append(dst, wasmbin.OpI32Const)
	for v >= 0x40 { // The last byte's bit 6 is the sign.
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// appendIndexed appends an instruction with an index.
func appendIndexed(dst []byte, op byte, index uint32) []byte {
	return wasmbin.AppendU32(append(dst, op), index)
}

// void is the type of blocks that take and leave nothing.
const void = 0x40

// refillBody is the function that is called when the count is used up.
func (r *rewriter) refillBody() []byte {
	b := []byte{0, wasmbin.OpI32Const, 0, wasmbin.OpMemoryGrow, 0, wasmbin.OpDrop}
	b = appendConst(b, Budget)
	b = appendIndexed(b, wasmbin.OpGlobalSet, r.counter)
	b = appendIndexed(b, wasmbin.OpGlobalGet, r.stop)
	return append(b, wasmbin.OpIf, void, wasmbin.OpUnreachable, wasmbin.OpEnd, wasmbin.OpEnd)
}

// appendTest appends the test whether the count is used up.
func (r *rewriter) appendTest(dst []byte) []byte {
	dst = appendIndexed(dst, wasmbin.OpGlobalGet, r.counter)
	dst = append(dst, wasmbin.OpI32Const, 0, wasmbin.OpI32LtS, wasmbin.OpIf, void)
	dst = appendIndexed(dst, wasmbin.OpCall, r.refill)
	return append(dst, wasmbin.OpEnd)
}

// appendCount appends the code that takes weight off the count.
func (r *rewriter) appendCount(dst []byte, weight uint32) []byte {
	dst = appendIndexed(dst, wasmbin.OpGlobalGet, r.counter)
	dst = appendConst(dst, weight)
	dst = append(dst, wasmbin.OpI32Sub)
	dst = appendIndexed(dst, wasmbin.OpGlobalSet, r.counter)
	return r.appendTest(dst)
}

// appendBulk appends the code that takes the stack's top, in units of 1<<shift, off the count. local is a spare one.
func (r *rewriter) appendBulk(dst []byte, local, shift uint32) []byte {
	dst = appendIndexed(dst, wasmbin.OpLocalTee, local)
	dst = appendIndexed(dst, wasmbin.OpGlobalGet, r.counter)
	dst = appendIndexed(dst, wasmbin.OpLocalGet, local)
	dst = appendConst(dst, shift)
	dst = append(dst, wasmbin.OpI32ShrU, wasmbin.OpI32Sub)
	dst = appendIndexed(dst, wasmbin.OpGlobalSet, r.counter)
	return r.appendTest(dst)
}
