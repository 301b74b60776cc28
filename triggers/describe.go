package triggers

import (
	"strconv"

	"github.com/wgate/wgate/event"
)

// NodeState is what a node of a trigger waits for in one window, for people to read.
type NodeState struct {
	Path  string // how to get to the node: "0", "0.early", "0.early.1"
	Depth int
	Text  string // the node's function: after_count
	State string // "2 of 3", "until 2026-01-01T12:00:00.000Z", "finished", "late"; empty if there is nothing to say
}

// Describe returns the nodes of the trigger in the order in which they print, with their state in st. The index of a node
// is what Element and Ask return as cause.
func (m *Machine) Describe(st []byte) []NodeState {
	out := make([]NodeState, len(m.nodes))
	m.describe(0, "0", 0, st, out)
	return out
}

func (m *Machine) describe(i int, path string, depth int, st []byte, out []NodeState) {
	n := &m.nodes[i]
	out[i] = NodeState{Path: path, Depth: depth, Text: n.kind.String(), State: n.state(st)}
	if n.early >= 0 {
		m.describe(n.early, path+".early", depth+1, st, out)
	}
	if n.late >= 0 {
		m.describe(n.late, path+".late", depth+1, st, out)
	}
	for k, p := range n.parts {
		m.describe(p, path+"."+strconv.Itoa(k), depth+1, st, out)
	}
}

func (n *node) state(st []byte) string {
	switch flags := st[n.off]; {
	case flags&finished != 0:
		return "finished"
	case n.kind == AfterCount:
		return strconv.FormatUint(n.number(st), 10) + " of " + strconv.FormatUint(n.count, 10)
	case flags&started != 0:
		return "until " + event.Time(n.number(st)).String()
	case flags&inLate != 0:
		return "late"
	}
	return ""
}
