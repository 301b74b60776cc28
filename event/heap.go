package event

// Ref is a span of bytes in a Heap. NullRef stands for null, which is not the empty span.
type Ref struct{ Off, Len uint32 }

// NullRef is the span of nothing at all: a null.
var NullRef = Ref{Off: ^uint32(0)}

// IsNull reports whether r is NullRef.
func (r Ref) IsNull() bool { return r.Off == ^uint32(0) }

// Heap holds the bytes that the rows of one or more bundles refer to. It only grows until it is reset, so that a span
// stays good as long as its bundle does. A Heap is not safe for concurrent use.
//
// The limit of a heap is MaxHeap bytes; who fills one keeps well below it by ending the bundle at BundleBytes.
type Heap struct{ bytes []byte }

// MaxHeap is the size in bytes that a heap can address.
const MaxHeap = 1<<32 - 2

// Put copies p into the heap and returns its span; nil gives NullRef, an empty slice an empty span.
func (h *Heap) Put(p []byte) Ref {
	if p == nil {
		return NullRef
	}
	off := len(h.bytes)
	h.bytes = append(h.bytes, p...)
	return Ref{uint32(off), uint32(len(p))}
}

// PutString copies s into the heap and returns its span.
func (h *Heap) PutString(s string) Ref {
	off := len(h.bytes)
	h.bytes = append(h.bytes, s...)
	return Ref{uint32(off), uint32(len(s))}
}

// Get returns the bytes of r, nil for NullRef. They belong to the heap: they are good until Reset and must not be changed.
func (h *Heap) Get(r Ref) []byte {
	if r.IsNull() {
		return nil
	}
	return h.bytes[r.Off : r.Off+r.Len : r.Off+r.Len]
}

// Begin returns the heap's bytes to append to; End takes the grown slice back and returns the span of what was appended
// since Begin. Nothing else may use the heap in between.
func (h *Heap) Begin() []byte { return h.bytes }

// End is described at Begin.
func (h *Heap) End(grown []byte) Ref {
	off := len(h.bytes)
	h.bytes = grown
	return Ref{uint32(off), uint32(len(grown) - off)}
}

// Len returns the number of bytes in the heap.
func (h *Heap) Len() int { return len(h.bytes) }

// Bytes returns all bytes of the heap, for framing.
func (h *Heap) Bytes() []byte { return h.bytes }

// Reset empties the heap and keeps its memory. All spans of it are void.
func (h *Heap) Reset() { h.bytes = h.bytes[:0] }
