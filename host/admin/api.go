package admin

import (
	"context"
	"errors"
	"io"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/plan"
)

// Node is what the API shows and moves. All methods may be called by many goroutines. Names have been checked.
type Node interface {
	Pipelines
	Modules
	// About describes the node itself.
	About() About
}

// Pipelines are the pipelines of a node. Errors that a client is to see in full are *Failure.
type Pipelines interface {
	// List returns all pipelines in the order of their names.
	List() []Summary
	// Status describes one pipeline.
	Status(name string) (*Status, error)
	// Compare says what deploying b would change, and which modules the node lacks for it. It changes nothing.
	Compare(ctx context.Context, name string, b *Bundle) (*Change, error)
	// Deploy makes b what the pipeline is and starts it. It returns when the pipeline runs, has failed, or takes long to
	// start; what ran before goes on if b is refused. With reset the pipeline's state and committed offsets are thrown away
	// first, and it begins anew. The end of ctx does not undo it.
	Deploy(ctx context.Context, name string, b *Bundle, reset bool) (*Status, error)
	// Reload makes a running pipeline go on with another module of one of its plugins. It returns when the first epoch on it
	// has committed; the module before goes on if the new one is refused or fails.
	Reload(ctx context.Context, name, plugin, digest string) (*Status, error)
	// Start starts a pipeline that does not run. To start a running one is no error.
	Start(ctx context.Context, name string) (*Status, error)
	// Stop stops a pipeline after a last commit; it stays stopped when the node is started again.
	Stop(ctx context.Context, name string) (*Status, error)
	// Delete stops a pipeline and forgets it; with state, what it keeps on disk goes too.
	Delete(ctx context.Context, name string, state bool) error
	// Logs calls emit for the last n lines of the pipeline's log and, with follow, for each new one until ctx ends.
	Logs(ctx context.Context, name string, n int, follow bool, emit func(LogLine) error) error
}

// Modules are the WebAssembly modules of a node, by the SHA-256 of their bytes in 64 lower-case hexadecimal digits.
type Modules interface {
	// HasModule reports whether the module is there.
	HasModule(digest string) (bool, error)
	// PutModule stores what r gives, if its digest is the given one. It reads to the end or to the first error.
	PutModule(digest string, r io.Reader) error
}

// State is what a pipeline is doing.
type State string

// The states of a pipeline.
const (
	Starting State = "starting" // recovering what was committed, reaching its brokers
	Running  State = "running"
	Stopping State = "stopping" // committing for the last time
	Stopped  State = "stopped"  // because somebody said so
	Finished State = "finished" // its bounded inputs are through
	Failed   State = "failed"
)

// Failure is an error as the API gives it: what went wrong, a stable code if there is one, and what to do next.
type Failure struct {
	Text        string              `json:"error"`
	Code        string              `json:"code,omitempty"`
	Next        string              `json:"next,omitempty"`
	Diagnostics []config.Diagnostic `json:"diagnostics,omitempty"`

	status int // of HTTP; 0 is 500
}

// Error returns the text alone.
func (f *Failure) Error() string { return f.Text }

// The sentinel errors that a Node returns, wrapped with what they are about.
var (
	// ErrNotFound says that there is no such pipeline.
	ErrNotFound = errors.New("not found")
	// ErrInvalid says that the request cannot be right, whatever the node does.
	ErrInvalid = errors.New("invalid")
	// ErrConflict says that the request does not fit what the node does now.
	ErrConflict = errors.New("conflict")
	// ErrTooLarge says that what was sent is over a cap.
	ErrTooLarge = errors.New("too large")
)

// About describes a node.
type About struct {
	Version        string `json:"version"`
	Started        int64  `json:"started"` // ms since the epoch
	Pipelines      int    `json:"pipelines"`
	EmbeddedBroker string `json:"embedded_broker,omitempty"` // its address
}

// Summary is one line of the list of pipelines.
type Summary struct {
	Name        string   `json:"name"`
	State       State    `json:"state"`
	Since       int64    `json:"since"`    // ms since the epoch: when the state began
	Revision    int      `json:"revision"` // counts deployments, from 1
	Deployed    int64    `json:"deployed"` // ms since the epoch
	RecordsIn   int64    `json:"records_in"`
	RecordsOut  int64    `json:"records_out"`
	DeadLetters int64    `json:"dead_letters"`
	Error       *Failure `json:"error,omitempty"` // why it failed, or why its last deployment was taken back
}

// Status is what is known of a pipeline.
type Status struct {
	Summary
	PlanHash   string         `json:"plan_hash,omitempty"`
	Epochs     int64          `json:"epochs"`                // committed since it started
	LastCommit int64          `json:"last_commit,omitempty"` // ms since the epoch
	EpochBytes int64          `json:"epoch_bytes"`           // of state that the running epoch has written so far
	StateBytes int64          `json:"state_bytes"`           // on disk
	Sources    []SourceStatus `json:"sources"`
	Stages     []StageStatus  `json:"stages"`
	Plugins    []PluginStatus `json:"plugins"`
}

// SourceStatus is one source with its partitions.
type SourceStatus struct {
	Block      string            `json:"block"`
	Watermark  *int64            `json:"watermark"` // ms since the epoch; null: none yet
	Partitions []PartitionStatus `json:"partitions"`
}

// PartitionStatus is one partition of a source. A file is a source with one partition.
type PartitionStatus struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Position  int64  `json:"position"` // offset of the next record
	Lag       *int64 `json:"lag"`      // records that are there and not yet read; null: not yet known
	Watermark *int64 `json:"watermark"`
	Idle      bool   `json:"idle"`
	CaughtUp  bool   `json:"caught_up"`
	Held      bool   `json:"held"` // its fetching waits for slower partitions (max_ahead)
	Ended     bool   `json:"ended"`
}

// StageStatus are the counters of one block since the pipeline was started.
type StageStatus struct {
	Block       string `json:"block"`
	In          int64  `json:"in"`
	Out         int64  `json:"out"`
	Late        int64  `json:"late"`
	NoWindow    int64  `json:"no_window"`
	Behind      int64  `json:"behind"` // rows whose event time was set to behind the watermark
	Future      int64  `json:"future"` // records too far ahead to move the watermark
	DeadLetters int64  `json:"dead_letters"`
	Skipped     int64  `json:"skipped"`
	Watermark   *int64 `json:"watermark"`   // of its input
	StateBytes  *int64 `json:"state_bytes"` // null: not known
}

// PluginStatus is one plugin of a pipeline.
type PluginStatus struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Calls  int64  `json:"calls"`
	Nanos  int64  `json:"nanos"` // in all calls together
	Trial  bool   `json:"trial"` // it has replaced another version, which comes back if this one fails at its first records
}

// Change is what a deployment would do.
type Change struct {
	Pipeline string           `json:"pipeline"`
	Action   string           `json:"action"` // create | update | none
	Plan     plan.Explanation `json:"plan"`
	Added    []string         `json:"added"` // blocks
	Changed  []string         `json:"changed"`
	Removed  []string         `json:"removed"`
	Notes    []string         `json:"notes"`   // what becomes of state, in sentences
	Missing  []string         `json:"missing"` // digests of modules that have to be uploaded first
}

// LogLine is one line of a pipeline's log.
type LogLine struct {
	Time  int64             `json:"time"` // ms since the epoch
	Level string            `json:"level"`
	Text  string            `json:"text"`
	Attrs map[string]string `json:"attrs,omitempty"`
}
