package triggers

import (
	"encoding/binary"
	"fmt"

	"github.com/wgate/wgate/event"
)

// Machine is a compiled trigger. It has no state of its own and may be used by several goroutines at a time.
//
// The state of a trigger in one window is Size bytes, all zero at the start. Every node of the tree has a slot of fixed
// place and length in it: a byte of flags, and 8 bytes for a count or a deadline. The slots stand in the order in which
// the nodes print, so that a subtree is one span.
type Machine struct {
	spec  Spec
	nodes []node
	size  int
}

type node struct {
	kind     Kind
	parts    []int // indices of Parts
	early    int   // index, or -1
	late     int
	count    uint64
	delay    event.Duration
	off, end int // slots of the subtree: its own first
}

// Flags of a slot.
const (
	finished = 1 << iota
	started  // AfterDelay, Every: the deadline is set
	inLate   // AfterWatermark: the passing of the end has fired
)

// Compile makes a Machine of s. The error is what Validate finds.
func Compile(s Spec) (*Machine, error) {
	if bad := s.Validate(); len(bad) > 0 {
		return nil, fmt.Errorf("trigger %s: %s: %s", s, bad[0].Summary, bad[0].Detail)
	}
	m := &Machine{spec: s}
	m.add(s)
	return m, nil
}

func (m *Machine) add(s Spec) int {
	i := len(m.nodes)
	m.nodes = append(m.nodes, node{kind: s.Kind, early: -1, late: -1, count: uint64(s.Count), delay: s.Delay, off: m.size})
	m.size++
	if s.Kind == AfterCount || s.Kind == AfterDelay || s.Kind == Every {
		m.size += 8
	}
	var n node
	n.early, n.late = -1, -1
	for _, p := range s.Early {
		n.early = m.add(p)
	}
	for _, p := range s.Late {
		n.late = m.add(p)
	}
	for _, p := range s.Parts {
		n.parts = append(n.parts, m.add(p))
	}
	m.nodes[i].early, m.nodes[i].late, m.nodes[i].parts, m.nodes[i].end = n.early, n.late, n.parts, m.size
	return i
}

// Spec returns what the machine was made of.
func (m *Machine) Spec() Spec { return m.spec }

// Size returns the length of the trigger's state in one window, in bytes.
func (m *Machine) Size() int { return m.size }

// Watches reports whether the trigger looks at the watermark: whether it has to be asked when a window's end is passed.
func (m *Machine) Watches() bool { return m.has(AfterWatermark) }

// Quiet reports whether nothing that happens before a window's end is passed changes the trigger's state: neither an
// element nor the clock.
func (m *Machine) Quiet() bool { return m.quiet(0) }

// Flushes reports whether the trigger certainly fires when the watermark passes a window's end, so that nothing which came
// before stays unsent.
func (m *Machine) Flushes() bool {
	n := &m.nodes[0]
	return n.kind == AfterWatermark || n.kind == Repeat && m.atEnd(n.parts[0])
}

// atEnd reports whether node i, which is started anew whenever it has finished, is ready once the end is passed.
func (m *Machine) atEnd(i int) bool {
	n := &m.nodes[i]
	switch n.kind {
	case AfterWatermark:
		return n.late < 0
	case Repeat:
		return m.atEnd(n.parts[0])
	case Any:
		for _, p := range n.parts {
			if m.nodes[p].kind == AfterWatermark && m.nodes[p].late < 0 {
				return true
			}
		}
	}
	return false
}

// Timed reports whether the trigger may ask for processing time.
func (m *Machine) Timed() bool { return m.has(AfterDelay, Every) }

func (m *Machine) has(kinds ...Kind) bool {
	for i := range m.nodes {
		for _, k := range kinds {
			if m.nodes[i].kind == k {
				return true
			}
		}
	}
	return false
}

func (m *Machine) quiet(i int) bool {
	n := &m.nodes[i]
	switch n.kind {
	case AfterWatermark:
		return n.early < 0
	case AfterCount, AfterDelay, Every:
		return false
	}
	for _, p := range n.parts {
		if !m.quiet(p) {
			return false
		}
	}
	return true
}

// Look is the occasion on which a trigger is asked.
type Look struct {
	Now    event.Time // processing time
	Passed bool       // the watermark has passed the window's end
}

// Element tells the trigger in state st of an element that has come, and asks it whether to fire. cause is the node that
// fired, in the order in which the nodes print.
func (m *Machine) Element(st []byte, l Look) (cause int, fired bool) {
	m.element(0, st, l)
	return m.Ask(st, l)
}

