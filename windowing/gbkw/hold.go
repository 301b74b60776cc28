package gbkw

import "github.com/wgate/wgate/event"

// OutputWatermark returns the aggregate's own watermark when its input's is w: it stays behind the event times of the
// results that are still owed for elements which came before their window's end was passed, so that those are never late
// downstream. It never goes back while the machine lives. Where results bear the time of an element (Earliest, Latest) it
// may stay further behind than is needed.
func (m *Machine) OutputWatermark(w event.Time) event.Time {
	m.out = max(m.out, min(w, m.owed(w)))
	return m.out
}

// ownMark is OutputWatermark without moving it.
func (m *Machine) ownMark(w event.Time) event.Time { return max(m.out, min(w, m.owed(w))) }

// owed returns the least time that a result still owed may have, MaxTime if none is earlier than w.
func (m *Machine) owed(w event.Time) event.Time {
	if !m.holds {
		return event.MaxTime
	}
	at := event.MaxTime
	if m.share {
		at = m.owedSlices(w)
	}
	if e := m.owes.first(); e != nil {
		at = min(at, e.at)
	}
	if m.held == 0 && m.cfg.Timestamp == End {
		return at
	}
	for e := m.windows.first(); e != nil; e = m.windows.following(e.at, e.start) {
		end := m.endTime(e)
		if m.cfg.Timestamp == End && end >= w {
			break
		}
		if e.held > 0 {
			at = min(at, end)
		}
		if e.held > 0 || m.cfg.Mode != Discarding && e.at > w {
			at = min(at, e.low)
		}
		if e.at > w && e.start > w {
			break
		}
	}
	return at
}

// endTime returns the time of the results of e's windows when it is that of their end.
func (m *Machine) endTime(e *entry) event.Time {
	if m.cfg.Window.Inclusive {
		return e.at.Add(-m.cfg.Window.Gap - 1)
	}
	if e.at == event.MaxTime {
		return event.MaxTime
	}
	return e.at - 1
}

// hold brings the entry of cell i up to date with what the cell holds now.
func (m *Machine) hold(i int32) {
	if m.holds {
		c := &m.cells[i]
		m.track(c, m.entryOf(c.win))
	}
}

// track brings e, the entry of c's window, up to date with what c holds.
func (m *Machine) track(c *cell, e *entry) {
	if !m.holds {
		return
	}
	held := m.isHeld(c)
	if held != c.held {
		c.held = held
		if held {
			e.held++
			m.held++
		} else {
			e.held--
			m.held--
		}
	}
	if c.timed && m.cfg.Timestamp != End {
		e.low = min(e.low, m.resultTime(c))
	}
	m.owe(c, m.lowOf(c))
}

// lowOf returns the time of the earliest row that c has to take back with its next pane, if that is owed for elements which
// came before the window's end was passed. The rows of a session that has grown, or of those that it has swallowed, are
// earlier than its own. MaxTime is none.
func (m *Machine) lowOf(c *cell) event.Time {
	low := event.MaxTime
	if !m.revises || !c.held {
		return low
	}
	for b := c.sent; len(b) > 0; {
		r, rest, err := nextSent(b)
		if err != nil {
			break // who takes the rows back will say so
		}
		low, b = min(low, r.time), rest
	}
	return low
}

// owe notes that low is the time of the earliest row that c has to take back.
func (m *Machine) owe(c *cell, low event.Time) {
	if low == c.low {
		return
	}
	if c.low != event.MaxTime {
		e := m.owes.get(c.low, event.MinTime)
		if e.rows--; e.rows <= 0 {
			m.owes.remove(e.at, e.start)
		}
	}
	c.low = low
	if low != event.MaxTime {
		m.owes.get(low, event.MinTime).rows++
	}
}

// untrack takes c out of e.
func (m *Machine) untrack(c *cell, e *entry) {
	m.owe(c, event.MaxTime)
	if c.held {
		c.held = false
		e.held--
		m.held--
	}
}
