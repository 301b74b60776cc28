package statestore

import (
	"errors"
	"math"
)

// ErrFrozen is returned for a write to an overlay whose epoch is being committed.
var ErrFrozen = errors.New("statestore: the epoch is frozen: no writes until it has committed")

// Overlay is what an epoch has written, over the committed rows that it began with. It implements View, and Reader for
// an overlay of the next epoch.
//
// Rows live in arenas and are found by a hash table; their order is made only when Scan or DeleteRange asks for it, in
// sorted runs that are merged as they grow, so that many writes with few scans cost little more than the hash table.
// Deleted ranges hide committed rows. An iterator sees the overlay as it was when Scan was called: runs and ranges are
// not changed in place, and a row that is written while an iterator is open keeps its older versions.
//
// One goroutine uses an overlay. After Freeze a second one may call Ranges, Rows, Size, Len and AppendBatch beside it.
type Overlay struct {
	base    Reader
	arena   arena
	entries []entry
	table   []uint32 // open addressing: index of the entry + 1
	runs    [][]uint32
	sorted  int // entries[:sorted] are in runs
	old     []version
	ranges  ranges
	seq     uint32 // counts scans: what an iterator may see
	open    int    // iterators not yet closed
	idle    []*overlayIter
	frozen  bool
}

// entry is a written row. Its key never changes; its value is the newest version.
type entry struct {
	hash uint64
	key  ref
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
const entryBytes = 64

// NewOverlay returns an empty overlay over base.
func NewOverlay(base Reader) *Overlay { return &Overlay{base: base} }

// Reset empties the overlay, puts it over base and keeps its memory for reuse. Iterators that are still open must not be
// used any more.
func (o *Overlay) Reset(base Reader) {
	o.base = base
	o.arena.reset()
	o.entries, o.runs, o.old = o.entries[:0], o.runs[:0], o.old[:0]
	clear(o.table)
	o.sorted, o.seq, o.open = 0, 0, 0
	o.ranges = ranges{}
	o.frozen = false
}

// Freeze ends writing: from here on until Reset every write is ErrFrozen.
func (o *Overlay) Freeze() { o.frozen = true }

// Size returns about how many bytes of memory the writes hold: what ends an epoch at its limit.
func (o *Overlay) Size() int {
	return o.arena.used + len(o.entries)*entryBytes + len(o.old)*20 + o.ranges.size
}

// Len returns the number of rows written or deleted and of ranges deleted.
func (o *Overlay) Len() int { return len(o.entries) + len(o.ranges.spans) }

// Get returns the value of key: see View.
func (o *Overlay) Get(key []byte) (val []byte, ok bool, err error) {
	if i, found := o.find(key, hashOf(key)); found {
		v := &o.entries[i].val
		if v.del {
			return nil, false, nil
		}
		return o.arena.get(v.val), true, nil
	}
	if o.ranges.covers(key) {
		return nil, false, nil
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
	h := hashOf(key)
	i, found := o.find(key, h)
	if !found {
		e := entry{hash: h, key: o.arena.put(key), val: version{seq: o.seq, prev: -1, del: del}}
		if !del {
			e.val.val = o.arena.put(val)
			e.val.room = e.val.val.len
		}
		o.insert(e)
		return nil
	}
	v := &o.entries[i].val
	o.keep(v)
	v.del = del
	if del {
		return nil
	}
	if uint32(len(val)) <= v.room {
		v.val.len = uint32(len(val))
		copy(o.arena.get(v.val), val)
		return nil
	}
	v.val = o.arena.put(val)
	v.room = v.val.len
	return nil
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
	o.order()
	for _, run := range o.runs {
		for _, i := range run[o.lowerBound(run, lo):] {
			e := &o.entries[i]
			if compare(o.arena.get(e.key), hi) >= 0 {
				break
			}
			if !e.val.del {
				o.keep(&e.val)
				e.val.del = true
			}
		}
	}
	o.ranges.add(lo, hi)
	return nil
}

// Scan returns the rows of [lo, hi) in order: see View. A nil hi is the end of all rows.
func (o *Overlay) Scan(lo, hi []byte) (Iterator, error) {
	base, err := o.base.Scan(lo, hi)
	if err != nil {
		return nil, err
	}
	o.order()
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

// Rows calls fn for every written row, in the order of their first writing: see Writes.
func (o *Overlay) Rows(fn func(key, val []byte, del bool) error) error {
	for i := range o.entries {
		e := &o.entries[i]
		key := o.arena.get(e.key)
		if e.val.del {
			if o.ranges.covers(key) {
				continue
			}
			if err := fn(key, nil, true); err != nil {
				return err
			}
			continue
		}
		if err := fn(key, o.arena.get(e.val.val), false); err != nil {
			return err
		}
	}
	return nil
}
