package engine

import (
	"context"
	"time"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
)

// Input is where records come from. One Input may serve several sources of a pipeline (all topics of one broker).
// Implementations are used by one goroutine at a time.
type Input interface {
	// Poll waits up to wait for records and appends a run of them, all of one source, to b: Times is left at 0,
	// Keys, Values (raw), Origins (Source is the index in the plan), Heads and Headers are filled. It returns false when
	// nothing came. A wait of 0 does not block. Errors are those of recovery.md; the caller does not retry.
	Poll(ctx context.Context, wait time.Duration, b *event.Bundle) (bool, error)
	// Partitions appends the state of every partition that is owned now.
	Partitions(dst []PartitionState) []PartitionState
	// Pause holds the fetching of a partition back or lets it go on, for watermark alignment.
	Pause(p Partition, paused bool)
	// Seek sets the positions; partitions that are not named start at the beginning, or where the source says. When the
	// Input is the Broker too, the recovery does it.
	Seek(ctx context.Context, offs []Offset) error
}

// Partition names a partition of a source. A file is a source with one partition.
type Partition struct {
	Source int // index in the plan
	Topic  string
	ID     int32
}

// PartitionState is what is known of an owned partition.
type PartitionState struct {
	Partition
	Position int64 // offset of the next record that Poll will give
	End      int64 // last stable offset when last seen; -1 if not yet known
	CaughtUp bool  // Position >= last stable offset and that equals the high watermark: only then the idle clock runs
	Ended    bool  // bounded and through
}

// Record is one record for a sink. Key and Value may be nil, which is null and not empty.
type Record struct {
	Topic     string
	Key       []byte
	Value     []byte
	Headers   []RecordHeader
	Timestamp event.Time
	Input     event.Origin // where it came from, for messages; Offset -1 if from no single record
}

// RecordHeader is one header of a Record; a nil Value is null.
type RecordHeader struct {
	Key   string
	Value []byte
}

// Offset is a position in a source partition.
type Offset struct {
	Partition
	Offset      int64 // of the next record to read
	LeaderEpoch int32
	Metadata    string // only on the anchor partition
}

// Member is the identity under which an epoch began: the group's member id and generation.
type Member struct {
	ID         string
	Generation int32
}

// Outcome is what is known of a transaction after an attempt to end it.
type Outcome uint8

// The outcomes. Everything that is not certain is Unknown (recovery.md, commit step 7).
const (
	Unknown Outcome = iota
	Committed
	Aborted
)

// Broker is the side of the commit protocol that Kafka keeps: the group's offsets and the transaction. recovery.md names
// the steps. It is used by one goroutine.
type Broker interface {
	// Fence aborts what an earlier life of this instance left open (InitProducerID) and joins the group.
	Fence(ctx context.Context) error
	// FetchOffsets returns the group's committed offsets of all partitions of the task, with metadata. stable is false
	// while a transaction is pending on one of them.
	FetchOffsets(ctx context.Context) (offs []Offset, stable bool, err error)
	// Bounds returns the first and the next offset (high watermark) of a partition.
	Bounds(ctx context.Context, p Partition) (first, next int64, err error)
	// Seek sets the positions; partitions that are not named start where the source's start attribute says.
	Seek(ctx context.Context, offs []Offset) error
	// Begin opens a transaction and returns the member under which it began.
	Begin(ctx context.Context) (Member, error)
	// Send produces records in the open transaction, asynchronously. The bytes of keys, values and headers belong to the
	// broker until the epoch has ended; the slices themselves are the caller's. Records one after the other may share
	// their Headers.
	Send(ctx context.Context, recs []Record) error
	// Flush waits until all that was sent is acknowledged; any failure is an error.
	Flush(ctx context.Context) error
	// End tries to commit with exactly these offsets, as m; a generation that has changed since Begin refuses it.
	End(ctx context.Context, m Member, offs []Offset) (Outcome, error)
	// CommitOffsets commits offsets outside a transaction, as the present member: for delivery at_least_once, where the
	// store decides and the group follows, and to put offsets back that someone moved.
	CommitOffsets(ctx context.Context, offs []Offset) error
	// Abort aborts the open transaction; nil means that it certainly is.
	Abort(ctx context.Context) error
	// Revoked reports whether a partition was revoked or lost since Fence: the epoch is dead, and what was fetched before
	// may be old.
	Revoked() bool
	// Rebuild closes the client and makes a new one.
	Rebuild(ctx context.Context) error
	// MaxRecordBytes returns the largest record that topic takes.
	MaxRecordBytes(ctx context.Context, topic string) (int, error)
}

