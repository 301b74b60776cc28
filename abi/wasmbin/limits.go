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

func tooMuch(what string, got, limit uint64) error {
	return fmt.Errorf("%w: %s %d, at most %d are allowed", ErrLimit, what, got, limit)
}

// Check compares m with q. All errors wrap ErrLimit.
func (m *Module) Check(q Quota) error {
	if len(m.Bytes) > q.Bytes {
		return tooMuch("bytes of the file:", uint64(len(m.Bytes)), uint64(q.Bytes))
	}
	if n := m.ImportedFuncs() + len(m.Funcs); n > q.Funcs {
		return tooMuch("functions:", uint64(n), uint64(q.Funcs))
	}
	for i, b := range m.Bodies {
		locals := b.Locals
		if t, ok := m.FuncType(uint32(m.ImportedFuncs() + i)); ok {
			locals += uint64(len(t.Params))
		}
		if locals > q.Locals {
			return tooMuch(fmt.Sprintf("locals of function %d:", i), locals, q.Locals)
		}
		if b.To-b.From > q.Body {
			return tooMuch(fmt.Sprintf("bytes of function %d:", i), uint64(b.To-b.From), uint64(q.Body))
		}
	}
	for _, t := range m.Tables {
		if t.Min > q.Table {
			return tooMuch("table elements:", uint64(t.Min), uint64(q.Table))
		}
	}
	for _, l := range m.Memories {
		if l.Min > q.Pages {
			return tooMuch("pages of 64 KiB of memory at the start:", uint64(l.Min), uint64(q.Pages))
		}
	}
	if len(m.Memories) > 1 {
		return tooMuch("memories:", uint64(len(m.Memories)), 1)
	}
	return nil
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
