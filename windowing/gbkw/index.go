package gbkw

import (
	"math/bits"
	"slices"

	"github.com/wgate/wgate/event"
)

// entry is one time at which something is due: the passing of the end of one window (of all sessions that are complete at
// that time), or a tick of the clock.
type entry struct {
	at, start event.Time
	groupSet             // key groups that may have rows for it
	rows      int        // sessions and clock: how many rows there are
	held      int        // cells with something unsent that came before the end was passed
	low       event.Time // no result owed by a cell is earlier; of a slice, the least watermark before one of its elements
}

// groupSet is a set of key groups.
type groupSet [2]uint64

func (s *groupSet) add(group byte) { s[group>>6] |= 1 << (group & 63) }

func (s *groupSet) remove(group byte) { s[group>>6] &^= 1 << (group & 63) }

func (s *groupSet) has(group byte) bool { return s[group>>6]>>(group&63)&1 != 0 }

func (s *groupSet) union(o groupSet) { s[0], s[1] = s[0]|o[0], s[1]|o[1] }

// next returns the first group of the set from g on; 128 if there is none.
func (s *groupSet) next(g int) int {
	for ; g < 128; g = (g | 63) + 1 {
		if w := s[g>>6] >> (g & 63); w != 0 {
			return g + bits.TrailingZeros64(w)
		}
	}
	return 128
}

// index is what is due, in order of time, then of start. It is in memory only: it can be had from the state again. Entries
// lie in chunks, so that one can be put in the middle of very many.
type index struct {
	chunks [][]*entry
	n      int
}

const chunkMax = 512

func before(e *entry, at, start event.Time) bool { return e.at < at || e.at == at && e.start < start }

// seek returns the place of the first entry that is not before (at, start).
func (x *index) seek(at, start event.Time) (chunk, i int) {
	lo, hi := 0, len(x.chunks)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		c := x.chunks[mid]
		if before(c[len(c)-1], at, start) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(x.chunks) {
		return lo, 0
	}
	c := x.chunks[lo]
	l, h := 0, len(c)
	for l < h {
		mid := int(uint(l+h) >> 1)
		if before(c[mid], at, start) {
			l = mid + 1
		} else {
			h = mid
		}
	}
	return lo, l
}

// from returns the first entry that is not before (at, start), nil if there is none.
func (x *index) from(at, start event.Time) *entry {
	c, i := x.seek(at, start)
	if c == len(x.chunks) {
		return nil
	}
	return x.chunks[c][i]
}

// after returns the first entry later than t, nil if there is none.
func (x *index) after(t event.Time) *entry {
	if t == event.MaxTime {
		return nil
	}
	return x.from(t+1, event.MinTime)
}

// following returns the entry behind (at, start), which need not be there itself.
func (x *index) following(at, start event.Time) *entry {
	if start < event.MaxTime {
		return x.from(at, start+1)
	}
	return x.after(at)
}

// get returns the entry of (at, start), which is made if it is not there.
func (x *index) get(at, start event.Time) *entry {
	c, i := x.seek(at, start)
	if c < len(x.chunks) {
		if e := x.chunks[c][i]; e.at == at && e.start == start {
			return e
		}
	}
	e := &entry{at: at, start: start, low: event.MaxTime}
	x.n++
	if c == len(x.chunks) {
		if c == 0 {
			x.chunks = append(x.chunks, []*entry{e})
			return e
		}
		c, i = c-1, len(x.chunks[c-1])
	}
	x.chunks[c] = slices.Insert(x.chunks[c], i, e)
	if chunk := x.chunks[c]; len(chunk) > chunkMax {
		half := slices.Clone(chunk[chunkMax/2:])
		clear(chunk[chunkMax/2:])
		x.chunks[c] = chunk[:chunkMax/2]
		x.chunks = slices.Insert(x.chunks, c+1, half)
	}
	return e
}

// remove takes the entry of (at, start) out.
func (x *index) remove(at, start event.Time) {
	c, i := x.seek(at, start)
	if c == len(x.chunks) {
		return
	}
	if e := x.chunks[c][i]; e.at != at || e.start != start {
		return
	}
	x.n--
	x.chunks[c] = slices.Delete(x.chunks[c], i, i+1)
	if len(x.chunks[c]) == 0 {
		x.chunks = slices.Delete(x.chunks, c, c+1)
	}
}

// first returns the earliest entry, nil if there is none.
func (x *index) first() *entry {
	if len(x.chunks) == 0 {
		return nil
	}
	return x.chunks[0][0]
}

func (x *index) reset() { *x = index{} }