// Output takes records that are in no transaction: files, standard output, and Kafka when delivery is at_least_once.
type Output interface {
	// Write hands records over. The bytes of keys, values and headers belong to the output until a Flush has succeeded;
	// the slices themselves are the caller's.
	Write(ctx context.Context, recs []Record) error
	// Flush waits until all that was written is safe.
	Flush(ctx context.Context) error
}

// Clock is processing time.
type Clock interface {
	Now() event.Time
}

// Invoker runs functions of one plugin instance. It is used by one goroutine at a time.
type Invoker interface {
	// Process runs DoFn fn over the rows of b. What out holds refers to b's heap and is good until the next call. Rows on
	// which the guest failed are in out.Failed; an error means that the plugin as a whole cannot go on.
	Process(ctx context.Context, fn string, b *event.Bundle, out *Processed) error
	// At tells the guest the epoch, which seeds its random numbers, and the processing time, which is its clock.
	At(epoch uint64, now event.Time)
	// Close ends the instance; it gives up what it holds and cannot be used again.
	Close(ctx context.Context) error
}

// Processed is what a DoFn made of a bundle, in the order in which it was made.
type Processed struct {
	Rows   []Made
	Failed []FailedRow
	// New holds the values, keys, times and headers of rows that the guest made anew.
	New event.Bundle
}

// Made is one output row: input row Row, unchanged where New is -1, else with what row New of Processed.New gives. A
// Missing value or key there, and a time of MinTime, mean: as in the input row.
type Made struct {
	Row int32
	New int32
	Tag uint16 // 0 is the main output
}

// FailedRow is an input row that the guest or the host refused.
type FailedRow struct {
	Row    int32
	Code   string
	Text   string // the guest's words, with stack and the tail of standard error after a trap; cut to 8 KiB
	Digest string
}

// Combiner runs combiners of one plugin instance: an Invoker whose plugin may have some is one too. It is used by one
// goroutine at a time. Accumulators are bytes of which only the plugin knows what they mean; one of no bytes is over nothing.
//
// Columns are arguments by row; pair i of a combine.Batch is row Rows[i]. The batch's own Args are not used.
type Combiner interface {
	// Describe says what combiner fn is. It fails if there is none.
	Describe(fn string) (CombinerInfo, error)
	// Check looks which of rows fn refuses by itself, and appends those to failed. Rows on which the guest trapped are among
	// them. An error means that the plugin as a whole cannot go on.
	Check(ctx context.Context, fn string, cols [][]event.Value, rows []int32, h *event.Heap, failed []FailedRow) ([]FailedRow, error)
	// Fold adds the elements of p to accs in order, or takes them out if take is set. After an error some accumulators may
	// hold a part of them.
	Fold(ctx context.Context, fn string, accs [][]byte, cols [][]event.Value, p *combine.Batch, take bool) error
	// Merge folds other into acc and returns the grown acc. What is in acc counts as having come first.
	Merge(ctx context.Context, fn string, acc, other []byte) ([]byte, error)
	// Extract appends the result of each of accs to dst: text is in h, and one that cannot be had is of kind Error.
	Extract(ctx context.Context, fn string, accs [][]byte, h *event.Heap, dst []event.Value) ([]event.Value, error)
}

// CombinerInfo is what a plugin's manifest says of a combiner.
type CombinerInfo struct {
	Args       int  // how many arguments it takes
	Total      bool // it refuses no row: Check is not needed
	Invertible bool // Fold can take elements out
}
