package statestore

import (
	"bytes"
	"slices"
	"sort"

	"github.com/cespare/xxhash/v2"
)

func hashOf(key []byte) uint64 { return xxhash.Sum64(key) }

func compare(a, b []byte) int { return bytes.Compare(a, b) }

// find looks a key up in the hash table.
func (o *Overlay) find(key []byte, h uint64) (int, bool) {
	if len(o.table) == 0 {
		return 0, false
	}
	mask := uint64(len(o.table) - 1)
	for p := h & mask; ; p = (p + 1) & mask {
		i := o.table[p]
		if i == 0 {
			return 0, false
		}
		if e := &o.entries[i-1]; e.hash == h && bytes.Equal(o.arena.get(e.key), key) {
			return int(i - 1), true
		}
	}
}

// insert adds a row that is not in the table.
func (o *Overlay) insert(e entry) {
	o.entries = append(o.entries, e)
	if len(o.entries)*4 > len(o.table)*3 {
		o.grow()
		return
	}
	o.place(len(o.entries) - 1)
}

func (o *Overlay) place(i int) {
	mask := uint64(len(o.table) - 1)
	p := o.entries[i].hash & mask
	for o.table[p] != 0 {
		p = (p + 1) & mask
	}
	o.table[p] = uint32(i + 1)
}

func (o *Overlay) grow() {
	o.table = make([]uint32, max(64, 2*len(o.table)))
	for i := range o.entries {
		o.place(i)
	}
}

// order brings the rows that were written since the last call into a sorted run, and merges it with the runs before that
// are not much longer. Runs are never changed in place: iterators hold them.
func (o *Overlay) order() {
	if o.sorted == len(o.entries) {
		return
	}
	run := make([]uint32, 0, len(o.entries)-o.sorted)
	for i := o.sorted; i < len(o.entries); i++ {
		run = append(run, uint32(i))
	}
	slices.SortFunc(run, func(a, b uint32) int { return compare(o.keyOf(a), o.keyOf(b)) })
	runs := slices.Clone(o.runs)
	for n := len(runs); n > 0 && len(runs[n-1]) < 4*len(run); n-- {
		run = o.merge(runs[n-1], run)
		runs = runs[:n-1]
	}
	o.runs = append(runs, run)
	o.sorted = len(o.entries)
}

func (o *Overlay) keyOf(i uint32) []byte { return o.arena.get(o.entries[i].key) }

func (o *Overlay) merge(a, b []uint32) []uint32 {
	out := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(o.keyOf(a[0]), o.keyOf(b[0])) < 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// lowerBound returns the place in a run of the first key at or after key.
func (o *Overlay) lowerBound(run []uint32, key []byte) int {
	return sort.Search(len(run), func(i int) bool { return compare(o.keyOf(run[i]), key) >= 0 })
}
