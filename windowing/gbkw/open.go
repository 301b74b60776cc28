package gbkw

import (
	"errors"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
)

// Open makes the machine's memory what the state says: after New, and after every recovery. The caller then gives
// Watermark the watermark that the input had.
func (m *Machine) Open(st statestore.View) error {
	m.forget()
	for g := range statestore.KeyGroups {
		if err := m.openGroup(byte(g), st); err != nil {
			return err
		}
	}
	if m.share {
		if err := m.loadPosition(st); err != nil {
			return err
		}
	}
	return m.loadOwn(st)
}

func (m *Machine) openGroup(g byte, st statestore.View) error {
	if m.timed {
		err := m.rows(m.space.TimerDomain(nil, g, onClock), st, func(r *statestore.Row, _ statestore.Iterator) (bool, error) {
			e := m.ticks.get(r.Time, event.MinTime)
			e.add(g)
			e.rows++
			return true, nil
		})
		if err != nil {
			return err
		}
	}
	if m.share {
		err := m.rows(m.space.Group(nil, statestore.PlainRow, g), st, func(*statestore.Row, statestore.Iterator) (bool, error) {
			m.stacked.add(g)
			return false, nil
		})
		if err != nil {
			return err
		}
	}
	switch {
	case m.merging:
		return m.openSessions(g, st)
	case m.global:
		return m.openCells(m.space.Group(nil, statestore.PlainRow, g), st)
	case m.holds:
		return m.openCells(m.space.Group(nil, statestore.WindowRow, g), st)
	}
	return m.openWindows(g, st)
}

// openSessions finds sessions by their timers.
func (m *Machine) openSessions(g byte, st statestore.View) error {
	return m.rows(m.space.TimerDomain(nil, g, onWatermark), st, func(r *statestore.Row, it statestore.Iterator) (bool, error) {
		e := m.windows.get(r.Time, event.MinTime)
		e.add(g)
		e.rows++
		if !m.holds {
			return true, nil
		}
		i, err := m.open(it, st)
		if err == nil && i >= 0 {
			m.hang(&m.cells[i], e)
		}
		return true, err
	})
}

// openCells reads every cell; without holds the first of the global window is enough.
func (m *Machine) openCells(prefix []byte, st statestore.View) error {
	return m.rows(prefix, st, func(r *statestore.Row, it statestore.Iterator) (bool, error) {
		g := r.Group
		i, err := m.open(it, st)
		if err != nil {
			return false, err
		}
		c := &m.cells[i]
		if c.part {
			e := m.slices.get(c.win.End, c.win.Start)
			e.add(g)
			e.low = min(e.low, c.mark)
			return true, nil
		}
		e := m.entryOf(c.win)
		e.add(g)
		m.hang(c, e)
		return m.holds, nil
	})
}

// hang counts c, which was just read, in e.
func (m *Machine) hang(c *cell, e *entry) {
	c.held, c.low = false, event.MaxTime
	m.track(c, e)
}

// openWindows finds the windows of a group without reading their cells: it looks for the next one behind each.
func (m *Machine) openWindows(g byte, st statestore.View) error {
	prefix := m.space.Group(nil, statestore.WindowRow, g)
	lo, hi := prefix, statestore.PrefixEnd(nil, prefix)
	for {
		var win event.Window
		found := false
		err := m.scan(lo, hi, st, func(r *statestore.Row, _ statestore.Iterator) (bool, error) {
			win, found = r.Window, true
			return false, nil
		})
		if err != nil || !found {
			return err
		}
		if m.isSlice(win) {
			m.slices.get(win.End, win.Start).add(g)
		} else {
			m.windows.get(win.End, win.Start).add(g)
		}
		lo = statestore.PrefixEnd(nil, m.space.WindowAll(nil, g, win))
	}
}

func (m *Machine) rows(prefix []byte, st statestore.View, fn func(*statestore.Row, statestore.Iterator) (bool, error)) error {
	return m.scan(prefix, statestore.PrefixEnd(nil, prefix), st, fn)
}

// scan calls fn for the rows of [lo, hi) until it returns false.
func (m *Machine) scan(lo, hi []byte, st statestore.View, fn func(*statestore.Row, statestore.Iterator) (bool, error)) (err error) {
	it, err := st.Scan(lo, hi)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		var r statestore.Row
		if err := r.Parse(it.Key()); err != nil {
			return err
		}
		if more, err := fn(&r, it); err != nil || !more {
			return err
		}
	}
	return it.Err()
}
