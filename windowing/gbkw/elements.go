package gbkw

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/triggers"
)

type batch = combine.Batch

// scratch is memory that is reused from call to call.
type scratch struct {
	wins                 []event.Window
	key, val, row, cell  []byte
	lo, hi               []byte
	groups, rows         []int32
	keptGroups, keptRows []int32
	signedGroups         []int32
	signedRows           []int32
	bad                  []bool
	parsed               statestore.Row
	keyOf                []int32 // sessions: the key of each row
	joined               []int32
	states               [][]byte
	merged, sent         []byte
	at                   []byte
	parts                []sharedSlice
}

// Elements takes the rows of a bundle at processing time now. The rows, their heap and what they refer to are not kept.
// The error is that of the View, or says that a row cannot be taken.
func (m *Machine) Elements(in *Rows, now event.Time, st statestore.View, out *Output) error {
	m.now = max(m.now, now)
	m.clearCells()
	m.table.reset()
	m.pairs.reset()
	bad, err := m.checkRows(in, out)
	if err != nil {
		return err
	}
	if m.merging {
		return m.sessionElements(in, bad, st, out)
	}
	var slow bool
	if m.share {
		slow = m.assignShared(in, bad, out)
	} else {
		slow = m.assign(in, bad, out)
	}
	for i := range m.cells {
		if err := m.load(int32(i), st); err != nil {
			return err
		}
	}
	if m.share {
		if err := m.reviveAll(st); err != nil {
			return err
		}
	}
	if err := m.apply(in, slow, out); err != nil {
		return err
	}
	m.foldRest(in)
	for i := range m.cells {
		if err := m.save(int32(i), m.now, st); err != nil {
			return err
		}
	}
	return nil
}

// checkRows looks for rows that cannot be taken. bad is nil if there are none.
func (m *Machine) checkRows(in *Rows, out *Output) (bad []bool, err error) {
	for i, op := range in.B.Ops {
		if op == event.Retract && !m.cfg.Retracted {
			return nil, fmt.Errorf("gbkw: row %d takes an earlier row back, which the machine was not made for", i)
		}
	}
	for f, fn := range m.funcs {
		where := in.where(f)
		var takes [event.Error + 1]bool
		for k := range takes {
			takes[k] = fn.Takes(event.Kind(k))
		}
		for row, v := range in.Args[f] {
			if takes[v.Kind] || where != nil && !isTrue(where[row]) || bad != nil && bad[row] {
				continue
			}
			if bad == nil {
				bad = append(m.scratch.bad[:0], make([]bool, in.B.Len())...)
				m.scratch.bad = bad
			}
			bad[row] = true
			out.Failed = append(out.Failed, Failed{Row: int32(row), Func: int32(f), Kind: v.Kind})
		}
	}
	return bad, nil
}

// assign puts every row in the cells of its windows. It reports whether the trigger has to see the elements one by one:
// else nothing but the accumulators is touched.
func (m *Machine) assign(in *Rows, bad []bool, out *Output) (slow bool) {
	b := in.B
	slow = !m.quiet
	for i, t := range b.Times {
		if bad != nil && bad[i] {
			continue
		}
		key := b.Heap.Get(in.KeyBytes[i])
		h := xxhash.Sum64(key)
		wins := m.cfg.Window.Assign(t, m.scratch.wins[:0])
		m.scratch.wins = wins
		if len(wins) == 0 {
			out.NoWindow++
		}
		mark := b.Marks[i]
		for _, w := range wins {
			due := m.due(w)
			if mark >= due {
				if mark >= due.Add(m.cfg.Lateness) {
					out.Late = append(out.Late, Late{Row: int32(i), Window: w})
					continue
				}
				slow = true
			}
			m.pairs.add(m.cellOf(h, key, w), i)
		}
	}
	return slow
}

// apply notes the elements in their cells and, if slow, asks the trigger after each.
func (m *Machine) apply(in *Rows, slow bool, out *Output) error {
	b, p := in.B, &m.pairs
	for k, i := range p.cells {
		row := p.rows[k]
		t, mark := b.Times[row], b.Marks[row]
		slot := m.cells[i].slot
		if m.steps {
			slot = m.stepSlot(i, t, mark)
		}
		if c := &m.cells[i]; slot == c.slot {
			m.touch(c, t, mark)
			c.count(b.Ops[row])
		} else {
			c.dirty = true
		}
		p.wait(k, slot)
		if m.cells[i].part {
			continue
		}
		if slow {
			if err := m.ask(i, mark, in, out); err != nil {
				return err
			}
		}
		m.hold(i)
	}
	return nil
}

// ask tells the trigger of cell i of an element that has just been noted in it, and sends a pane if it fires.
func (m *Machine) ask(i int32, mark event.Time, in *Rows, out *Output) error {
	c := &m.cells[i]
	passed := mark >= m.due(c.win)
	if m.quiet && !passed {
		return nil
	}
	c.passed = c.passed || passed
	cause, fired := m.trig.Element(m.state(i), triggers.Look{Now: m.now, Passed: passed})
	if !fired {
		return nil
	}
	m.flush(c.slot, in)
	return m.send(c, firing{timing: m.timing(c, mark), cause: cause, mark: m.ownMark(mark)}, out)
}
