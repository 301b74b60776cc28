package commit

import (
	"time"

	"github.com/wgate/wgate/statestore"
)

// Action is something that the driver has to do. Each but Return and Rebuild's kin is answered by the event that is named
// with it. Actions of one step are done in order; the first that is answered ends the step.
type Action interface{ action() }

// Load reads META, COMMITTED and PENDING from the store: answered by Loaded. WriteMeta keeps a new META row, synced:
// answered by MetaWritten.
type (
	Load      struct{}
	WriteMeta struct{ Meta statestore.Meta }
)

// Fence, Fetch, Bounds and Seek are the calls of that name on the broker, answered by Fenced, Fetched, Bounded and Seeked.
// Seek without offsets leaves all partitions to the start attribute of their sources. Rebuild closes the client and makes a
// new one: answered by Rebuilt. Wait lets time pass: answered by Waited.
type (
	Fence   struct{}
	Fetch   struct{}
	Bounds  struct{ Partitions []Partition }
	Seek    struct{ Offsets []Offset }
	Rebuild struct{}
	Wait    struct{ For time.Duration }
)

// Redo applies the Pending row that was loaded last in one batch; DropPending removes it. Both are answered by Applied.
type (
	Redo        struct{ Committed Committed }
	DropPending struct{}
)

// Begin opens a transaction: answered by Began. Flush waits for all outputs: answered by Flushed. WritePending keeps the
// frozen rows and Committed as the Pending row, synced: answered by PendingWritten. End tries to commit the transaction
// with exactly these offsets, as the member that began it: answered by Ended. Abort aborts it: answered by AbortEnded.
type (
	Begin        struct{}
	Flush        struct{}
	WritePending struct{ Committed Committed }
	End          struct {
		Member  Member
		Offsets []Offset
	}
	Abort struct{}
)

// Apply writes the frozen rows and Committed into the store in one batch: answered by Applied. CommitOffsets commits
// offsets outside a transaction: answered by OffsetsCommitted.
type (
	Apply struct {
		Committed Committed
		Sync      bool
	}
	CommitOffsets struct{ Offsets []Offset }
)

// Return gives the result of the call that began with Recover, BeginEpoch, CommitEpoch or AbortEpoch. It is not answered.
type Return struct {
	Result Result
	Err    error // a *Stop, the end of a context, or a fault of the caller
}

func (Load) action()          {}
func (WriteMeta) action()     {}
func (Fence) action()         {}
func (Fetch) action()         {}
func (Bounds) action()        {}
func (Seek) action()          {}
func (Rebuild) action()       {}
func (Wait) action()          {}
func (Redo) action()          {}
func (DropPending) action()   {}
func (Begin) action()         {}
func (Flush) action()         {}
func (WritePending) action()  {}
func (End) action()           {}
func (Abort) action()         {}
func (Apply) action()         {}
func (CommitOffsets) action() {}
func (Return) action()        {}

// Result is what became of an epoch.
type Result uint8

// The results. After Aborted and Recovered the caller drops the epoch, the fetched records and all plugin instances, and
// goes on from the machine's State: the store may hold the epoch (Recovered found that it had committed) or not.
const (
	None      Result = iota
	Done             // committed and applied
	Aborted          // certainly not committed
	Recovered        // the outcome was not known and has been found out
)

// String returns "none", "done", "aborted" or "recovered".
func (r Result) String() string { return [...]string{"none", "done", "aborted", "recovered"}[r] }
