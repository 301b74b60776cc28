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
	mem    *Overlay
	spare  *Overlay
	whole  bool // mem has every row of the store
	next   int  // size of mem at which deleted rows are cleared out
}

// compactFrom is the size in bytes below which clearing out is not worth it.
const compactFrom = 4 << 20

// NewResident returns a Resident over store that holds up to budget bytes. It passes calls on until Load.
func NewResident(store Reader, budget int) *Resident {
	return &Resident{store: store, budget: budget, mem: NewOverlay(noRows{}), spare: NewOverlay(noRows{})}
}

// Load reads all rows of the store, or as many as show that they do not fit.
func (r *Resident) Load() error {
	r.mem.Reset(noRows{})
	r.whole, r.next = true, compactFrom
	it, err := r.store.Scan(nil, nil)
	if err != nil {
		return err
	}
	defer it.Close() //nolint:errcheck // only read; Err tells what went wrong
	for it.Next() {
		if err := r.mem.Put(it.Key(), it.Value()); err != nil {
			return err
		}
		if r.mem.Size() > r.budget {
			r.forget()
			return nil
		}
	}
	r.next = max(compactFrom, 2*r.mem.Size())
	return it.Err()
}

// Whole reports whether all rows are in memory.
func (r *Resident) Whole() bool { return r.whole }

// Size returns about how many bytes the rows in memory take.
func (r *Resident) Size() int { return r.mem.Size() }

// Sizes returns the bytes of keys and values of every operator of a task, by its number. ok is false when not all rows are
// in memory. It walks over all of them.
func (r *Resident) Sizes(task uint16) (sizes map[uint16]int64, ok bool) {
	if !r.whole {
		return nil, false
	}
	sizes = map[uint16]int64{}
	_ = r.mem.Rows(func(key, val []byte, del bool) error { // the function never fails
		if !del && len(key) >= 4 && binary.BigEndian.Uint16(key) == task {
			sizes[binary.BigEndian.Uint16(key[2:])] += int64(len(key) + len(val))
		}
		return nil
	})
	return sizes, true
}

// Get is described at Reader.
func (r *Resident) Get(key []byte) (val []byte, ok bool, err error) {
	if r.whole {
		return r.mem.Get(key)
	}
	return r.store.Get(key)
}

// Scan is described at Reader.
func (r *Resident) Scan(lo, hi []byte) (Iterator, error) {
	if r.whole {
		return r.mem.Scan(lo, hi)
	}
	return r.store.Scan(lo, hi)
}

// Absorb takes what has been applied to the store.
func (r *Resident) Absorb(w Writes) error {
	if !r.whole {
		return nil
	}
	if err := w.Ranges(r.mem.DeleteRange); err != nil {
		return err
	}
	if err := w.Rows(r.put); err != nil {
		return err
	}
	if r.mem.Size() > r.next || r.mem.Size() > r.budget {
		return r.compact()
	}
	return nil
}

func (r *Resident) put(key, val []byte, del bool) error {
	if del {
		return r.mem.Delete(key)
	}
	return r.mem.Put(key, val)
}

// compact clears deleted rows out. If what is left does not fit either, memory is given up.
func (r *Resident) compact() error {
	r.spare.Reset(noRows{})
	err := r.mem.Rows(func(key, val []byte, del bool) error {
		if del {
			return nil
		}
		return r.spare.Put(key, val)
	})
	if err != nil {
		return err
	}
	r.mem, r.spare = r.spare, r.mem
	r.next = max(compactFrom, 2*r.mem.Size())
	if r.mem.Size() > r.budget {
		r.forget()
	}
	return nil
}

func (r *Resident) forget() {
	r.whole = false
	r.mem, r.spare = NewOverlay(noRows{}), NewOverlay(noRows{})
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