// Ask asks the trigger in state st whether to fire: when the watermark passes the end, and when a deadline has come. A
// trigger that fires moves on, whether or not there is something to send.
func (m *Machine) Ask(st []byte, l Look) (cause int, fired bool) {
	if m.done(0, st) || !m.ready(0, st, l) {
		return 0, false
	}
	return m.fire(0, st, l), true
}

// Finished reports whether the trigger has fired for the last time.
func (m *Machine) Finished(st []byte) bool { return m.done(0, st) }

// Deadline returns the next processing time after now at which the trigger in state st has to be asked; MaxTime if it
// waits for none.
func (m *Machine) Deadline(st []byte, now event.Time) event.Time {
	return m.deadline(0, st, now)
}

func (m *Machine) done(i int, st []byte) bool { return st[m.nodes[i].off]&finished != 0 }

func (m *Machine) reset(i int, st []byte) { clear(st[m.nodes[i].off:m.nodes[i].end]) }

func (n *node) number(st []byte) uint64 { return binary.LittleEndian.Uint64(st[n.off+1:]) }

func (n *node) setNumber(st []byte, u uint64) { binary.LittleEndian.PutUint64(st[n.off+1:], u) }

// phase returns the part of an AfterWatermark that is running, -1 if there is none.
func (n *node) phase(st []byte) int {
	if st[n.off]&inLate != 0 {
		return n.late
	}
	return n.early
}

func (m *Machine) element(i int, st []byte, l Look) {
	n := &m.nodes[i]
	if st[n.off]&finished != 0 {
		return
	}
	switch n.kind {
	case AfterWatermark:
		if p := n.phase(st); p >= 0 {
			m.element(p, st, l)
		}
	case AfterCount:
		n.setNumber(st, n.number(st)+1)
	case AfterDelay, Every:
		if st[n.off]&started == 0 {
			st[n.off] |= started
			n.setNumber(st, uint64(n.due(l.Now)))
		}
	case Sequence:
		if p := m.current(n, st); p >= 0 {
			m.element(p, st, l)
		}
	default:
		for _, p := range n.parts {
			m.element(p, st, l)
		}
	}
}

// due returns the deadline that an element arriving at now sets.
func (n *node) due(now event.Time) event.Time {
	if n.kind == AfterDelay || !now.IsFinite() {
		return now.Add(n.delay)
	}
	r := now % event.Time(n.delay)
	if r < 0 {
		r += event.Time(n.delay)
	}
	return now.Add(n.delay - event.Duration(r))
}

// current returns the first part of a Sequence that has not finished, -1 if there is none.
func (m *Machine) current(n *node, st []byte) int {
	for _, p := range n.parts {
		if !m.done(p, st) {
			return p
		}
	}
	return -1
}

// ready reports whether node i, which has not finished, is to fire now.
func (m *Machine) ready(i int, st []byte, l Look) bool {
	n := &m.nodes[i]
	switch n.kind {
	case AfterWatermark:
		p := n.phase(st)
		return l.Passed && st[n.off]&inLate == 0 || p >= 0 && m.ready(p, st, l)
	case AfterCount:
		return n.number(st) >= n.count
	case AfterDelay, Every:
		return st[n.off]&started != 0 && l.Now >= event.Time(n.number(st))
	case Sequence:
		p := m.current(n, st)
		return p >= 0 && m.ready(p, st, l)
	case All:
		for _, p := range n.parts {
			if !m.done(p, st) && !m.ready(p, st, l) {
				return false
			}
		}
		return true
	}
	for _, p := range n.parts { // Any, Repeat, RepeatUntil; Never has none
		if !m.done(p, st) && m.ready(p, st, l) {
			return true
		}
	}
	return false
}

func (m *Machine) deadline(i int, st []byte, now event.Time) event.Time {
	n := &m.nodes[i]
	at := event.MaxTime
	if st[n.off]&finished != 0 {
		return at
	}
	switch n.kind {
	case AfterWatermark:
		if p := n.phase(st); p >= 0 {
			return m.deadline(p, st, now)
		}
	case AfterDelay, Every:
		if d := event.Time(n.number(st)); st[n.off]&started != 0 && d > now {
			return d
		}
	case Sequence:
		if p := m.current(n, st); p >= 0 {
			return m.deadline(p, st, now)
		}
	default:
		for _, p := range n.parts {
			at = min(at, m.deadline(p, st, now))
		}
	}
	return at
}
