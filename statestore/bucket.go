package statestore

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// bucket is the rows of an overlay whose keys have the same fixed part: up to the record's key.
type bucket struct {
	prefix ref
	hash   uint32
	head   uint32     // index of the newest row that is in no run + 1
	fresh  uint32     // how many rows are in no run
	runs   [][]uint32 // sorted, the oldest first
}

// bucketBytes is about what a bucket costs.
const bucketBytes = 96

// groupEnd is how many bytes of a key stand before what depends on its kind.
const groupEnd = 6

// fixedLen returns how much of a key is its fixed part. Of a key that is too short to be a row's that is all. Buckets are
// in the order of their prefixes: where one prefix begins with another, the shorter one is a whole key, and alone.
func fixedLen(key []byte) int {
	if len(key) < groupEnd {
		return len(key)
	}
	return min(len(key), groupEnd+Kind(key[4]).fixed())
}

// complete reports whether lo has a whole fixed part, so that more than one key may share it.
func complete(lo []byte) bool {
	return len(lo) >= groupEnd && len(lo) >= groupEnd+Kind(lo[4]).fixed()
}

// oneBucket reports whether all keys of [lo, hi) have the same fixed part, which is lo[:n]. end is scratch.
func oneBucket(lo, hi, end []byte) (n int, one bool, grown []byte) {
	if !complete(lo) || hi == nil {
		return 0, false, end
	}
	n = fixedLen(lo)
	if bytes.HasPrefix(hi, lo[:n]) {
		return n, true, end
	}
	e := PrefixEnd(end[:0], lo[:n])
	if e == nil {
		return n, true, end
	}
	return n, compare(hi, e) <= 0, e
}

// within is oneBucket with the overlay's scratch.
func (o *Overlay) within(lo, hi []byte) (n int, one bool) {
	n, one, o.end = oneBucket(lo, hi, o.end)
	return n, one
}

// bucketOf returns the number of a bucket.
func (o *Overlay) bucketOf(prefix []byte, h uint32) (uint32, bool) {
	if len(o.places) == 0 {
		return 0, false
	}
	mask := uint32(len(o.places) - 1)
	for p := h & mask; ; p = (p + 1) & mask {
		s := o.places[p]
		if s == 0 {
			return 0, false
		}
		if uint32(s>>32) != h {
			continue
		}
		if b := uint32(s) - 1; bytes.Equal(o.arena.get(o.buckets[b].prefix), prefix) {
			return b, true
		}
	}
}

// bucketFor returns the number of the bucket for a key that lies at key, which is made if it is not there.
func (o *Overlay) bucketFor(key ref, prefix []byte) uint32 {
	h := hashOf(prefix)
	if b, found := o.bucketOf(prefix, h); found {
		return b
	}
	b := len(o.buckets)
	key.len = uint32(len(prefix))
	o.buckets = append(o.buckets, bucket{prefix: key, hash: h})
	o.places = grown(o.places, b+1)
	place(o.places, slotOf(h, b))
	return uint32(b)
}

// directory brings the buckets into order. It is made anew when there are more, never changed: iterators hold it.
func (o *Overlay) directory() []uint32 {
	if len(o.dir) == len(o.buckets) {
		return o.dir
	}
	o.dir = make([]uint32, len(o.buckets))
	for i := range o.dir {
		o.dir[i] = uint32(i)
	}
	slices.SortFunc(o.dir, func(a, b uint32) int {
		return compare(o.arena.get(o.buckets[a].prefix), o.arena.get(o.buckets[b].prefix))
	})
	return o.dir
}

// from returns the buckets, in order, that may have keys at or after lo.
func (o *Overlay) from(lo []byte) []uint32 {
	return o.ahead(o.directory(), lo)
}

func (o *Overlay) ahead(dir []uint32, lo []byte) []uint32 {
	p := lo[:fixedLen(lo)]
	return dir[sort.Search(len(dir), func(i int) bool { return compare(o.arena.get(o.buckets[dir[i]].prefix), p) >= 0 }):]
}

// sortItem is a row to sort: the eight bytes of its key behind what all have in common, and its index.
type sortItem struct {
	word uint64
	i    uint32
}

// order brings the rows of b that are in no run into a sorted run, and merges it with the runs before that are not much
// longer. Runs are never changed in place: iterators hold them.
func (o *Overlay) order(b *bucket) {
	if b.fresh == 0 {
		return
	}
	run := o.sortFresh(b)
	n := len(b.runs)
	for n > 0 && len(b.runs[n-1]) < 4*len(run) {
		run = o.merge(b.runs[n-1], run)
		n--
	}
	if n == len(b.runs) {
		b.runs = append(b.runs, run)
	} else {
		b.runs = append(slices.Clone(b.runs[:n]), run)
	}
	b.head, b.fresh = 0, 0
}

// sortFresh returns the rows of b that are in no run, in order.
func (o *Overlay) sortFresh(b *bucket) []uint32 {
	items := slices.Grow(o.items[:0], int(b.fresh))[:b.fresh]
	o.items = items
	same := int(b.prefix.len)
	first := o.keyOf(b.head - 1)
	common := len(first)
	at := len(items)
	for i := b.head; i != 0; i = o.entries[i-1].next {
		at--
		items[at].i = i - 1
		if key := o.keyOf(i - 1); common > same {
			common = same + sharedLen(key[same:], first[same:common])
		}
	}
	for k := range items {
		items[k].word = word(o.keyOf(items[k].i)[common:])
	}
	slices.SortFunc(items, func(a, b sortItem) int {
		switch {
		case a.word < b.word:
			return -1
		case a.word > b.word:
			return 1
		}
		return compare(o.keyOf(a.i)[common:], o.keyOf(b.i)[common:])
	})
	run := make([]uint32, len(items))
	for k := range items {
		run[k] = items[k].i
	}
	return run
}

// sharedLen returns how many bytes a and b begin with alike.
func sharedLen(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// word returns the first eight bytes of key as a number that sorts as they do; what is not there counts as zero.
func word(key []byte) uint64 {
	if len(key) >= 8 {
		return binary.BigEndian.Uint64(key)
	}
	var b [8]byte
	copy(b[:], key)
	return binary.BigEndian.Uint64(b[:])
}

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
	if len(run) == 0 || compare(o.keyOf(run[0]), key) >= 0 { // mostly it is the first
		return 0
	}
	return sort.Search(len(run), func(i int) bool { return compare(o.keyOf(run[i]), key) >= 0 })
}
