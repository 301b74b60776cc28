package memstore

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sort"
	"sync"

	"github.com/wgate/wgate/statestore"
)

// ErrClosed is returned by every call on a store that was closed.
var ErrClosed = errors.New("memstore: the store is closed")

// Store is a statestore.Store in memory. Reads may go on beside a write.
type Store struct {
	mu       sync.Mutex
	now      image
	log      []image // the images since the last sync, oldest first; the last one is now
	synced   image
	closed   bool
	failWith error
}

// image is everything that a store holds. Rows are sorted and never changed in place.
type image struct {
	rows   []row
	system map[statestore.SystemRow][]byte
}

type row struct{ key, val []byte }

// New returns an empty store.
func New() *Store { return &Store{} }

// Crash returns a store with what is left after a power cut that keeps the first keep of the writes since the last sync
// (more than there are keeps all). The store itself goes on as if nothing had happened.
func (s *Store) Crash(keep int) *Store {
	s.mu.Lock()
	defer s.mu.Unlock()
	img := s.synced
	if n := min(keep, len(s.log)); n > 0 {
		img = s.log[n-1]
	}
	return &Store{now: img, synced: img}
}

// Unsynced returns the number of writes since the last sync.
func (s *Store) Unsynced() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log)
}

// FailWith makes every later write fail with err; nil ends that.
func (s *Store) FailWith(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failWith = err
}

// Get returns the value of key. It belongs to the store and is never changed.
func (s *Store) Get(key []byte) (val []byte, ok bool, err error) {
	rows, err := s.rows()
	if err != nil {
		return nil, false, err
	}
	if i := lowerBound(rows, key); i < len(rows) && bytes.Equal(rows[i].key, key) {
		return rows[i].val, true, nil
	}
	return nil, false, nil
}

// Scan returns the rows of [lo, hi) as they are now; a nil hi is the end.
func (s *Store) Scan(lo, hi []byte) (statestore.Iterator, error) {
	rows, err := s.rows()
	if err != nil {
		return nil, err
	}
	rows = rows[lowerBound(rows, lo):]
	if hi != nil {
		rows = rows[:lowerBound(rows, hi)]
	}
	return &iterator{rows: rows, at: -1}, nil
}

func (s *Store) rows() ([]row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	return s.now.rows, nil
}

// NewReader returns the store itself.
func (s *Store) NewReader() statestore.Reader { return s }

// HasRows reports whether any row is there.
func (s *Store) HasRows() (bool, error) {
	rows, err := s.rows()
	return len(rows) > 0, err
}

// System returns a system row.
func (s *Store) System(r statestore.SystemRow) (val []byte, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false, ErrClosed
	}
	val, ok = s.now.system[r]
	return bytes.Clone(val), ok, nil
}

// WriteMeta sets the Meta row.
func (s *Store) WriteMeta(val []byte) error { return s.set(statestore.MetaRow, val, true) }

// WritePending sets the Pending row.
func (s *Store) WritePending(val []byte) error { return s.set(statestore.PendingRow, val, true) }

// DropPending removes the Pending row.
func (s *Store) DropPending() error { return s.set(statestore.PendingRow, nil, false) }

func (s *Store) set(r statestore.SystemRow, val []byte, sync bool) error {
	return s.write(sync, func(img *image) error {
		if val == nil {
			delete(img.system, r)
		} else {
			img.system[r] = bytes.Clone(val)
		}
		return nil
	})
}

// Apply writes an epoch: see statestore.Store.
func (s *Store) Apply(committed []byte, sync bool, writes ...statestore.Writes) error {
	return s.write(sync, func(img *image) error {
		for _, w := range writes {
			if err := img.apply(w); err != nil {
				return err
			}
		}
		img.system[statestore.CommittedRow] = bytes.Clone(committed)
		delete(img.system, statestore.PendingRow)
		return nil
	})
}

// write makes a new image and puts it in place of the one that is there, if fn succeeds.
func (s *Store) write(sync bool, fn func(*image) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	if s.failWith != nil {
		return s.failWith
	}
	img := image{rows: s.now.rows, system: maps.Clone(s.now.system)}
	if img.system == nil {
		img.system = map[statestore.SystemRow][]byte{}
	}
	if err := fn(&img); err != nil {
		return err
	}
	s.now = img
	if sync {
		s.synced, s.log = img, nil
	} else {
		s.log = append(s.log, img)
	}
	return nil
}

// Close closes the store. Iterators stay good.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// apply merges writes into the rows.
func (img *image) apply(w statestore.Writes) error {
	rows := img.rows
	err := w.Ranges(func(lo, hi []byte) error {
		end := len(rows)
		if hi != nil {
			end = lowerBound(rows, hi)
		}
		if at := lowerBound(rows, lo); at < end {
			rows = slices.Concat(rows[:at], rows[end:])
		}
		return nil
	})
	if err != nil {
		return err
	}
	type change struct {
		row
		del bool
	}
	var changes []change
	err = w.Rows(func(key, val []byte, del bool) error {
		if statestore.Reserved(key) {
			return statestore.ErrReserved
		}
		changes = append(changes, change{row{bytes.Clone(key), append([]byte{}, val...)}, del})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(changes, func(a, b change) int { return bytes.Compare(a.key, b.key) })
	out := make([]row, 0, len(rows)+len(changes))
	for i, c := range changes {
		at := lowerBound(rows, c.key)
		out, rows = append(out, rows[:at]...), rows[at:]
		if len(rows) > 0 && bytes.Equal(rows[0].key, c.key) {
			rows = rows[1:]
		}
		last := i+1 == len(changes) || !bytes.Equal(changes[i+1].key, c.key)
		if last && !c.del {
			out = append(out, c.row)
		}
	}
	img.rows = append(out, rows...)
	return nil
}

func lowerBound(rows []row, key []byte) int {
	return sort.Search(len(rows), func(i int) bool { return bytes.Compare(rows[i].key, key) >= 0 })
}

// iterator walks over an image.
type iterator struct {
	rows []row
	at   int
}

// Next moves to the next row.
func (it *iterator) Next() bool { it.at++; return it.at < len(it.rows) }

// SeekGE moves to the first row at or after key.
func (it *iterator) SeekGE(key []byte) bool {
	it.at = lowerBound(it.rows, key)
	return it.at < len(it.rows)
}

// Key returns the key of the row.
func (it *iterator) Key() []byte { return it.rows[it.at].key }

// Value returns the value of the row.
func (it *iterator) Value() []byte { return it.rows[it.at].val }

// Err returns nil.
func (it *iterator) Err() error { return nil }

// Close does nothing.
func (it *iterator) Close() error { return nil }
