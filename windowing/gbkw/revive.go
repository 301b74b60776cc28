package gbkw

import (
	"bytes"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
)

// reviveAll makes the cells of a call, of windows that have fired and that something late has come for, what they were
// after their firing, if the state does not have them. The windows of one late row stand one after the other; they are
// made together.
func (m *Machine) reviveAll(st statestore.View) error {
	for i := 0; i < len(m.cells); i++ {
		if !m.revivable(&m.cells[i]) {
			continue
		}
		first := i
		for i+1 < len(m.cells) && m.follows(&m.cells[i], &m.cells[i+1]) {
			i++
		}
		if err := m.revive(first, i+1, st); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) revivable(c *cell) bool {
	return m.fires && !c.part && !c.stored && m.bounds.holds(c.win) && c.win.End <= m.done && m.closes(c.win) > m.w
}

// follows reports whether d is to be revived too, a window of the same key after that of c and overlapping it.
func (m *Machine) follows(c, d *cell) bool {
	return m.revivable(d) && c.win.End < d.win.End && d.win.Start < c.win.End && bytes.Equal(c.key, d.key)
}

// revive makes the cells from lo to hi, windows of one key in the order of their ends, from its slices: by two stacks, as
// their panes were (stacks.go).
func (m *Machine) revive(lo, hi int, st statestore.View) error {
	key := m.cells[lo]
	parts, err := m.collect(&key, event.Window{Start: key.win.Start, End: m.cells[hi-1].win.End}, st)
	if err != nil || len(parts) == 0 {
		return err
	}
	back := stack{slot: m.newSlot()}
	first, turned, pushed := 0, 0, 0 // parts[first:turned] are the front, parts[turned:pushed] the back
	for i := int32(lo); i < int32(hi); i++ {
		c := &m.cells[i]
		for ; pushed < len(parts) && parts[pushed].end <= c.win.End; pushed++ {
			p := &parts[pushed]
			for f := range m.funcs {
				m.mergeAcc(f, back.slot, m.accs[f][p.slot], !back.filled)
			}
			if !back.filled {
				back.filled, back.part = true, part{mark: event.MaxTime}
			}
			back.part.join(p.part)
		}
		for first < pushed && parts[first].start < c.win.Start {
			first++
		}
		if first >= turned {
			m.suffixes(parts[first:pushed])
			turned, back.filled = pushed, false
		}
		if first < turned {
			m.fillFrom(c, parts[first].slot, parts[first].part)
		}
		if back.filled {
			m.fillFrom(c, back.slot, back.part)
		}
		if c.empty {
			continue
		}
		m.ghost.Reset(len(m.funcs))
		if err := m.pass(i, c.win.End, false, &m.ghost); err != nil {
			return err
		}
	}
	return nil
}

// fillFrom merges what is in slot, of which p is known, into c.
func (m *Machine) fillFrom(c *cell, slot int32, p part) {
	for f := range m.funcs {
		m.mergeAcc(f, c.slot, m.accs[f][slot], c.empty)
	}
	c.fill(p)
}
