package pebblestore

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/wgate/wgate/statestore"
)

// reader reads rows for one goroutine.
type reader struct {
	db   *pebble.DB
	buf  []byte
	idle []*iterator
}

// Get returns the value of key. It is good until the next call on this reader.
func (r *reader) Get(key []byte) (val []byte, ok bool, err error) {
	v, closer, err := r.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, readError(err)
	}
	r.buf = append(r.buf[:0], v...)
	return r.buf, true, closer.Close()
}

// Scan returns the rows of [lo, hi) as they are now; a nil hi is the end of all rows.
func (r *reader) Scan(lo, hi []byte) (statestore.Iterator, error) {
	if hi == nil {
		hi = statestore.EndOfRows()
	}
	it := &iterator{}
	if n := len(r.idle); n > 0 {
		it, r.idle = r.idle[n-1], r.idle[:n-1]
	}
	it.hi = append(it.hi[:0], hi...)
	it.lo = append(it.lo[:0], lo...)
	it.r, it.err, it.began = r, nil, false
	if bytes.Compare(it.lo, it.hi) >= 0 {
		return it, nil // to the database an empty bound is no bound
	}
	it.opts = pebble.IterOptions{UpperBound: it.hi}
	if len(lo) > 0 { // the database seeks to a bound, which must not be empty
		it.opts.LowerBound = it.lo
	}
	p, err := r.db.NewIter(&it.opts)
	if err != nil {
		return nil, readError(err)
	}
	it.p = p
	return it, nil
}

func readError(err error) error {
	if pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %v", statestore.ErrCorrupt, err)
	}
	return fmt.Errorf("state: read: %w", err)
}

// iterator walks over rows of the database.
type iterator struct {
	p      *pebble.Iterator // nil: there are no rows
	r      *reader
	opts   pebble.IterOptions
	lo, hi []byte
	began  bool
	err    error
}

// Next moves to the next row.
func (it *iterator) Next() bool {
	if it.p == nil {
		return false
	}
	if it.began {
		return it.settle(it.p.Next())
	}
	it.began = true
	return it.settle(it.p.First())
}

// SeekGE moves to the first row at or after key.
func (it *iterator) SeekGE(key []byte) bool {
	if it.p == nil {
		return false
	}
	it.began = true
	return it.settle(it.p.SeekGE(key))
}

func (it *iterator) settle(ok bool) bool {
	if !ok {
		if err := it.p.Error(); err != nil {
			it.err = readError(err)
		}
	}
	return ok
}

// Key returns the key of the row.
func (it *iterator) Key() []byte { return it.p.Key() }

// Value returns the value of the row. An error in reading it ends the scan.
func (it *iterator) Value() []byte {
	v, err := it.p.ValueAndErr()
	if err != nil {
		it.err = readError(err)
	}
	return v
}

// Err returns the error that ended the scan, nil if there was none.
func (it *iterator) Err() error { return it.err }

// Close ends the scan. Nothing of the iterator may be used after it.
func (it *iterator) Close() error {
	if it.p != nil {
		if err := it.p.Close(); err != nil && it.err == nil {
			it.err = readError(err)
		}
		it.p = nil
	}
	it.r.idle = append(it.r.idle, it)
	return it.err
}
