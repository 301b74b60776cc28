package engine

import (
	"sync"
	"sync/atomic"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/plan"
)

// Stats are the counters of a running task. The engine writes them; anybody may read them at any time.
type Stats struct {
	mu    sync.Mutex
	nodes []*NodeStats
	parts []SourceStats // guarded by mu; replaced as a whole

	Epochs      atomic.Int64 // committed
	LastCommit  atomic.Int64 // processing time in ms of the last commit; 0: none yet
	StateBytes  atomic.Int64 // written by the running epoch so far
	DeadLetters atomic.Int64
}

// NodeStats are the counters of one node of the plan.
type NodeStats struct {
	In, Out     atomic.Int64 // rows
	Late        atomic.Int64 // rows that a closed window would have taken
	NoWindow    atomic.Int64 // rows that lie in no window
	Behind      atomic.Int64 // rows whose event time was set to behind the watermark
	Future      atomic.Int64 // records too far ahead of their arrival to move the watermark
	DeadLetters atomic.Int64
	Skipped     atomic.Int64 // failed rows that on_error = "skip" passed over
	Watermark   atomic.Int64 // of the node's input; a source's own
	StateBytes  atomic.Int64 // of keys and values, as last counted; -1: not known
	Calls       atomic.Int64 // of a plugin
	CallNanos   atomic.Int64
}

// SourceStats is the state of one source partition as people look at it.
type SourceStats struct {
	PartitionState
	Watermark event.Time
	Idle      bool
	Held      bool // fetching is paused for alignment
}

// NewStats returns counters for the nodes of p, all zero.
func NewStats(p *plan.Plan) *Stats {
	s := &Stats{}
	for range p.Nodes {
		n := &NodeStats{}
		n.Watermark.Store(int64(event.MinTime))
		n.StateBytes.Store(-1)
		s.nodes = append(s.nodes, n)
	}
	return s
}

func (s *Stats) node(id int) *NodeStats { return s.nodes[id] }

// Node returns the counters of the node with the given ID in the plan.
func (s *Stats) Node(id int) *NodeStats { return s.nodes[id] }

// Partitions returns the state of all source partitions when it was last looked at.
func (s *Stats) Partitions() []SourceStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]SourceStats(nil), s.parts...)
}

func (s *Stats) setPartitions(p []SourceStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.parts = append(s.parts[:0], p...)
}
