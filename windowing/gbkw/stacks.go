package gbkw

import (
	"encoding/binary"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
)

// A window that slides is a queue of slices: new ones come in behind, old ones leave in front. Merging cannot be undone, so
// the queue is kept as two stacks for each key (Tangwongsan, Hirzel and Schneider, "Low-latency sliding-window aggregation
// in worst-case constant time", DEBS 2017, section 2): the back is everything that came in since the stacks were turned,
// merged; the front has, for each slice that was there then, what lies in it and in those after it. A pane is the front
// from its first slice on and the back: two merges, however many slices there are. When the front is through, the stacks
// are turned: the front is made anew from the slices, which costs one merge for each. The newest quarter of the slices stays
// in the back, for what comes behind the watermark mostly comes into those, and the back takes it with one merge; what
// comes into a slice of the front lets the stacks be turned for the next pane.
//
// A key's stacks are two rows, there while a window to come holds something of the key that has been in a pane already:
//
//	back:   start of the first slice, of the last i64 | part
//	front:  (length uvarint | start of the slice i64 | part)..., the longest first
//
// A back row of one byte says that something has come into a slice of the front.
var (
	backCell  = []byte{1}
	frontCell = []byte{2}
	stale     = []byte{0}
)

func (m *Machine) stackKey(group byte, key, cell []byte) []byte {
	m.scratch.key = m.space.Plain(m.scratch.key[:0], group, key, cell)
	return m.scratch.key
}

// stack is a key's stacks while its pane is made.
type stack struct {
	stored      bool // there is a row of the back
	fresh       bool // the row has to be written
	stale       bool
	filled      bool // the back holds something
	first, last event.Time
	part        part
	slot        int32
	front       []byte // nil: there is no row
}

func (m *Machine) decodeBack(s *stack, val []byte) (err error) {
	s.stored = true
	if len(val) == 1 {
		s.stale = true
		return nil
	}
	if len(val) < 16 {
		return errCell
	}
	s.filled = true
	s.first, s.last = event.Time(binary.LittleEndian.Uint64(val)), event.Time(binary.LittleEndian.Uint64(val[8:]))
	s.part, err = m.takePart(val[16:], s.slot, true)
	return err
}

// push adds a slice behind.
func (m *Machine) push(s *stack, start event.Time, val []byte) error {
	p, err := m.takePart(val, s.slot, !s.filled)
	if !s.filled {
		s.filled, s.first, s.part = true, start, part{mark: event.MaxTime}
	}
	s.last, s.fresh = start, true
	s.part.join(p)
	return err
}

// pushBehind adds p, which is in the slot of c and has come into a slice that has been in a pane, to the key's stacks.
func (m *Machine) pushBehind(c *cell, p part, st statestore.View) error {
	s := stack{slot: m.newSlot()}
	m.stacked.add(c.group)
	val, ok, err := st.Get(m.stackKey(c.group, c.key, backCell))
	if err == nil && ok {
		err = m.decodeBack(&s, val)
	}
	if err != nil || s.stale {
		return err
	}
	start := c.win.Start
	if !s.filled || start < s.first {
		if s.front, _, err = st.Get(m.stackKey(c.group, c.key, frontCell)); err != nil {
			return err
		}
		_, last, err := s.look(event.MaxTime)
		if err != nil {
			return err
		}
		if start <= last {
			return st.Put(m.stackKey(c.group, c.key, backCell), stale)
		}
	}
	for f := range m.funcs {
		m.mergeAcc(f, s.slot, m.accs[f][c.slot], !s.filled)
	}
	if !s.filled {
		s.first, s.last, s.part = start, start, part{mark: event.MaxTime}
	}
	s.first, s.last = min(s.first, start), max(s.last, start)
	s.part.join(p)
	return m.putBack(c, &s, st)
}

func (m *Machine) putBack(c *cell, s *stack, st statestore.View) error {
	b := appendTime(appendTime(m.scratch.cell[:0], s.first), s.last)
	m.scratch.cell = m.appendPart(b, s.part, s.slot)
	return st.Put(m.stackKey(c.group, c.key, backCell), m.scratch.cell)
}

// look returns the part of the front that holds all from start on, nil if there is none, and the start of the front's last
// slice.
func (s *stack) look(start event.Time) (found []byte, last event.Time, err error) {
	last = event.MinTime
	d := decoder{b: s.front}
	for len(d.b) > 0 {
		b := d.take(d.uvarint())
		if d.bad || len(b) < 8 {
			return nil, last, errCell
		}
		last = event.Time(binary.LittleEndian.Uint64(b))
		if found == nil && last >= start {
			found = b[8:]
		}
	}
	return found, last, nil
}

