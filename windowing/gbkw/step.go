package gbkw

import (
	"errors"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/triggers"
)

// cursor is where a step of the watermark has stopped for lack of budget: at a row of a group of an entry, or, if it is not
// on, behind the entry.
type cursor struct {
	step      bool // a step is under way
	on        bool
	at, start event.Time
	group     int
	row       []byte
	mark      event.Time // the aggregate's own watermark before the step
}

// Watermark moves the input's watermark to w, or nowhere if that is not later. Windows that are complete or close fire by
// end, then start, key group and key. budget is how many cells the call may look at (more than 0): if that is not enough
// it returns false, and has to be called again with the same w before anything else happens; the state may be committed in
// between.
func (m *Machine) Watermark(w event.Time, st statestore.View, out *Output, budget int) (done bool, err error) {
	if w <= m.w {
		return true, nil
	}
	if !m.cursor.step {
		m.cursor = cursor{step: true, at: event.MinTime, start: event.MinTime, row: m.cursor.row[:0], mark: m.OutputWatermark(m.w)}
	}
	for {
		e, closing := m.nextEntry(w)
		if win, ok := m.nextSlide(w); ok && (e == nil || win.End < e.at) {
			if done, err := m.slide(win, w, st, out, &budget); !done {
				return false, err
			}
			continue
		}
		if e == nil {
			break
		}
		if done, err := m.visit(e, w, closing, st, out, &budget); !done {
			return false, err
		}
		m.cursor.at, m.cursor.start = e.at, e.start
	}
	m.w = w
	m.cursor = cursor{row: m.cursor.row[:0]}
	if m.share {
		if err := m.settleSlices(w, st); err != nil {
			return false, err
		}
	}
	return true, m.saveOwn(st)
}

// nextEntry returns the next entry at which a step to w has something to do, and whether it closes; nil if there is none.
func (m *Machine) nextEntry(w event.Time) (e *entry, closing bool) {
	if m.cursor.on {
		e = m.windows.from(m.cursor.at, m.cursor.start)
	} else {
		e = m.windows.following(m.cursor.at, m.cursor.start)
	}
	if e == nil || e.at.Add(m.cfg.Lateness) <= w {
		return e, true
	}
	if e.at <= m.w { // complete since an earlier step
		e = m.windows.after(m.w)
	}
	if e == nil || !m.watches && !m.steps || m.nextStep(e, m.w) > w {
		return nil, false
	}
	return e, false
}

// visit looks at all cells of e's windows.
func (m *Machine) visit(e *entry, w event.Time, closing bool, st statestore.View, out *Output, budget *int) (bool, error) {
	g := 0
	var from []byte
	if m.cursor.on {
		g, from = m.cursor.group, m.cursor.row
		m.cursor.on = false
	}
	for g = e.next(g); g < statestore.KeyGroups; g = e.next(g + 1) {
		done, err := m.visitGroup(e, byte(g), from, w, closing, st, out, budget)
		if err != nil {
			return false, err
		}
		if !done {
			m.cursor.on, m.cursor.at, m.cursor.start, m.cursor.group = true, e.at, e.start, g
			return false, nil
		}
		from = nil
	}
	if closing {
		m.windows.remove(e.at, e.start)
	}
	return true, nil
}

// prefix returns what the keys of e's rows in a group begin with. Sessions are found by their timers.
func (m *Machine) prefix(e *entry, g byte) []byte {
	p := m.scratch.lo[:0]
	switch {
	case m.merging:
		p = m.space.TimerTime(p, g, onWatermark, e.at)
	case m.global:
		p = m.space.Group(p, statestore.PlainRow, g)
	default:
		p = m.space.WindowAll(p, g, event.Window{Start: e.start, End: e.at})
	}
	m.scratch.lo = p
	return p
}

func (m *Machine) visitGroup(e *entry, g byte, from []byte, w event.Time, closing bool, st statestore.View, out *Output, budget *int) (done bool, err error) {
	prefix := m.prefix(e, g)
	lo, hi := m.span(prefix, from)
	it, err := st.Scan(lo, hi)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		if *budget <= 0 {
			m.cursor.row = append(m.cursor.row[:0], it.Key()...)
			if closing && !m.merging {
				return false, st.DeleteRange(prefix, m.cursor.row)
			}
			return false, nil
		}
		*budget--
		if err := m.visitRow(e, it, w, closing, st, out); err != nil {
			return false, err
		}
	}
	if err := it.Err(); err != nil {
		return false, err
	}
	if closing && !m.merging {
		return true, st.DeleteRange(prefix, hi)
	}
	return true, nil
}

// visitRow looks at one cell: what fires, what is left when it closes.
func (m *Machine) visitRow(e *entry, it statestore.Iterator, w event.Time, closing bool, st statestore.View, out *Output) error {
	i, err := m.open(it, st)
	if err != nil {
		return err
	}
	if i < 0 { // a timer without its session
		return st.Delete(it.Key())
	}
	if m.merging && m.due(m.cells[i].win) != e.at { // it has grown since the timer was set
		return m.postpone(i, e, it, st)
	}
	if err := m.pass(i, w, closing, out); err != nil {
		return err
	}
	c := &m.cells[i]
	if !closing {
		return m.save(i, m.now, st)
	}
	m.untrack(c, e)
	if m.timed {
		if err := m.arm(c, event.MaxTime, st); err != nil {
			return err
		}
	}
	if !m.merging {
		return nil // all rows of the window go at once
	}
	e.rows--
	if err := st.Delete(it.Key()); err != nil {
		return err
	}
	return st.Delete(m.rowKey(c, c.was))
}

// open makes the row under it the only cell. It returns -1 for a timer whose cell is not there.
func (m *Machine) open(it statestore.Iterator, st statestore.View) (int32, error) {
	m.clearCells()
	r := &m.scratch.parsed
	if err := r.Parse(it.Key()); err != nil {
		return -1, err
	}
	win := event.Global
	switch r.Kind {
	case statestore.WindowRow:
		win = r.Window
	case statestore.TimerRow:
		var ok bool
		if win, ok = timerWindow(r.Cell); !ok {
			return -1, errCell
		}
	}
	i := m.newCell(win, r.Group, r.Key)
	m.cells[i].part = m.isSlice(win)
	if r.Kind != statestore.TimerRow {
		return i, m.decode(i, it.Value())
	}
	err := m.load(i, st)
	if err == nil && !m.cells[i].stored {
		return -1, nil
	}
	return i, err
}

// pass does what the watermark's move to w means for cell i.
func (m *Machine) pass(i int32, w event.Time, closing bool, out *Output) error {
	c := &m.cells[i]
	if m.steps {
		if err := m.passSteps(i, w, out); err != nil {
			return err
		}
	}
	if w >= m.due(c.win) && !c.passed && (m.watches || m.steps) {
		c.passed, c.dirty = true, true
		cause, fired := m.trig.Ask(m.state(i), triggers.Look{Now: m.now, Passed: true})
		if fired || m.steps {
			f := firing{timing: event.OnTime, last: closing, cause: cause, mark: m.cursor.mark}
			if err := m.send(c, f, out); err != nil {
				return err
			}
		}
	}
	if closing && c.unsent {
		return m.send(c, firing{timing: m.timing(c, w), last: true, mark: m.cursor.mark}, out)
	}
	return nil
}
