package gbkw

import "github.com/wgate/wgate/event"

// A cumulative window is one window that sends a pane at every step which the watermark passes, of what has event time
// before the step's end. A cell holds what lies before the last step that was passed in its accumulators, and what lies in
// steps to come in slices.

// stepSlot returns the accumulators of cell i that an element at t belongs in.
func (m *Machine) stepSlot(i int32, t, mark event.Time) int32 {
	c := &m.cells[i]
	if !c.stored && c.empty && len(c.slices) == 0 { // its first element: steps that were passed before it have no pane
		c.steps = m.stepsAt(c.win, mark)
	}
	n := m.stepsAt(c.win, t)
	if n < c.steps {
		return c.slot
	}
	for _, s := range c.slices {
		if s.step == n {
			return s.slot
		}
	}
	s := slice{n, m.newSlot()}
	c.slices = append(c.slices, s)
	return s.slot
}

// stepsAt returns how many steps of w have ended at t.
func (m *Machine) stepsAt(w event.Window, t event.Time) uint32 {
	if t <= w.Start {
		return 0
	}
	if t >= w.End {
		return uint32(m.cfg.Window.Size / m.cfg.Window.Step)
	}
	return uint32(event.Duration(t-w.Start) / m.cfg.Window.Step)
}

// passSteps sends the panes of the steps of cell i that end at or before w, from the first that holds something on. The
// last step's pane is the on-time pane and is left to the caller.
func (m *Machine) passSteps(i int32, w event.Time, out *Output) error {
	c := &m.cells[i]
	last := m.stepsAt(c.win, c.win.End)
	for reached := m.stepsAt(c.win, w); c.steps < reached; {
		m.takeStep(c)
		c.steps++
		c.dirty = true
		if c.steps == last || c.empty && c.index == 0 {
			continue
		}
		end := c.win.Start + event.Time(c.steps)*event.Time(m.cfg.Window.Step)
		if err := m.send(c, firing{timing: event.Early, mark: m.cursor.mark, end: end}, out); err != nil {
			return err
		}
	}
	return nil
}

// takeStep folds the slice of the step that ends next into c's accumulators.
func (m *Machine) takeStep(c *cell) {
	kept := c.slices[:0]
	for _, s := range c.slices {
		if s.step != c.steps {
			kept = append(kept, s)
			continue
		}
		for f, fn := range m.funcs {
			m.accs[f][c.slot] = fn.Merge(m.accs[f][c.slot], m.accs[f][s.slot])
		}
		c.unsent, c.empty, c.mark = true, false, event.MinTime
	}
	c.slices = kept
}