// pane puts what key holds in the window of cell i into that cell and moves the stacks of the key on. It reports whether
// they hold something for windows to come.
func (m *Machine) pane(i int32, s *stack, st statestore.View) (left bool, err error) {
	win := m.cells[i].win
	front, last, err := s.look(win.Start)
	if err != nil {
		return false, err
	}
	if s.stale || front == nil && s.filled && s.first < win.Start {
		return m.turn(i, s, st)
	}
	c := &m.cells[i]
	if front != nil {
		p, err := m.takePart(front, c.slot, c.empty)
		if err != nil {
			return false, err
		}
		c.fill(p)
	}
	if s.filled {
		m.fillFrom(c, s.slot, s.part)
	}
	next := win.Start.Add(m.cfg.Window.Period)
	if s.front != nil && last < next {
		if err := st.Delete(m.stackKey(c.group, c.key, frontCell)); err != nil {
			return false, err
		}
	}
	if !s.filled || s.last < next {
		left = last >= next
		if !s.stored {
			return left, nil
		}
		return left, st.Delete(m.stackKey(c.group, c.key, backCell))
	}
	if !s.fresh {
		return true, nil
	}
	return true, m.putBack(c, s, st)
}

// turn is pane from the slices themselves: the newest quarter of them becomes the back, the others the front.
func (m *Machine) turn(i int32, s *stack, st statestore.View) (left bool, err error) {
	c := &m.cells[i]
	parts, err := m.collect(c, c.win, st)
	if err != nil {
		return false, err
	}
	older := len(parts) - max(1, len(parts)/4)
	m.suffixes(parts[max(0, older):])
	if older > 0 {
		m.suffixes(parts[:older])
	}
	next := c.win.Start.Add(m.cfg.Window.Period)
	front := m.scratch.cell[:0]
	for k, p := range parts {
		if k >= older || p.start < next {
			continue
		}
		m.scratch.row = m.appendPart(appendTime(m.scratch.row[:0], p.start), p.part, p.slot)
		front = append(binary.AppendUvarint(front, uint64(len(m.scratch.row))), m.scratch.row...)
	}
	m.scratch.cell = front
	if err := m.putFront(c, s, front, st); err != nil {
		return false, err
	}
	if n := len(parts); n > 0 && parts[n-1].start >= next {
		back := parts[older]
		t := stack{first: back.start, last: parts[n-1].start, part: back.part, slot: back.slot}
		left, err = true, m.putBack(c, &t, st)
	} else if s.stored {
		err = st.Delete(m.stackKey(c.group, c.key, backCell))
	}
	if len(parts) == 0 || err != nil {
		return left, err
	}
	c.slot = parts[0].slot
	c.fill(parts[0].part)
	if older > 0 {
		m.fillFrom(c, parts[older].slot, parts[older].part)
	}
	return left, nil
}

// suffixes adds to each slice those after it.
func (m *Machine) suffixes(parts []sharedSlice) {
	for k := len(parts) - 2; k >= 0; k-- {
		p, after := &parts[k], &parts[k+1]
		p.part.join(after.part)
		for f := range m.funcs {
			m.mergeAcc(f, p.slot, m.accs[f][after.slot], false)
		}
	}
}

func (m *Machine) putFront(c *cell, s *stack, front []byte, st statestore.View) error {
	switch {
	case len(front) > 0:
		return st.Put(m.stackKey(c.group, c.key, frontCell), front)
	case s.front != nil:
		return st.Delete(m.stackKey(c.group, c.key, frontCell))
	}
	return nil
}

// sharedSlice is a slice of one key, in a slot of its own.
type sharedSlice struct {
	start, end event.Time
	part       part
	slot       int32
}

// collect reads what the key of c has in the slices that lie in w.
func (m *Machine) collect(c *cell, w event.Window, st statestore.View) ([]sharedSlice, error) {
	parts := m.scratch.parts[:0]
	slot := m.newSlot()
	for e := m.slices.after(w.Start); e != nil && e.at <= w.End; e = m.slices.following(e.at, e.start) {
		p, ok, err := m.getPart(e, c, slot, st)
		if err != nil {
			return nil, err
		}
		if ok {
			parts = append(parts, sharedSlice{e.start, e.at, p, slot})
			slot = m.newSlot()
		}
	}
	m.scratch.parts = parts
	return parts, nil
}
