package statestore

import (
	"errors"
	"math"
	"slices"
)

// ErrFrozen is returned for a write to an overlay whose epoch is being committed.
var ErrFrozen = errors.New("statestore: the epoch is frozen: no writes until it has committed")

// Overlay is what an epoch has written, over the committed rows that it began with. It implements View, and Reader for
// an overlay of the next epoch.
//
// Rows live in arenas and are found by a hash table. Rows that share the fixed part of their keys (all cells of one window
// and key group) make a bucket; their order is made only when Scan or DeleteRange asks for that bucket, in sorted runs that
// are merged as they grow, so that many writes with few scans cost little more than the hash table. Deleted ranges hide
// committed rows. An iterator sees the overlay as it was when Scan was called: runs and ranges are not changed in place,
// and a row that is written while an iterator is open keeps its older versions.
//
// One goroutine uses an overlay. After Freeze a second one may call Ranges, Rows, Size, Len and AppendBatch beside it.
type Overlay struct {
	base     Reader
	resident *Resident // base, if it is one: it is asked with the hash that is there already
	arena    arena
	waste    int // bytes of the arena that no row needs any more
	entries  []entry
	table    []uint64 // of entries: see table.go
	live     int      // rows that are not deleted
	buckets  []bucket
	places   []uint64 // of buckets, like table
	dir      []uint32 // buckets in order, if there are as many as buckets
	items    []sortItem
	end      []byte // scratch of within
	old      []version
	ranges   ranges
	seq      uint32 // counts scans: what an iterator may see
	open     int    // iterators not yet closed
	idle     []*overlayIter
	frozen   bool
}

// entry is a written row. Its key never changes; its value is the newest version.
type entry struct {
	key  ref
	hash uint32
	next uint32 // index of the entry that was written before in the same bucket + 1, while it is in no run
	val  version
}

// version is a value of a row as of the scans after number seq.
type version struct {
	val  ref
	room uint32 // bytes that the arena holds for the value
	seq  uint32
	prev int32 // index in Overlay.old, -1 if there is none: the row was not in the overlay then
	del  bool
}

// entryBytes is what a row costs beside its bytes.
const entryBytes = 72

// NewOverlay returns an empty overlay over base.
func NewOverlay(base Reader) *Overlay {
	o := &Overlay{}
	o.over(base)
	return o
}

func (o *Overlay) over(base Reader) {
	o.base = base
	o.resident, _ = base.(*Resident)
}

// Reset empties the overlay, puts it over base and keeps its memory for reuse. Iterators that are still open must not be
// used any more.
func (o *Overlay) Reset(base Reader) {
	o.over(base)
	o.arena.reset()
	if n := len(o.entries); n > 0 {
		o.table = cleared(o.table, n)
		o.places = cleared(o.places, len(o.buckets))
	}
	clear(o.buckets) // they refer to runs
	o.entries, o.buckets, o.dir, o.old = o.entries[:0], o.buckets[:0], nil, o.old[:0]
	o.live, o.waste, o.seq, o.open = 0, 0, 0, 0
	o.ranges = ranges{}
	o.frozen = false
}

// Freeze ends writing: from here on until Reset every write is ErrFrozen. Rows are given in order from now on.
func (o *Overlay) Freeze() {
	if o.frozen {
		return
	}
	o.frozen = true
	for i := range o.buckets {
		b := &o.buckets[i]
		o.order(b)
		for n := len(b.runs); n > 1; n = len(b.runs) {
			b.runs = append(slices.Clone(b.runs[:n-2]), o.merge(b.runs[n-2], b.runs[n-1]))
		}
	}
	o.directory()
}

// Size returns about how many bytes of memory the writes hold: what ends an epoch at its limit.
func (o *Overlay) Size() int {
	return o.arena.used + len(o.entries)*entryBytes + len(o.buckets)*bucketBytes + len(o.old)*20 + o.ranges.size
}

// Len returns the number of rows written or deleted and of ranges deleted.
func (o *Overlay) Len() int { return len(o.entries) + len(o.ranges.spans) }

// Get returns the value of key: see View.
func (o *Overlay) Get(key []byte) (val []byte, ok bool, err error) {
	return o.get(key, hashOf(key))
}

func (o *Overlay) get(key []byte, h uint32) (val []byte, ok bool, err error) {
	if i, found := o.find(key, h); found {
		v := &o.entries[i].val
		if v.del {
			return nil, false, nil
		}
		return o.arena.get(v.val), true, nil
	}
	if o.ranges.covers(key) {
		return nil, false, nil
	}
	if o.resident != nil {
		return o.resident.get(key, h)
	}
	return o.base.Get(key)
}

// Put sets the value of key: see View.
func (o *Overlay) Put(key, val []byte) error { return o.write(key, val, false) }

