package gbkw

import (
	"slices"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
)

// pairs are the elements of a call: row Row counts in cell Cell. Those that are not yet in the accumulators wait in a list
// for each slot, so that the elements of one pane can be folded when it is sent and all others at once at the end.
type pairs struct {
	cells []int32
	rows  []int32
	slots []int32
	done  []bool  // folded
	next  []int32 // of the same slot
	heads []int32 // by slot
	tails []int32
}

func (p *pairs) reset() {
	p.cells, p.rows, p.slots = p.cells[:0], p.rows[:0], p.slots[:0]
	p.done, p.next = p.done[:0], p.next[:0]
	p.heads, p.tails = p.heads[:0], p.tails[:0]
}

func (p *pairs) add(cell int32, row int) {
	p.cells = append(p.cells, cell)
	p.rows = append(p.rows, int32(row))
}

// wait puts pair k, the next in order, in the list of slot.
func (p *pairs) wait(k int, slot int32) {
	p.slots = append(p.slots, slot)
	p.done = append(p.done, false)
	p.next = append(p.next, -1)
	for int(slot) >= len(p.heads) {
		p.heads, p.tails = append(p.heads, -1), append(p.tails, -1)
	}
	if t := p.tails[slot]; t >= 0 {
		p.next[t] = int32(k)
	} else {
		p.heads[slot] = int32(k)
	}
	p.tails[slot] = int32(k)
}

// flush folds the elements that wait for slot.
func (m *Machine) flush(slot int32, in *Rows) {
	p := &m.pairs
	if int(slot) >= len(p.heads) || p.heads[slot] < 0 {
		return
	}
	rows := m.scratch.rows[:0]
	for k := p.heads[slot]; k >= 0; k = p.next[k] {
		p.done[k] = true
		rows = append(rows, p.rows[k])
	}
	p.heads[slot], p.tails[slot] = -1, -1
	m.scratch.rows = rows
	groups := slices.Grow(m.scratch.groups[:0], len(rows))[:len(rows)]
	for i := range groups {
		groups[i] = slot
	}
	m.scratch.groups = groups
	m.fold(groups, rows, in)
}

// foldRest folds all elements that still wait.
func (m *Machine) foldRest(in *Rows) {
	p := &m.pairs
	groups, rows := m.scratch.groups[:0], m.scratch.rows[:0]
	for k, done := range p.done {
		if !done {
			groups = append(groups, m.heirSlot(p.slots[k]))
			rows = append(rows, p.rows[k])
		}
	}
	m.scratch.groups, m.scratch.rows = groups, rows
	m.fold(groups, rows, in)
}

// fold adds row rows[i] to the accumulators of slot groups[i], function by function.
func (m *Machine) fold(groups, rows []int32, in *Rows) {
	b := &m.batch
	b.Times, b.Heap = in.B.Times, in.B.Heap
	for f, fn := range m.funcs {
		b.Groups, b.Rows, b.Args = groups, rows, in.Args[f]
		if where := in.where(f); where != nil {
			m.filter(b, where)
		}
		switch {
		case len(b.Groups) == 0:
		case m.cfg.Retracted:
			m.foldSigned(f, fn, in.B.Ops)
		default:
			fn.Add(m.accs[f], b)
		}
	}
}

// foldSigned adds the rows of m.batch that are new, and takes out those that take an earlier one back. Their order does not
// matter to functions that can forget.
func (m *Machine) foldSigned(f int, fn combine.Func, ops []event.Op) {
	b := &m.batch
	groups, rows := b.Groups, b.Rows
	for _, op := range [2]event.Op{event.Insert, event.Retract} {
		b.Groups, b.Rows = m.scratch.signedGroups[:0], m.scratch.signedRows[:0]
		for i, row := range rows {
			if ops[row] == op {
				b.Groups, b.Rows = append(b.Groups, groups[i]), append(b.Rows, row)
			}
		}
		m.scratch.signedGroups, m.scratch.signedRows = b.Groups, b.Rows
		switch {
		case len(b.Rows) == 0:
		case op == event.Insert:
			fn.Add(m.accs[f], b)
		default:
			fn.Uncombine(m.accs[f], b)
		}
	}
}

// filter leaves only the pairs whose row is true in where.
func (m *Machine) filter(b *batch, where []event.Value) {
	groups, rows := m.scratch.keptGroups[:0], m.scratch.keptRows[:0]
	for i, row := range b.Rows {
		if isTrue(where[row]) {
			groups = append(groups, b.Groups[i])
			rows = append(rows, row)
		}
	}
	m.scratch.keptGroups, m.scratch.keptRows = groups, rows
	b.Groups, b.Rows = groups, rows
}

func isTrue(v event.Value) bool { return v.Kind == event.Bool && v.Bool() }

// where returns the filter of function f, nil if it has none.
func (in *Rows) where(f int) []event.Value {
	if in.Where == nil {
		return nil
	}
	return in.Where[f]
}
