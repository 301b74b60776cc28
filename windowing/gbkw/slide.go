package gbkw

import (
	"bytes"
	"errors"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
)

// feed is rows of the state in the order of their keys: the slices of one time, or the stacks.
type feed struct {
	it    statestore.Iterator
	start event.Time // of the slice
	row   statestore.Row
	more  bool
}

func (f *feed) next() error {
	f.more = f.it.Next()
	if !f.more {
		return f.it.Err()
	}
	return f.row.Parse(f.it.Key())
}

// nextSlide returns the next window made from slices that fires when the watermark reaches w.
func (m *Machine) nextSlide(w event.Time) (win event.Window, ok bool) {
	if !m.share {
		return win, false
	}
	win, ok = m.nextShared(m.done)
	if m.fires {
		return win, ok && win.End <= w
	}
	return win, ok && m.closes(win) <= w
}

// slide sends the panes of win, the next window that is made from slices, to which the watermark w has come. It returns
// false if the budget was not enough.
func (m *Machine) slide(win event.Window, w event.Time, st statestore.View, out *Output, budget *int) (bool, error) {
	groups := m.stacked
	for e := m.slices.after(m.done); e != nil && e.at <= win.End; e = m.slices.following(e.at, e.start) {
		groups.union(e.groupSet)
	}
	g := 0
	var from []byte
	if m.halt.end == win.End {
		g, from = m.halt.group, m.halt.key
	}
	for g = groups.next(g); g < statestore.KeyGroups; g = groups.next(g + 1) {
		if done, err := m.slideGroup(win, byte(g), from, w, st, out, budget); !done {
			return false, err
		}
		from = nil
	}
	m.done = win.End
	m.halt.end = event.MinTime
	return true, nil
}

// slideGroup is slide for the keys of one group, from a key on.
func (m *Machine) slideGroup(win event.Window, g byte, from []byte, w event.Time, st statestore.View, out *Output, budget *int) (done bool, err error) {
	defer func() { err = errors.Join(err, m.closeFeeds()) }()
	if err := m.openFeeds(win, g, from, st); err != nil {
		return false, err
	}
	left := from != nil && m.halt.left
	for key := m.leastKey(); key != nil; key = m.leastKey() {
		if *budget <= 0 {
			m.halt.end, m.halt.group, m.halt.key, m.halt.left = win.End, int(g), append(m.halt.key[:0], key...), left
			return false, m.savePosition(st)
		}
		*budget--
		m.clearCells()
		m.scratch.at = append(m.scratch.at[:0], key...)
		i := m.newCell(win, g, m.scratch.at)
		more, err := m.slideKey(i, st)
		if err != nil {
			return false, err
		}
		left = left || more
		if m.cells[i].empty {
			continue
		}
		if err := m.pass(i, w, m.closes(win) <= w, out); err != nil {
			return false, err
		}
	}
	if left {
		m.stacked.add(g)
	} else {
		m.stacked.remove(g)
	}
	return true, nil
}

// slideKey makes cell i the pane of its key, of what the feeds have of it, and moves the feeds on.
func (m *Machine) slideKey(i int32, st statestore.View) (left bool, err error) {
	key := m.cells[i].key
	s := stack{slot: m.newSlot()}
	stacks := &m.feeds[0]
	for stacks.more && bytes.Equal(stacks.row.Key, key) {
		if bytes.Equal(stacks.row.Cell, frontCell) {
			s.front = stacks.it.Value()
			break // it is read before the feed moves on
		}
		if err := m.decodeBack(&s, stacks.it.Value()); err != nil {
			return false, err
		}
		if err := stacks.next(); err != nil {
			return false, err
		}
	}
	for k := 1; k < len(m.feeds); k++ {
		f := &m.feeds[k]
		if !f.more || !bytes.Equal(f.row.Key, key) {
			continue
		}
		if err := m.push(&s, f.start, f.it.Value()); err != nil {
			return false, err
		}
		if err := f.next(); err != nil {
			return false, err
		}
	}
	if left, err = m.pane(i, &s, st); err != nil || s.front == nil {
		return left, err
	}
	return left, stacks.next()
}

// openFeeds starts the feeds of a group: first the stacks, then the slices that have come in since the last window fired.
func (m *Machine) openFeeds(win event.Window, g byte, from []byte, st statestore.View) error {
	m.scratch.lo = m.space.Group(m.scratch.lo[:0], statestore.PlainRow, g)
	prefix, begin := m.scratch.lo, []byte(nil)
	if from != nil {
		begin = m.stackKey(g, from, nil)
	}
	if err := m.openFeed(prefix, begin, 0, st); err != nil {
		return err
	}
	for e := m.slices.after(m.done); e != nil && e.at <= win.End; e = m.slices.following(e.at, e.start) {
		if !e.has(g) {
			continue
		}
		w := event.Window{Start: e.start, End: e.at}
		m.scratch.lo = m.space.WindowAll(m.scratch.lo[:0], g, w)
		if from != nil {
			m.scratch.key = m.space.Window(m.scratch.key[:0], g, w, from, nil)
			begin = m.scratch.key
		}
		if err := m.openFeed(m.scratch.lo, begin, e.start, st); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) openFeed(prefix, begin []byte, start event.Time, st statestore.View) error {
	lo, hi := m.span(prefix, begin)
	it, err := st.Scan(lo, hi)
	if err != nil {
		return err
	}
	n := len(m.feeds)
	if n < cap(m.feeds) {
		m.feeds = m.feeds[:n+1]
	} else {
		m.feeds = append(m.feeds, feed{})
	}
	f := &m.feeds[n]
	f.it, f.start = it, start
	return f.next()
}

func (m *Machine) closeFeeds() error {
	var err error
	for i := range m.feeds {
		err = errors.Join(err, m.feeds[i].it.Close())
		m.feeds[i].it = nil
	}
	m.feeds = m.feeds[:0]
	return err
}

// leastKey returns the first key on which a feed stands, nil if all are through.
func (m *Machine) leastKey() []byte {
	var least []byte
	found := false
	for i := range m.feeds {
		if f := &m.feeds[i]; f.more && (!found || bytes.Compare(f.row.Key, least) < 0) {
			least, found = f.row.Key, true
		}
	}
	if found && least == nil {
		return []byte{}
	}
	return least
}
