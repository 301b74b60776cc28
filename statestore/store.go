package statestore

import "errors"

// SystemRow names one of the rows that belong to the store and not to an operator.
type SystemRow byte

// The system rows. Meta says what the state belongs to. Committed is the last epoch whose rows are in the store. Pending
// is an epoch whose transaction may or may not have committed: its rows as a redo.
const (
	MetaRow SystemRow = iota + 1
	CommittedRow
	PendingRow
)

// Store keeps committed rows and the system rows. Writes are atomic and ordered: after a crash a store holds all writes up
// to some point, and everything up to the last synced write. A store is used by one goroutine, except that reading (Get,
// Scan, iterators) may go on beside writing.
type Store interface {
	// Reader is for one goroutine; each of several takes one of its own from NewReader.
	Reader
	// NewReader returns a Reader for one goroutine. It sees every Apply as soon as that has returned.
	NewReader() Reader
	// System returns a copy of a system row.
	System(r SystemRow) (val []byte, ok bool, err error)
	// WriteMeta sets the Meta row and syncs.
	WriteMeta(val []byte) error
	// WritePending sets the Pending row and syncs: when it returns nil the row outlives a power cut.
	WritePending(val []byte) error
	// DropPending removes the Pending row without a sync.
	DropPending() error
	// Apply is the one door to the committed rows: in one batch it writes all of writes, sets the Committed row and drops
	// the Pending row. Without sync a crash may undo it as a whole.
	Apply(committed []byte, sync bool, writes ...Writes) error
	// HasRows reports whether any committed row is there.
	HasRows() (bool, error)
	// Close closes the store and lets its folder go.
	Close() error
}

// Writes is a set of writes to apply. Ranges are to be applied before rows. Overlay and Batch implement it.
type Writes interface {
	// Ranges calls fn for every deleted range [lo, hi); a nil hi is the end of all rows. The bytes are good during the call.
	Ranges(fn func(lo, hi []byte) error) error
	// Rows calls fn for every written row; del says that it is deleted. The bytes are good during the call.
	Rows(fn func(key, val []byte, del bool) error) error
}

// Seeker is implemented by iterators that can jump. SeekGE moves to the first row at or after key, which must be ahead,
// and reports whether there is one, as Next does.
type Seeker interface {
	SeekGE(key []byte) bool
}

// ErrReserved is returned for a write outside the rows of tasks: an empty key, or one that begins with 0xFF 0xFF.
var ErrReserved = errors.New("the key lies outside the rows of operators")

// What can be wrong with a folder of state. Errors of Open wrap one of these where it applies.
var (
	ErrInUse   = errors.New("the state folder is in use")
	ErrNewer   = errors.New("the state was written by a newer version of wgate")
	ErrCorrupt = errors.New("the state on disk is damaged")
)

var endOfRows = []byte{0xFF, 0xFF}

// Reserved reports whether key may not be written through a View.
func Reserved(key []byte) bool {
	return len(key) == 0 || len(key) >= 2 && key[0] == 0xFF && key[1] == 0xFF
}

// EndOfRows returns the first key after all rows of tasks.
func EndOfRows() []byte { return endOfRows }
