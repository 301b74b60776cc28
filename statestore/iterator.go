package statestore

import "bytes"

// overlayIter merges the rows of an overlay with those of its base.
type overlayIter struct {
	o       *Overlay
	snap    uint32 // versions up to this number are visible
	count   uint32 // rows up to this number are
	lo, hi  []byte
	dir     []uint32   // buckets still to come
	bounded bool       // the bucket may have rows behind hi
	runs    [][]uint32 // what is left of each run of the bucket
	ranges  []span     // deleted ranges that may still hide rows of the base
	base    Iterator
	onBase  bool // base stands on a row that is not yet given
	began   bool
	key     []byte
	val     []byte
	err     error
}

// iterator starts an iterator over the rows of [lo, hi).
func (o *Overlay) iterator(base Iterator, lo, hi []byte) *overlayIter {
	it := &overlayIter{}
	if n := len(o.idle); n > 0 {
		it, o.idle = o.idle[n-1], o.idle[:n-1]
	}
	if hi == nil {
		hi = endOfRows
	}
	*it = overlayIter{
		o: o, snap: o.seq, count: uint32(len(o.entries)), base: base, runs: it.runs[:0],
		lo: append(it.lo[:0], lo...), hi: append(it.hi[:0], hi...),
	}
	if compare(lo, hi) < 0 {
		it.start(lo, hi)
	}
	it.ranges = o.ranges.share(lo)
	if !o.frozen {
		o.seq++
		o.open++
	}
	return it
}

// start finds the first bucket.
func (it *overlayIter) start(lo, hi []byte) {
	n, one := it.o.within(lo, hi)
	if !one {
		it.dir = it.o.from(lo)
		return
	}
	if b, found := it.o.bucketOf(lo[:n], hashOf(lo[:n])); found {
		it.enter(b)
	}
}

// enter begins with the rows of a bucket.
func (it *overlayIter) enter(n uint32) {
	b := &it.o.buckets[n]
	it.o.order(b)
	it.runs = it.runs[:0]
	it.bounded = bytes.HasPrefix(it.hi, it.o.arena.get(b.prefix))
	for _, run := range b.runs {
		if at := it.o.lowerBound(run, it.lo); at < len(run) {
			it.runs = append(it.runs, run[at:])
		}
	}
}

// Next moves to the next row.
func (it *overlayIter) Next() bool {
	if !it.began {
		it.began = true
		it.nextBase(it.base.Next())
	} else if it.onBase && it.key == nil {
		it.nextBase(it.base.Next())
	}
	for it.err == nil {
		r := it.least()
		if r < 0 {
			return it.giveBase()
		}
		e := &it.o.entries[it.runs[r][0]]
		key := it.o.arena.get(e.key)
		if it.onBase {
			switch c := compare(it.base.Key(), key); {
			case c < 0:
				return it.giveBase()
			case c == 0:
				it.nextBase(it.base.Next())
			}
		}
		it.advance(r)
		if v := it.visible(&e.val); !v.del {
			it.key, it.val = key, it.o.arena.get(v.val)
			return true
		}
	}
	return false
}

// visible returns the version that was the newest when the scan began.
func (it *overlayIter) visible(v *version) *version {
	for v.seq > it.snap {
		v = &it.o.old[v.prev]
	}
	return v
}

// least returns the run whose next key is the smallest, -1 if all are through.
func (it *overlayIter) least() int {
	for {
		best := it.leastHere()
		if best >= 0 {
			if it.bounded && compare(it.o.keyOf(it.runs[best][0]), it.hi) >= 0 {
				it.runs, it.dir = it.runs[:0], nil
				return -1
			}
			return best
		}
		if len(it.dir) == 0 {
			return -1
		}
		n := it.dir[0]
		it.dir = it.dir[1:]
		if compare(it.o.arena.get(it.o.buckets[n].prefix), it.hi) >= 0 {
			it.dir = nil
			return -1
		}
		it.enter(n)
	}
}

// leastHere is least for the bucket that was entered. Rows that were written after the scan began are passed over.
func (it *overlayIter) leastHere() int {
	best := -1
	var key []byte
	for i := range it.runs {
		for len(it.runs[i]) > 0 && it.runs[i][0] >= it.count {
			it.advance(i)
		}
		if len(it.runs[i]) == 0 {
			continue
		}
		if len(it.runs) == 1 {
			return 0
		}
		k := it.o.keyOf(it.runs[i][0])
		if best < 0 || compare(k, key) < 0 {
			best, key = i, k
		}
	}
	return best
}

func (it *overlayIter) advance(r int) { it.runs[r] = it.runs[r][1:] }

// giveBase makes the row on which the base stands the current one. The base is moved on by the call after.
func (it *overlayIter) giveBase() bool {
	it.key, it.val = nil, nil
	return it.onBase
}

// nextBase settles the base on a row that no deleted range hides.
func (it *overlayIter) nextBase(ok bool) {
	for ok && len(it.ranges) > 0 {
		key := it.base.Key()
		r := it.ranges[0]
		if compare(key, r.hi) >= 0 {
			it.ranges = it.ranges[1:]
			continue
		}
		if compare(key, r.lo) < 0 {
			break
		}
		if s, can := it.base.(Seeker); can {
			ok = s.SeekGE(r.hi)
			continue
		}
		ok = it.base.Next()
	}
	it.onBase = ok
	if !ok {
		it.err = it.base.Err()
	}
}

// SeekGE moves to the first row at or after key: see Seeker.
func (it *overlayIter) SeekGE(key []byte) bool {
	it.lo = append(it.lo[:0], key...)
	for i, run := range it.runs {
		it.runs[i] = run[it.o.lowerBound(run, key):]
	}
	it.dir = it.o.ahead(it.dir, key)
	switch s, can := it.base.(Seeker); {
	case it.onBase && compare(it.base.Key(), key) >= 0, it.began && !it.onBase:
	case can:
		it.nextBase(s.SeekGE(key))
	default:
		ok := it.base.Next()
		for ok && compare(it.base.Key(), key) < 0 {
			ok = it.base.Next()
		}
		it.nextBase(ok)
	}
	it.began = true
	it.key, it.val = emptyKey, nil
	return it.Next()
}

// emptyKey marks an iterator that does not stand on a row of the base.
var emptyKey = []byte{}

// Key returns the key of the current row.
func (it *overlayIter) Key() []byte {
	if it.key == nil {
		return it.base.Key()
	}
	return it.key
}

// Value returns the value of the current row.
func (it *overlayIter) Value() []byte {
	if it.key == nil {
		return it.base.Value()
	}
	return it.val
}

// Err returns the error that ended the scan, nil if there was none.
func (it *overlayIter) Err() error { return it.err }

// Close ends the scan. Nothing of the iterator may be used after it.
func (it *overlayIter) Close() error {
	if it.base == nil {
		return it.err
	}
	err := it.base.Close()
	if it.err != nil {
		err = it.err
	}
	it.base = nil
	if !it.o.frozen && it.o.open > 0 {
		it.o.open--
		it.o.idle = append(it.o.idle, it)
	}
	return err
}
