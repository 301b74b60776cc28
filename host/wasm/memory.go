package wasm

import "github.com/tetratelabs/wazero/experimental"

// memories reserves address space for the largest size of a guest's memory at once, so that growth neither copies nor
// moves: pages that are not touched cost nothing. The runtime frees memory when a guest exits, in the middle of a call;
// memories gives it back only when the guest is closed, so that what is left can be looked at.
type memories struct{ all []*reserved }

// Allocate implements experimental.MemoryAllocator.
func (m *memories) Allocate(_, largest uint64) experimental.LinearMemory {
	r := &reserved{}
	if b := reserve(largest); b != nil {
		r.b, r.mapped = b, true
	}
	m.all = append(m.all, r)
	return r
}

// free gives all memory back. No guest may use it any more.
func (m *memories) free() {
	for _, r := range m.all {
		if r.mapped {
			unreserve(r.b)
		}
		r.b, r.mapped = nil, false
	}
	m.all = nil
}

// reserved is one linear memory.
type reserved struct {
	b      []byte
	mapped bool
}

// Reallocate returns the first size bytes.
func (r *reserved) Reallocate(size uint64) []byte {
	if r.mapped {
		if size > uint64(len(r.b)) {
			return nil
		}
		return r.b[:size:len(r.b)]
	}
	// No address space could be had: grow as slices do.
	grown := make([]byte, size)
	copy(grown, r.b)
	r.b = grown
	return grown
}

// Free implements experimental.LinearMemory; see memories.
func (r *reserved) Free() {}
