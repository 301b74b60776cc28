package plan

import (
	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// Kind says what a node does.
type Kind uint8

// The kinds of nodes. A transform block becomes one node for each of its attributes, in the order of language.md.
const (
	Source Kind = iota
	Explode
	Filter
	Set
	Shape
	Map
	Retime
	Do
	Aggregate
	Sink
	Tap // a scenario looks at the rows
)

var kindNames = [...]string{"source", "explode", "where", "set", "shape", "value", "event_time", "do", "aggregate", "sink", "tap"}

// String returns the kind's name as the pipeline language has it.
func (k Kind) String() string { return kindNames[k] }

// Plan is a pipeline made ready to run. It is immutable and holds no state; programs are copied per worker.
type Plan struct {
	Pipeline    *config.Pipeline
	Nodes       []*Node // every node stands after the one that feeds it
	Collections []*Collection
	Plugins     []*config.Plugin // those that a node calls, in order of first use
	Hash        string           // of everything that state depends on: block names, windows, keys, functions
}

// Collection is what flows on one arrow.
type Collection struct {
	Name     string     // as users write it; parts of a transform that are no collection of their own repeat its name
	Type     event.Type // of the value
	KeyType  event.Type
	Source   bool // rows stem from source records one to one: record.* and headers are there
	Windowed bool
	Paths    []expr.Path // slot -> path below value
	Whole    bool        // the value as a whole is needed
	From     *Node
	To       []*Node
}

// Slot returns the slot of path p, or -1.
func (c *Collection) Slot(p expr.Path) int {
	for i, q := range c.Paths {
		if p.Equal(q) {
			return i
		}
	}
	return -1
}

// Node is one step of a plan. Which of the payload fields are set depends on Kind.
type Node struct {
	ID    int
	Kind  Kind
	Block string      // "transform.scored": the identity under which state, errors and metrics go
	In    *Collection // nil for a source
	Out   []*Collection
	// Out[0] is the main output; an aggregate's Out[1] its late rows, a DoFn's Out[i] its side output Tags[i-1].

	Errors config.ErrorPolicy

	SourceBlock *config.Source
	Index       int // of a source among the sources
	Plugin      *config.Plugin
	Func        string
	Tags        []string
	Agg         *config.Aggregate
	SinkBlock   *config.Sink

	Name   string   // explode: the new field
	Names  []string // set: the fields; shape: those dropped or kept; headers of a sink
	Keep   bool     // shape: Names are kept, not dropped
	Exprs  []*expr.Expr
	Key    []*expr.Expr // parts of the key of an aggregate or a sink
	Args   [][]*expr.Expr
	Wheres []*expr.Expr // filters of aggregate functions; nil entries where there is none
	Value  *expr.Expr   // of a sink, a map, a filter, a retime, an explode, an aggregate's combiner: its one expression; nil: none
	Heads  []*expr.Expr // header values of a sink

	Slots []OutSlot // where each slot of Out[0] comes from; nil where the node decodes its output
}

// OutSlot says where a column of a node's main output comes from: a column of the input, or an expression. Both are
// empty (In -1, Expr nil) for a field that the node removes.
type OutSlot struct {
	In   int
	Expr *expr.Expr
	Sub  expr.Path // explode: the path below the member
}
