package gbkw

import (
	"errors"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/triggers"
)

// Clock moves processing time to now: what is due on the way fires in order of time, then of key group, key and window.
// budget is as for Watermark.
func (m *Machine) Clock(now event.Time, st statestore.View, out *Output, budget int) (done bool, err error) {
	mark := m.OutputWatermark(m.w)
	for e := m.ticks.first(); e != nil && e.at <= now; e = m.ticks.first() {
		m.now = max(m.now, e.at)
		for g := e.next(0); g < statestore.KeyGroups; g = e.next(g + 1) {
			if done, err := m.tick(e.at, byte(g), mark, st, out, &budget); !done {
				return false, err
			}
		}
		m.ticks.remove(e.at, e.start)
	}
	m.now = max(m.now, now)
	return true, m.saveOwn(st)
}

// tick looks at the cells of a group that wait for at.
func (m *Machine) tick(at event.Time, g byte, mark event.Time, st statestore.View, out *Output, budget *int) (done bool, err error) {
	m.scratch.lo = m.space.TimerTime(m.scratch.lo[:0], g, onClock, at)
	lo, hi := m.span(m.scratch.lo, nil)
	it, err := st.Scan(lo, hi)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for it.Next() {
		if *budget <= 0 {
			return false, nil
		}
		*budget--
		if err := m.tickRow(it, at, mark, st, out); err != nil {
			return false, err
		}
	}
	return true, it.Err()
}

func (m *Machine) tickRow(it statestore.Iterator, at, mark event.Time, st statestore.View, out *Output) error {
	i, err := m.open(it, st)
	if err != nil {
		return err
	}
	if err := st.Delete(it.Key()); err != nil || i < 0 {
		return err
	}
	c := &m.cells[i]
	c.armed, c.dirty = event.MaxTime, true
	passed := m.w >= m.due(c.win)
	cause, fired := m.trig.Ask(m.state(i), triggers.Look{Now: at, Passed: passed})
	if fired && c.unsent {
		f := firing{timing: m.timing(c, m.w), cause: cause, mark: mark}
		if err := m.send(c, f, out); err != nil {
			return err
		}
	}
	return m.save(i, at, st)
}
