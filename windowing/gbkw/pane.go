package gbkw

import (
	"github.com/wgate/wgate/event"
)

// firing is why a pane is to be sent.
type firing struct {
	timing event.Timing
	last   bool
	cause  int
	mark   event.Time // the aggregate's own watermark just before the pane
	end    event.Time // cumulative: end of the step, if it is not the last
}

// timing returns where a pane stands to the passing of the window's end, outside of the step in which it is passed: on
// time also if something unsent came before that step.
func (m *Machine) timing(c *cell, w event.Time) event.Timing {
	switch due := m.due(c.win); {
	case w < due:
		return event.Early
	case c.mark < due:
		return event.OnTime
	}
	return event.Late
}

// send sends a pane of c, unless it is to be suppressed. What was unsent is so no longer.
func (m *Machine) send(c *cell, f firing, out *Output) error {
	fresh := c.unsent
	c.unsent, c.mark, c.dirty = false, event.MaxTime, true
	if m.cfg.Retracted && c.rows == 0 {
		// All was taken back. There is no new row; but where none can be retracted, those who have read one read once that
		// nothing is left.
		if m.cfg.Mode == Retracting {
			return m.retract(c, f.mark, out)
		}
		if !fresh || c.index == 0 {
			return nil
		}
	}
	h := out.Panes.Heap
	m.results = m.results[:0]
	for i, fn := range m.funcs {
		m.results = append(m.results, fn.Extract(m.accs[i][c.slot], h))
	}
	row := sentRow{
		win:  c.win,
		pane: event.Pane{Index: c.index, Timing: f.timing, First: c.index == 0, Last: f.last, Cause: uint16(f.cause)},
		time: m.resultTime(c),
	}
	if m.steps && f.timing == event.Early {
		row.time = f.end - 1
	}
	skip, err := m.suppressed(c, fresh, h)
	if err != nil {
		return err
	}
	if !skip {
		if m.cfg.Mode == Retracting {
			if err := m.retract(c, f.mark, out); err != nil {
				return err
			}
		}
		m.emit(c, row, event.Insert, m.results, f.mark, out)
		c.index++
		if m.cfg.Mode == Retracting || m.cfg.Suppress && m.cfg.Mode == Accumulating {
			c.sent = m.appendSent(c.sent[:0], row.win, row.pane, row.time, m.results, h)
		}
	}
	if m.cfg.Mode == Discarding || m.cfg.Separate && f.timing != event.Early {
		m.clearSlot(c.slot)
		c.empty, c.timed = true, false
		if m.cfg.Separate {
			c.sent = c.sent[:0] // the rows of late elements stand beside the on-time row, they do not replace it
		}
	}
	return nil
}

// suppressed reports whether the results of c, which are in m.results, are to be held back: nothing changes for those who
// read them. A merged window has no pane before it.
func (m *Machine) suppressed(c *cell, fresh bool, h *event.Heap) (bool, error) {
	switch {
	case !m.cfg.Suppress:
		return false, nil
	case m.cfg.Mode == Discarding:
		return !fresh, nil
	case c.index == 0 || len(c.sent) == 0:
		return false, nil
	}
	return m.sameAsSent(c, m.results, h)
}

// resultTime returns the event time of a pane of c.
func (m *Machine) resultTime(c *cell) event.Time {
	switch {
	case c.timed && m.cfg.Timestamp == Earliest:
		return c.first
	case c.timed && m.cfg.Timestamp == Latest:
		return c.last
	case m.cfg.Window.Inclusive:
		return c.win.End
	}
	return c.win.Last()
}

// emit appends a row to the panes.
func (m *Machine) emit(c *cell, r sentRow, op event.Op, results []event.Value, mark event.Time, out *Output) {
	p := &out.Panes
	p.Times = append(p.Times, r.time)
	p.Marks = append(p.Marks, mark)
	p.Ops = append(p.Ops, op)
	key := p.Heap.Put(c.key)
	if c.key == nil {
		key = p.Heap.PutString("")
	}
	p.Keys = append(p.Keys, event.HeapValue(event.Bytes, key))
	p.Values = append(p.Values, event.Value{})
	p.Windows = append(p.Windows, r.win)
	p.Panes = append(p.Panes, r.pane)
	for i, v := range results {
		p.Fields[i] = append(p.Fields[i], v)
	}
}

// touch notes an element at t, which came when the watermark was mark, in c.
func (m *Machine) touch(c *cell, t, mark event.Time) {
	c.dirty, c.unsent, c.empty = true, true, false
	if mark < c.mark {
		c.mark = mark
	}
	if m.cfg.Timestamp == End || t < mark {
		return
	}
	if !c.timed {
		c.timed, c.first, c.last = true, t, t
		return
	}
	c.first, c.last = min(c.first, t), max(c.last, t)
}

// isHeld reports whether c counts as held: whether it owes a result that may be earlier than the watermark. That is so
// while something is unsent that came before the window's end was passed; and for a session with boundary "inclusive",
// whose results are earlier than its end, until its on-time pane.
func (m *Machine) isHeld(c *cell) bool {
	return m.holds && (c.unsent && c.mark < m.due(c.win) || m.cfg.Window.Inclusive && m.watches && !c.passed)
}
