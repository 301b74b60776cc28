package wasmbin

import (
	"errors"
	"fmt"
)

// ErrLimit is what errors about modules that are well formed and too large wrap.
var ErrLimit = errors.New("module exceeds a limit")

// Quota says how large a module may be.
type Quota struct {
	Bytes  int    // of the file
	Locals uint64 // of one function
	Funcs  int    // imported and own
	Body   int    // bytes of one function
	Table  uint32 // elements of a table at the start
	Pages  uint32 // of 64 KiB that a memory has at the start
}

// DefaultQuota is what wgate allows; Pages comes from the plugin's limits.
func DefaultQuota(pages uint32) Quota {
	return Quota{Bytes: 64 << 20, Locals: 50_000, Funcs: 20_000, Body: 1 << 20, Table: 100_000, Pages: pages}
}

// Excess is the error about one thing of which there is too much: what it is, how to mend it. It wraps ErrLimit.
type Excess struct {
	What       string
	Got, Limit uint64
	Next       string
}

// Error writes what there is and what is allowed.
func (e *Excess) Error() string {
	return fmt.Sprintf("%v: %s %d, at most %d are allowed", ErrLimit, e.What, e.Got, e.Limit)
}

// Unwrap returns ErrLimit.
func (e *Excess) Unwrap() error { return ErrLimit }

// Check compares m with q and returns the first excess. All errors wrap ErrLimit.
func (m *Module) Check(q Quota) error {
	if all := m.Excesses(q); len(all) > 0 {
		return all[0]
	}
	return nil
}

// maxExcesses is how many functions that are too large Excesses lists.
const maxExcesses = 20

// Excesses compares m with q and returns all that is too much; of functions, the first twenty.
func (m *Module) Excesses(q Quota) []*Excess {
	var all []*Excess
	check := func(what string, got, limit uint64, next string) {
		if got > limit {
			all = append(all, &Excess{what, got, limit, next})
		}
	}
	check("bytes of the file:", uint64(len(m.Bytes)), uint64(q.Bytes), "build it without debug information (Go: -ldflags='-s -w'; Rust: strip = true), or split the plugin")
	check("functions:", uint64(m.ImportedFuncs()+len(m.Funcs)), uint64(q.Funcs), "link less into the plugin, or split it")
	for i, b := range m.Bodies {
		locals := b.Locals
		if t, ok := m.FuncType(uint32(m.ImportedFuncs() + i)); ok {
			locals += uint64(len(t.Params))
		}
		check(fmt.Sprintf("locals of function %d:", i), locals, q.Locals, "split this function")
		check(fmt.Sprintf("bytes of function %d:", i), uint64(b.To-b.From), uint64(q.Body), "split this function; a table belongs into data")
		if len(all) > maxExcesses {
			break
		}
	}
	for _, t := range m.Tables {
		check("table elements:", uint64(t.Min), uint64(q.Table), "link less into the plugin, or split it")
	}
	for _, l := range m.Memories {
		check("pages of 64 KiB of memory at the start:", uint64(l.Min), uint64(q.Pages), "raise limits.memory in the plugin block, or build it with less static data and a smaller stack")
	}
	check("memories:", uint64(len(m.Memories)), 1, "build it for core WebAssembly 2.0, which has one memory")
	return all
}

// Capped returns a copy of the module's bytes in which the memory that it defines may grow to at most pages and its tables
// to at most elements.
func (m *Module) Capped(pages, elements uint32) []byte {
	out := append([]byte(nil), m.Bytes[:8]...)
	for _, s := range m.Sections {
		var body []byte
		switch s.ID {
		case SectionMemory:
			body = AppendU32(nil, uint32(len(m.Memories)))
			for _, l := range m.Memories {
				body = l.appendCapped(body, pages)
			}
		case SectionTable:
			body = AppendU32(nil, uint32(len(m.Tables)))
			for _, t := range m.Tables {
				body = t.appendCapped(append(body, t.Ref), elements)
			}
		default:
			out = append(out, m.Bytes[s.From:s.To]...)
			continue
		}
		out = append(out, s.ID)
		out = AppendU32(out, uint32(len(body)))
		out = append(out, body...)
	}
	return out
}

// appendCapped appends l with a maximum of at most top, but not below its minimum.
func (l Limits) appendCapped(dst []byte, top uint32) []byte {
	if l.HasMax {
		top = min(top, l.Max)
	}
	return AppendU32(AppendU32(append(dst, 1), l.Min), max(top, l.Min))
}
