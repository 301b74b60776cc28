package pebblestore

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/wgate/wgate/internal/crash"
	"github.com/wgate/wgate/statestore"
)

// Store is a statestore.Store in a folder on disk.
type Store struct {
	reader
	db   *pebble.DB
	lock *pebble.Lock
	log  logger
	dir  string

	lastBatch int // how large a batch was lately
}

// maxBatch is the size in bytes up to which a batch's memory is asked for beforehand, and kept.
const maxBatch = 16 << 20

// systemKey is the key of a system row: after all rows of operators.
func systemKey(r statestore.SystemRow) []byte { return []byte{0xFF, 0xFF, byte(r)} }

// Open opens the store in dir and makes it if it is not there. The folder is locked until Close. Errors wrap
// statestore.ErrInUse if another process, or this one, has it open, statestore.ErrNewer if a newer binary wrote it, and
// statestore.ErrCorrupt if its files are damaged.
func Open(dir string, o Options) (*Store, error) {
	fs := o.FS
	if fs == nil {
		fs = vfs.Default
	}
	if err := fs.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state folder %s: %w", dir, err)
	}
	lock, err := pebble.LockDirectory(dir, fs)
	if err != nil {
		return nil, lockError(dir, err)
	}
	fs, err = withBallast(fs, dir, o)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	db, err := pebble.Open(dir, o.pebbleOptions(fs, lock))
	if err != nil {
		return nil, errors.Join(openError(dir, err), lock.Close())
	}
	s := &Store{reader: reader{db: db}, db: db, lock: lock, log: logger{o}, dir: dir}
	if err := s.checkFormat(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// lockError says who has the folder, if that can be known. The lock file must not be opened while this process holds the
// lock: closing it would let the lock go.
func lockError(dir string, err error) error {
	switch {
	case strings.Contains(err.Error(), "lock held by current process"):
		return fmt.Errorf("state folder %s: %w by this process", dir, statestore.ErrInUse)
	case isLocked(err):
		who := "another process"
		if pid := lockOwner(dir); pid > 0 {
			who = fmt.Sprintf("process %d", pid)
		}
		return fmt.Errorf("state folder %s: %w by %s", dir, statestore.ErrInUse, who)
	}
	return fmt.Errorf("state folder %s: %w", dir, err)
}

func openError(dir string, err error) error {
	switch {
	case strings.Contains(err.Error(), "unknown format major version"):
		return fmt.Errorf("state folder %s: %w: %v", dir, statestore.ErrNewer, err)
	case pebble.IsCorruptionError(err):
		return fmt.Errorf("state folder %s: %w: %v", dir, statestore.ErrCorrupt, err)
	}
	return fmt.Errorf("state folder %s: %w", dir, err)
}

// checkFormat refuses a store that a newer binary wrote.
func (s *Store) checkFormat() error {
	b, ok, err := s.System(statestore.MetaRow)
	if err != nil || !ok {
		return err
	}
	if _, err := statestore.DecodeMeta(b); err != nil {
		return fmt.Errorf("state folder %s: %w", s.dir, err)
	}
	return nil
}

// System returns a copy of a system row.
func (s *Store) System(r statestore.SystemRow) (val []byte, ok bool, err error) {
	v, closer, err := s.db.Get(systemKey(r))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, readError(err)
	}
	return bytes.Clone(v), true, closer.Close()
}

// WriteMeta sets the Meta row and syncs.
func (s *Store) WriteMeta(val []byte) error {
	return s.db.Set(systemKey(statestore.MetaRow), val, pebble.Sync)
}

// WritePending sets the Pending row and syncs.
func (s *Store) WritePending(val []byte) error {
	b := s.db.NewBatchWithSize(len(val) + 64)
	defer func() { _ = b.Close() }() // a batch that was applied has nothing left to lose
	if err := b.Set(systemKey(statestore.PendingRow), val, nil); err != nil {
		return err
	}
	if err := s.db.ApplyNoSyncWait(b, pebble.Sync); err != nil {
		return err
	}
	crash.Point("pending_write")
	if err := b.SyncWait(); err != nil {
		// The database ends the process itself where it waits for a sync, but not here.
		s.log.Fatalf("sync of the log: %v", err)
	}
	return nil
}

// DropPending removes the Pending row.
func (s *Store) DropPending() error {
	return s.db.Delete(systemKey(statestore.PendingRow), pebble.NoSync)
}

// Apply writes an epoch: see statestore.Store. It is the only function that writes rows of operators.
func (s *Store) Apply(committed []byte, sync bool, writes ...statestore.Writes) error {
	b := s.db.NewBatch(pebble.WithInitialSizeBytes(s.lastBatch), pebble.WithMaxRetainedSizeBytes(maxBatch))
	defer func() { _ = b.Close() }() // a batch that was applied has nothing left to lose
	for _, w := range writes {
		err := w.Ranges(func(lo, hi []byte) error { return b.DeleteRange(lo, hi, nil) })
		if err != nil {
			return err
		}
		if err := w.Rows(func(key, val []byte, del bool) error { return put(b, key, val, del) }); err != nil {
			return err
		}
	}
	if err := b.Set(systemKey(statestore.CommittedRow), committed, nil); err != nil {
		return err
	}
	if err := b.Delete(systemKey(statestore.PendingRow), nil); err != nil {
		return err
	}
	s.lastBatch = min(b.Len()+b.Len()/8, maxBatch)
	crash.Point("applying")
	opt := pebble.NoSync
	if sync {
		opt = pebble.Sync
	}
	return b.Commit(opt)
}

func put(b *pebble.Batch, key, val []byte, del bool) error {
	if statestore.Reserved(key) {
		return statestore.ErrReserved
	}
	if del {
		return b.Delete(key, nil)
	}
	return b.Set(key, val, nil)
}

// HasRows reports whether any row of an operator is there.
func (s *Store) HasRows() (bool, error) {
	it, err := s.Scan(nil, nil)
	if err != nil {
		return false, err
	}
	has := it.Next()
	return has, it.Close()
}

// NewReader returns a Reader for one goroutine.
func (s *Store) NewReader() statestore.Reader { return &reader{db: s.db} }

// Sync makes all writes so far outlive a power cut.
func (s *Store) Sync() error { return s.db.LogData(nil, pebble.Sync) }

// DiskBytes returns how much disk the store takes.
func (s *Store) DiskBytes() uint64 { return s.db.Metrics().DiskSpaceUsage() }

// RangeBytes estimates how much disk the rows of [lo, hi) take. Rows that are still in memory do not count.
func (s *Store) RangeBytes(lo, hi []byte) (uint64, error) { return s.db.EstimateDiskUsage(lo, hi) }

// Close syncs what is not yet on disk, closes the database and lets the folder go. All iterators must have been closed.
func (s *Store) Close() error {
	return errors.Join(s.db.LogData(nil, pebble.Sync), s.db.Close(), s.lock.Close())
}
