package statestore

import "encoding/binary"

// Resident keeps all committed rows in memory as long as they fit, so that a row is found, or known to be absent, without
// asking the store below: most state of windows lives for minutes, and is gone before a disk would have had to be read. It
// is a Reader; what it gives is good until the next call. When the rows outgrow the budget it forgets them and passes every
// call on to the store.
//
// A Resident is used by one goroutine. Load comes first, and again whenever the store may have changed by other means than
// Absorb.
type Resident struct {
	store  Reader
	budget int
	whole  bool // all rows of the store are in memory
	shards map[shardID]*shard
	recent [2]*shard // asked for last
	idle   []*Overlay
	end    []byte // scratch
	size   int
}

// maxIdle is how many emptied shards keep their memory for those to come.
const maxIdle = 2

// NewResident returns a Resident over store that holds up to budget bytes. It passes calls on until Load.
func NewResident(store Reader, budget int) *Resident {
	return &Resident{store: store, budget: budget, shards: map[shardID]*shard{}}
}

// Load reads all rows of the store, or as many as show that they do not fit.
func (r *Resident) Load() error {
	r.forget()
	r.whole = true
	it, err := r.store.Scan(nil, nil)
	if err != nil {
		return err
	}
	defer it.Close() //nolint:errcheck // only read; Err tells what went wrong
	used := 0
	for it.Next() {
		key, val := it.Key(), it.Value()
		r.make(key).mem.set(key, val, false, hashOf(key))
		if used += len(key) + len(val) + entryBytes; used > r.budget {
			r.forget()
			return nil
		}
	}
	r.measure()
	return it.Err()
}

// Whole reports whether all rows are in memory.
func (r *Resident) Whole() bool { return r.whole }

// Size returns about how many bytes the rows in memory take.
func (r *Resident) Size() int { return r.size }

// Sizes returns the bytes of keys and values of every operator of a task, by its number. ok is false when not all rows are
// in memory.
func (r *Resident) Sizes(task uint16) (sizes map[uint16]int64, ok bool) {
	if !r.whole {
		return nil, false
	}
	sizes = map[uint16]int64{}
	for id, s := range r.shards { // order does not matter: a sum per operator
		if id.n >= 4 && binary.BigEndian.Uint16(id.part[:]) == task {
			sizes[binary.BigEndian.Uint16(id.part[2:])] += s.mem.bytes()
		}
	}
	return sizes, true
}

// Get is described at Reader.
func (r *Resident) Get(key []byte) (val []byte, ok bool, err error) {
	return r.get(key, hashOf(key))
}

func (r *Resident) get(key []byte, h uint32) (val []byte, ok bool, err error) {
	if !r.whole {
		return r.store.Get(key)
	}
	s := r.shard(key)
	if s == nil {
		return nil, false, nil
	}
	i, found := s.mem.find(key, h)
	if !found || s.mem.entries[i].val.del {
		return nil, false, nil
	}
	return s.mem.arena.get(s.mem.entries[i].val.val), true, nil
}

// Scan is described at Reader. A scan over keys of several fixed parts is the store's.
func (r *Resident) Scan(lo, hi []byte) (Iterator, error) {
	var one bool
	if _, one, r.end = oneBucket(lo, hi, r.end); !one || !r.whole {
		return r.store.Scan(lo, hi)
	}
	if s := r.shard(lo); s != nil {
		return s.mem.Scan(lo, hi)
	}
	return noRows{}, nil
}

// Absorb takes what has been applied to the store.
func (r *Resident) Absorb(w Writes) error {
	if !r.whole {
		return nil
	}
	if err := w.Ranges(r.erase); err != nil {
		return err
	}
	if o, ok := w.(*Overlay); ok && o.frozen {
		r.absorb(o)
	} else if err := w.Rows(r.put); err != nil {
		return err
	}
	for id, s := range r.shards { // order does not matter: each shard by itself
		switch {
		case s.mem.live == 0:
			r.drop(id, s)
		case s.mem.worn():
			r.compact(s)
		}
	}
	if r.measure(); r.size > r.budget {
		r.forget()
	}
	return nil
}

// absorb takes the rows of an overlay, whose hashes are known.
func (r *Resident) absorb(o *Overlay) {
	for _, b := range o.dir {
		var s *shard
		for _, run := range o.buckets[b].runs {
			for _, i := range run {
				e := &o.entries[i]
				key := o.keyOf(i)
				if s == nil {
					s = r.make(key)
				}
				if e.val.del {
					s.mem.remove(key, e.hash)
					continue
				}
				s.mem.set(key, o.arena.get(e.val.val), false, e.hash)
			}
		}
	}
}

func (r *Resident) put(key, val []byte, del bool) error {
	if s := r.make(key); del {
		s.mem.remove(key, hashOf(key))
	} else {
		s.mem.set(key, val, false, hashOf(key))
	}
	return nil
}

func (r *Resident) erase(lo, hi []byte) error {
	if hi == nil {
		hi = endOfRows
	}
	var one bool
	if _, one, r.end = oneBucket(lo, hi, r.end); one {
		if s := r.shard(lo); s != nil {
			s.mem.erase(lo, hi)
		}
		return nil
	}
	for _, s := range r.shards { // order does not matter: each shard by itself
		s.mem.erase(lo, hi)
	}
	return nil
}

func (r *Resident) measure() {
	r.size = 0
	for _, s := range r.shards { // order does not matter: a sum
		r.size += s.mem.footprint()
	}
}

func (r *Resident) forget() {
	r.whole, r.size = false, 0
	r.shards, r.recent, r.idle = map[shardID]*shard{}, [2]*shard{}, nil
}

// noRows is a Reader without rows.
type noRows struct{}

func (noRows) Get([]byte) (val []byte, ok bool, err error) { return nil, false, nil }
func (noRows) Scan(_, _ []byte) (Iterator, error)          { return noRows{}, nil }
func (noRows) Next() bool                                  { return false }
func (noRows) Key() []byte                                 { return nil }
func (noRows) Value() []byte                               { return nil }
func (noRows) Err() error                                  { return nil }
func (noRows) Close() error                                { return nil }
