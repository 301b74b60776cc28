package statestore

// arena holds the bytes of rows in chunks. Chunks are never moved, so that spans stay good until reset.
type arena struct {
	chunks [][]byte
	cur    int // the chunk that is being filled
	used   int // bytes put since the last reset
	held   int // bytes of the chunks
}

// ref is a span of an arena.
type ref struct{ chunk, off, len uint32 }

// The sizes of chunks: small overlays stay small, large ones do not need many chunks.
const (
	firstChunk = 2 << 10
	maxChunk   = 1 << 20
)

// put copies b into the arena.
func (a *arena) put(b []byte) ref {
	a.used += len(b)
	for a.cur < len(a.chunks) {
		c := a.chunks[a.cur]
		if cap(c)-len(c) >= len(b) {
			r := ref{uint32(a.cur), uint32(len(c)), uint32(len(b))}
			a.chunks[a.cur] = append(c, b...)
			return r
		}
		a.cur++
	}
	size := firstChunk
	if n := len(a.chunks); n > 0 {
		size = min(max(2*cap(a.chunks[n-1]), firstChunk), maxChunk)
	}
	size = max(size, len(b))
	a.held += size
	a.chunks = append(a.chunks, append(make([]byte, 0, size), b...))
	return ref{uint32(a.cur), 0, uint32(len(b))}
}

// get returns the bytes of r.
func (a *arena) get(r ref) []byte { return a.chunks[r.chunk][r.off : r.off+r.len : r.off+r.len] }

// reset empties the arena and keeps the chunks of the usual sizes.
func (a *arena) reset() {
	kept := a.chunks[:0]
	a.held = 0
	for _, c := range a.chunks {
		if cap(c) <= maxChunk {
			kept = append(kept, c[:0])
			a.held += cap(c)
		}
	}
	clear(a.chunks[len(kept):])
	a.chunks = kept
	a.cur, a.used = 0, 0
}
