package commit

import "time"

// Event is what the machine is told: a call of the engine, or the answer to an action.
type Event interface{ event() }

// The calls. Recover starts, or starts again after a Stop. BeginEpoch opens an epoch, with data at hand. Sent tells the
// outcome of sending outputs. CommitEpoch ends an epoch: Token is drawn at random by the caller, Offsets are the positions
// of all partitions. AbortEpoch gives the epoch up. Revoked says that a partition was lost since the last Fence: also
// between two epochs another owner may have been there.
type (
	Recover     struct{}
	BeginEpoch  struct{ Revoked bool }
	Sent        struct{ Err error }
	CommitEpoch struct {
		Token    Token
		Offsets  []Offset
		Progress []byte
		Revoked  bool
	}
	AbortEpoch struct{ Revoked bool }
)

// Loaded is the answer to Load: the rows as they are in the store, nil where there is none.
type Loaded struct {
	Meta, Committed, Pending []byte
	HasRows                  bool // a row of an operator is there
	Err                      error
}

// Fetched is the answer to Fetch.
type Fetched struct {
	Offsets []Offset
	Stable  bool
	Err     error
}

// Bounded is the answer to Bounds: for each partition, in order, its first offset and the one after its last record.
type Bounded struct {
	First, Next []int64
	Err         error
}

// Began is the answer to Begin.
type Began struct {
	Member Member
	Err    error
}

// Member is who began an epoch: the group's member id and generation.
type Member struct {
	ID         string
	Generation int32
}

// Ended is the answer to End. Committed is true only if the broker has said so without doubt.
type Ended struct {
	Committed bool
	Err       error
}

// Flushed and PendingWritten also tell whether a partition was lost since the last Fence.
type (
	Flushed struct {
		Err     error
		Revoked bool
	}
	PendingWritten struct {
		Err     error
		Revoked bool
	}
)

// The other answers.
type (
	MetaWritten struct{ Err error }
	Fenced      struct{ Err error }
	Seeked      struct {
		Err     error
		Revoked bool
	}
	Rebuilt          struct{ Err error }
	Waited           struct{ Err error } // the context's end
	Applied          struct{ Err error }
	AbortEnded       struct{ Err error }
	OffsetsCommitted struct{ Err error }
)

func (Recover) event()          {}
func (BeginEpoch) event()       {}
func (Sent) event()             {}
func (CommitEpoch) event()      {}
func (AbortEpoch) event()       {}
func (Loaded) event()           {}
func (Fetched) event()          {}
func (Bounded) event()          {}
func (Began) event()            {}
func (Ended) event()            {}
func (Flushed) event()          {}
func (PendingWritten) event()   {}
func (MetaWritten) event()      {}
func (Fenced) event()           {}
func (Seeked) event()           {}
func (Rebuilt) event()          {}
func (Waited) event()           {}
func (Applied) event()          {}
func (AbortEnded) event()       {}
func (OffsetsCommitted) event() {}

// backoff returns how long to wait before try n (from 1): from 100 ms doubling up to 5 s.
func backoff(n int) time.Duration {
	return min(100*time.Millisecond<<min(n-1, 10), 5*time.Second)
}
