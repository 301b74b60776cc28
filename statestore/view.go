package statestore

// View is the keyed state of one worker as the running epoch sees it: the committed rows under the overlay of what the
// epoch has written so far. It is the only door through which the engine writes state. A View is used by one goroutine.
type View interface {
	// Get returns the value of key. The value belongs to the view and is good until the next call on it.
	Get(key []byte) (val []byte, ok bool, err error)
	// Put sets the value of key. Both are copied.
	Put(key, val []byte) error
	// Delete removes key; a key that is not there is no error.
	Delete(key []byte) error
	// DeleteRange removes all keys in [lo, hi).
	DeleteRange(lo, hi []byte) error
	// Scan returns the rows of [lo, hi) in order of their keys, as they were when Scan was called.
	Scan(lo, hi []byte) (Iterator, error)
}

// Reader is the committed state below an overlay.
type Reader interface {
	Get(key []byte) (val []byte, ok bool, err error)
	Scan(lo, hi []byte) (Iterator, error)
}

// Iterator walks over rows in order of their keys. Key and Value belong to the iterator and are good until Next or Close.
type Iterator interface {
	Next() bool
	Key() []byte
	Value() []byte
	Err() error
	Close() error
}