// Delete removes key: see View.
func (o *Overlay) Delete(key []byte) error { return o.write(key, nil, true) }

func (o *Overlay) write(key, val []byte, del bool) error {
	if o.frozen {
		return ErrFrozen
	}
	if Reserved(key) {
		return ErrReserved
	}
	if len(key) > math.MaxInt32 || len(val) > math.MaxInt32 {
		return errors.New("statestore: a row is larger than 2 GiB")
	}
	o.set(key, val, del, hashOf(key))
	return nil
}

// set writes a row that may be written.
func (o *Overlay) set(key, val []byte, del bool, h uint32) {
	i, found := o.find(key, h)
	if !found {
		e := entry{hash: h, key: o.arena.put(key), val: version{seq: o.seq, prev: -1, del: del}}
		if !del {
			e.val.val = o.arena.put(val)
			e.val.room = e.val.val.len
			o.live++
		}
		o.insert(e, key)
		return
	}
	v := &o.entries[i].val
	o.keep(v)
	o.count(v.del, del)
	v.del = del
	if del {
		return
	}
	if uint32(len(val)) <= v.room {
		v.val.len = uint32(len(val))
		copy(o.arena.get(v.val), val)
		return
	}
	o.waste += int(v.room)
	v.val = o.arena.put(val)
	v.room = v.val.len
}

// count keeps live up to date when a row's deletion changes.
func (o *Overlay) count(was, is bool) {
	switch {
	case was && !is:
		o.live++
	case !was && is:
		o.live--
	}
}

// keep saves a version that an open iterator may still want to see, before it is changed.
func (o *Overlay) keep(v *version) {
	if o.open == 0 || v.seq == o.seq {
		return
	}
	o.old = append(o.old, *v)
	v.prev = int32(len(o.old) - 1)
	v.seq = o.seq
	v.room = 0 // the old version has the bytes
}

// DeleteRange removes all keys in [lo, hi): see View. A nil hi is the end of all rows.
func (o *Overlay) DeleteRange(lo, hi []byte) error {
	if o.frozen {
		return ErrFrozen
	}
	if hi == nil {
		hi = endOfRows
	}
	if compare(lo, hi) >= 0 {
		return nil
	}
	if compare(hi, endOfRows) > 0 {
		return ErrReserved
	}
	o.erase(lo, hi)
	o.ranges.add(&o.arena, lo, hi)
	return nil
}

// erase deletes the written rows of [lo, hi).
func (o *Overlay) erase(lo, hi []byte) {
	if n, one := o.within(lo, hi); one {
		if b, found := o.bucketOf(lo[:n], hashOf(lo[:n])); found {
			o.eraseIn(&o.buckets[b], lo, hi)
		}
		return
	}
	for _, b := range o.from(lo) {
		if compare(o.arena.get(o.buckets[b].prefix), hi) >= 0 {
			break
		}
		o.eraseIn(&o.buckets[b], lo, hi)
	}
}

func (o *Overlay) eraseIn(b *bucket, lo, hi []byte) {
	o.order(b)
	for _, run := range b.runs {
		for _, i := range run[o.lowerBound(run, lo):] {
			e := &o.entries[i]
			if compare(o.arena.get(e.key), hi) >= 0 {
				break
			}
			if !e.val.del {
				o.keep(&e.val)
				o.live--
				e.val.del = true
			}
		}
	}
}

// Scan returns the rows of [lo, hi) in order: see View. A nil hi is the end of all rows.
func (o *Overlay) Scan(lo, hi []byte) (Iterator, error) {
	base, err := o.base.Scan(lo, hi)
	if err != nil {
		return nil, err
	}
	return o.iterator(base, lo, hi), nil
}

// Ranges calls fn for every deleted range: see Writes.
func (o *Overlay) Ranges(fn func(lo, hi []byte) error) error {
	for _, s := range o.ranges.spans {
		if err := fn(s.lo, s.hi); err != nil {
			return err
		}
	}
	return nil
}

// Rows calls fn for every written row, in order once the overlay is frozen: see Writes.
func (o *Overlay) Rows(fn func(key, val []byte, del bool) error) error {
	if !o.frozen {
		for i := range o.entries {
			if err := o.row(&o.entries[i], fn); err != nil {
				return err
			}
		}
		return nil
	}
	for _, b := range o.dir {
		for _, run := range o.buckets[b].runs { // one
			for _, i := range run {
				if err := o.row(&o.entries[i], fn); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (o *Overlay) row(e *entry, fn func(key, val []byte, del bool) error) error {
	key := o.arena.get(e.key)
	if !e.val.del {
		return fn(key, o.arena.get(e.val.val), false)
	}
	if o.ranges.covers(key) {
		return nil
	}
	return fn(key, nil, true)
}
