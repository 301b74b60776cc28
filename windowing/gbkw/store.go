package gbkw

import (
	"encoding/binary"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
)

// Domains of timers.
const (
	onWatermark = 0 // sessions: when the watermark makes them complete; they stay until the session closes
	onClock     = 1
	ownDomain   = 2 // not a timer: the one row that holds the aggregate's own watermark
	// not a timer: the one row that says how far windows that share slices have fired
	positionDomain = 3
)

// mainCell is the cell that holds a key's window. There are no others yet.
var mainCell = []byte{0}

// rowKey returns the key of c's row in the state. It is good until the next call.
func (m *Machine) rowKey(c *cell, w event.Window) []byte {
	k := m.scratch.key[:0]
	switch {
	case m.merging:
		k = m.space.Session(k, c.group, 0, c.key, w, mainCell)
	case m.global:
		k = m.space.Plain(k, c.group, c.key, mainCell)
	default:
		k = m.space.Window(k, c.group, w, c.key, mainCell)
	}
	m.scratch.key = k
	return k
}

// timerKey returns the key of a timer of c's window w.
func (m *Machine) timerKey(c *cell, w event.Window, domain byte, at event.Time) []byte {
	k := m.space.Timer(m.scratch.key[:0], c.group, domain, at, c.key, nil)
	k = binary.BigEndian.AppendUint64(k, uint64(w.End)^1<<63)
	k = binary.BigEndian.AppendUint64(k, uint64(w.Start)^1<<63)
	m.scratch.key = k
	return k
}

// timerWindow returns the window of a timer's id.
func timerWindow(id []byte) (w event.Window, ok bool) {
	if len(id) != 16 {
		return w, false
	}
	w.End = event.Time(binary.BigEndian.Uint64(id) ^ 1<<63)
	w.Start = event.Time(binary.BigEndian.Uint64(id[8:]) ^ 1<<63)
	return w, true
}

// load reads cell i from the state, if it is there.
func (m *Machine) load(i int32, st statestore.View) error {
	c := &m.cells[i]
	val, ok, err := st.Get(m.rowKey(c, c.was))
	if err != nil || !ok {
		return err
	}
	return m.decode(i, val)
}

// save writes cell i if it has changed; now is the time from which on its trigger's deadline counts.
func (m *Machine) save(i int32, now event.Time, st statestore.View) error {
	c := &m.cells[i]
	if !c.dirty {
		return nil
	}
	c.dirty = false
	if c.part {
		return m.saveSlice(i, st)
	}
	if m.merging {
		if err := m.settle(c, st); err != nil {
			return err
		}
	}
	if m.timed {
		if err := m.arm(c, m.trig.Deadline(m.state(i), now), st); err != nil {
			return err
		}
	}
	m.scratch.cell = m.encode(m.scratch.cell[:0], i)
	if err := st.Put(m.rowKey(c, c.was), m.scratch.cell); err != nil {
		return err
	}
	c.stored = true
	if m.merging && !m.holds {
		return nil // its timer is its entry
	}
	e := m.entryOf(c.win)
	e.add(c.group)
	m.track(c, e)
	return nil
}

// entryOf returns the entry of the window, which is made if it is not there.
func (m *Machine) entryOf(w event.Window) *entry {
	if m.merging {
		return m.windows.get(m.due(w), event.MinTime)
	}
	return m.windows.get(w.End, w.Start)
}

// arm sets the clock timer of c to at; MaxTime is none.
func (m *Machine) arm(c *cell, at event.Time, st statestore.View) error {
	if at == c.armed {
		return nil
	}
	if c.armed != event.MaxTime {
		if err := st.Delete(m.timerKey(c, c.was, onClock, c.armed)); err != nil {
			return err
		}
		m.dropTick(c.armed)
	}
	c.armed = at
	if at == event.MaxTime {
		return nil
	}
	e := m.ticks.get(at, event.MinTime)
	e.add(c.group)
	e.rows++
	return st.Put(m.timerKey(c, c.was, onClock, at), nil)
}

// dropTick takes one timer out of the entry of at.
func (m *Machine) dropTick(at event.Time) {
	e := m.ticks.from(at, event.MinTime)
	if e == nil || e.at != at {
		return
	}
	if e.rows--; e.rows <= 0 {
		m.ticks.remove(e.at, e.start)
	}
}

// span returns the range of rows that begin with prefix, from a row on if that is given.
func (m *Machine) span(prefix, from []byte) (lo, hi []byte) {
	hi = statestore.PrefixEnd(m.scratch.hi[:0], prefix)
	m.scratch.hi = hi
	if from != nil {
		return from, hi
	}
	return prefix, hi
}

// saveOwn keeps the aggregate's own watermark, where it is not known from the windows that there are: what was not late
// downstream must not become so, nor the reverse, because the machine began anew. At the end of the input it goes.
func (m *Machine) saveOwn(st statestore.View) error {
	if !m.holds {
		return nil
	}
	own := m.OutputWatermark(m.w)
	if own == m.kept {
		return nil
	}
	m.kept = own
	key := m.ownKey()
	if own == event.MaxTime {
		return st.Delete(key)
	}
	m.scratch.cell = appendTime(m.scratch.cell[:0], own)
	return st.Put(key, m.scratch.cell)
}

func (m *Machine) ownKey() []byte {
	m.scratch.key = m.space.Timer(m.scratch.key[:0], 0, ownDomain, 0, nil, nil)
	return m.scratch.key
}

// loadOwn is the reverse of saveOwn.
func (m *Machine) loadOwn(st statestore.View) error {
	val, ok, err := st.Get(m.ownKey())
	if err != nil || !ok {
		return err
	}
	d := decoder{b: val}
	m.out = d.time()
	m.kept = m.out
	if d.bad {
		return errCell
	}
	return nil
}
