package gbkw

import (
	"bytes"

	"github.com/wgate/wgate/event"
)

// table finds the cell of a key and window among those of a call: open addressing, linear probing, at most half full. It
// is reused from call to call.
type table struct {
	slots  []int32  // cell + 1, 0 is free
	hashes []uint64 // of each cell
}

func (t *table) reset() {
	clear(t.slots)
	t.hashes = t.hashes[:0]
}

// mix makes a hash of a key's hash and a window.
func mix(h uint64, w event.Window) uint64 {
	h ^= uint64(w.End) * 0x9E3779B97F4A7C15
	h ^= h >> 29
	h += uint64(w.Start) * 0xBF58476D1CE4E5B9
	return h ^ h>>32
}

// find returns the cell of key and window, or -1 and remembers that the next cell is to be it.
func (t *table) find(h uint64, key []byte, w event.Window, cells []cell) int32 {
	if 2*(len(t.hashes)+1) > len(t.slots) {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s == 0 {
			t.hashes = append(t.hashes, h)
			t.slots[i] = int32(len(t.hashes))
			return -1
		}
		if c := &cells[s-1]; t.hashes[s-1] == h && c.win == w && bytes.Equal(c.key, key) {
			return s - 1
		}
	}
}

func (t *table) grow() {
	n := max(1024, 2*len(t.slots))
	t.slots = make([]int32, n)
	mask := uint64(n - 1)
	for c, h := range t.hashes {
		i := h & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = int32(c + 1)
	}
}
