package engine

// texts lends the memory in which records for the outputs are written. What was written belongs to the outputs until the
// epoch has ended: only then nothing refers to it any more, and it is used again.
type texts struct {
	cur  []byte
	used [][]byte
	free [][]byte
}

// The size of a piece of memory, and how many pieces are kept beyond an epoch.
const (
	textBytes = 256 << 10
	textsKept = 64
)

// take returns the piece that is being written, with room for n more bytes.
func (x *texts) take(n int) []byte {
	if cap(x.cur)-len(x.cur) >= n && x.cur != nil {
		return x.cur
	}
	if x.cur != nil {
		x.used = append(x.used, x.cur)
	}
	if k := len(x.free) - 1; k >= 0 && cap(x.free[k]) >= n {
		x.cur = x.free[k]
		x.free[k] = nil
		x.free = x.free[:k]
		return x.cur
	}
	x.cur = make([]byte, 0, max(n, textBytes))
	return x.cur
}

// back takes the grown piece back.
func (x *texts) back(grown []byte) { x.cur = grown }

// release makes all memory free: the epoch has committed, and with it every output has let go.
func (x *texts) release() {
	for i, p := range x.used {
		if len(x.free) < textsKept && cap(p) <= 4*textBytes {
			x.free = append(x.free, p[:0])
		}
		x.used[i] = nil
	}
	x.used, x.cur = x.used[:0], x.cur[:0]
}
