package statestore

import (
	"bytes"

	"github.com/cespare/xxhash/v2"
)

// A table finds what has a hash: open addressing, linear probing, at most three quarters full. A slot is the hash in the
// upper half and an index + 1 in the lower one, so that what is not there is known without a look at anything else.

// hashOf returns the hash of a key, folded so that all bits count.
func hashOf(key []byte) uint32 {
	h := xxhash.Sum64(key)
	return uint32(h ^ h>>32)
}

func compare(a, b []byte) int { return bytes.Compare(a, b) }

// slotOf makes a slot.
func slotOf(h uint32, i int) uint64 { return uint64(h)<<32 | uint64(i+1) }

// place puts a slot into a table that has room.
func place(table []uint64, slot uint64) {
	mask := uint32(len(table) - 1)
	p := uint32(slot>>32) & mask
	for table[p] != 0 {
		p = (p + 1) & mask
	}
	table[p] = slot
}

// grown returns table with room for n indexes.
func grown(table []uint64, n int) []uint64 {
	if 4*n <= 3*len(table) {
		return table
	}
	old := table
	table = make([]uint64, max(64, 2*len(old)))
	for _, s := range old {
		if s != 0 {
			place(table, s)
		}
	}
	return table
}

// cleared returns table without its n indexes. A table that has become far too large for them is given up.
func cleared(table []uint64, n int) []uint64 {
	if len(table) > 64*n {
		return nil
	}
	clear(table)
	return table
}

// find looks a key up.
func (o *Overlay) find(key []byte, h uint32) (int, bool) {
	if len(o.table) == 0 {
		return 0, false
	}
	mask := uint32(len(o.table) - 1)
	for p := h & mask; ; p = (p + 1) & mask {
		s := o.table[p]
		if s == 0 {
			return 0, false
		}
		if uint32(s>>32) != h {
			continue
		}
		if i := uint32(s) - 1; bytes.Equal(o.keyOf(i), key) {
			return int(i), true
		}
	}
}

// insert adds a row that is not in the table.
func (o *Overlay) insert(e entry, key []byte) {
	i := len(o.entries)
	n := fixedLen(key)
	b := &o.buckets[o.bucketFor(e.key, key[:n])]
	e.next = b.head
	b.head = uint32(i + 1)
	b.fresh++
	o.entries = append(o.entries, e)
	o.table = grown(o.table, i+1)
	place(o.table, slotOf(e.hash, i))
}

func (o *Overlay) keyOf(i uint32) []byte { return o.arena.get(o.entries[i].key) }
