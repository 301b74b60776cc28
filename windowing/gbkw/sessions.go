package gbkw

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
)

// sessionElements is Elements for windows that merge. Merging comes first, lateness after: a row is late only if the
// session that it makes, after merging with those that live, is closed.
func (m *Machine) sessionElements(in *Rows, bad []bool, st statestore.View, out *Output) error {
	keys := m.assignKeys(in, bad)
	if err := m.loadSessions(keys, st); err != nil {
		return err
	}
	b, p := in.B, &m.pairs
	for row, t := range b.Times {
		if bad != nil && bad[row] {
			continue
		}
		mark := b.Marks[row]
		m.scratch.wins = m.cfg.Window.Assign(t, m.scratch.wins[:0])
		own := m.scratch.wins[0]
		i, err := m.join(m.scratch.keyOf[row], own, mark)
		if err != nil {
			return err
		}
		if i < 0 {
			out.Late = append(out.Late, Late{Row: int32(row), Window: own})
			continue
		}
		m.touch(&m.cells[i], t, mark)
		p.add(i, row)
		p.wait(len(p.rows)-1, m.cells[i].slot)
		m.hold(i)
		if err := m.ask(i, mark, in, out); err != nil {
			return err
		}
		m.hold(i)
	}
	m.foldRest(in)
	return m.saveSessions(keys, st)
}

func (m *Machine) saveSessions(keys int, st statestore.View) error {
	for i := keys; i < len(m.cells); i++ { // what was swallowed first: a new window may have the bounds of an old one
		if c := &m.cells[i]; c.dead {
			if err := m.unstore(c, st); err != nil {
				return err
			}
		}
	}
	for i := keys; i < len(m.cells); i++ {
		if m.cells[i].dead {
			continue
		}
		if err := m.save(int32(i), m.now, st); err != nil {
			return err
		}
	}
	return nil
}

// assignKeys makes the first cells stand for the keys of the rows: first is the earliest row of the key, next will be its
// first session. It returns how many there are.
func (m *Machine) assignKeys(in *Rows, bad []bool) int {
	keyOf := m.scratch.keyOf[:0]
	for i, t := range in.B.Times {
		if bad != nil && bad[i] {
			keyOf = append(keyOf, -1)
			continue
		}
		key := in.B.Heap.Get(in.KeyBytes[i])
		h := xxhash.Sum64(key)
		k := m.table.find(h, key, event.Global, m.cells)
		if k < 0 {
			k = m.newCell(event.Global, byte(h%statestore.KeyGroups), key)
			m.cells[k].first = t
		}
		m.cells[k].first = min(m.cells[k].first, t)
		keyOf = append(keyOf, k)
	}
	m.scratch.keyOf = keyOf
	return len(m.cells)
}

// loadSessions reads the sessions that the rows of the first keys cells can reach, in one scan that jumps from key to key.
func (m *Machine) loadSessions(keys int, st statestore.View) (err error) {
	if keys == 0 {
		return nil
	}
	order := m.scratch.joined[:0]
	for k := range keys {
		order = append(order, int32(k))
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &m.cells[i], &m.cells[j]
		return cmp.Or(cmp.Compare(a.group, b.group), bytes.Compare(a.key, b.key))
	})
	m.scratch.joined = order
	m.reach(order[0])
	m.scratch.val = append(m.space.Prefix(m.scratch.val[:0]), byte(statestore.SessionRow)+1)
	it, err := st.Scan(m.scratch.lo, m.scratch.val)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	more := it.Next()
	for _, k := range order {
		m.reach(k)
		if more = more && seek(it, m.scratch.lo); !more {
			break
		}
		if more, err = m.loadKey(k, it); err != nil {
			return err
		}
	}
	return it.Err()
}

// reach puts into scratch.lo where the sessions begin that the rows of key k can reach, and into scratch.hi the prefix of
// all of the key's sessions.
func (m *Machine) reach(k int32) {
	c := &m.cells[k]
	from := c.first
	if m.cfg.Window.Inclusive {
		from = from.Add(-m.cfg.Window.Gap)
	}
	m.scratch.lo = m.space.SessionEnd(m.scratch.lo[:0], c.group, 0, c.key, from)
	m.scratch.hi = m.space.SessionKey(m.scratch.hi[:0], c.group, 0, c.key)
}

// seek moves it, which stands on a row, to the first row at or after key.
func seek(it statestore.Iterator, key []byte) bool {
	if bytes.Compare(it.Key(), key) >= 0 {
		return true
	}
	if s, ok := it.(statestore.Seeker); ok {
		return s.SeekGE(key)
	}
	for it.Next() {
		if bytes.Compare(it.Key(), key) >= 0 {
			return true
		}
	}
	return false
}

// loadKey reads the sessions of key k from where it stands on, and reports whether there is a row behind them.
func (m *Machine) loadKey(k int32, it statestore.Iterator) (more bool, err error) {
	r := &m.scratch.parsed
	for more = true; more && bytes.HasPrefix(it.Key(), m.scratch.hi); more = it.Next() {
		if err := r.Parse(it.Key()); err != nil {
			return false, err
		}
		i := m.newCell(r.Window, m.cells[k].group, m.cells[k].key)
		if err := m.decode(i, it.Value()); err != nil {
			return false, err
		}
		m.link(k, i)
	}
	return more, nil
}

// reaches reports whether an element whose own window is own belongs to the session w.
func (m *Machine) reaches(w, own event.Window) bool {
	if m.cfg.Window.Inclusive {
		gap := m.cfg.Window.Gap
		return w.Start <= own.End.Add(gap) && own.Start <= w.End.Add(gap)
	}
	return w.Start < own.End && own.Start < w.End
}

// join returns the session of key k that takes an element with window own, after merging; -1 if that session is closed.
func (m *Machine) join(k int32, own event.Window, mark event.Time) (int32, error) {
	joined := m.scratch.joined[:0]
	win := own
	for i := m.cells[k].next; i >= 0; i = m.cells[i].next {
		c := &m.cells[i]
		if !m.reaches(c.win, own) || mark >= m.closes(c.win) {
			continue
		}
		both := event.Window{Start: min(win.Start, c.win.Start), End: max(win.End, c.win.End)}
		if limit := m.cfg.Window.Max; limit > 0 && both.End.Sub(both.Start) > limit {
			continue
		}
		win = both
		joined = append(joined, i)
	}
	m.scratch.joined = joined
	switch {
	case len(joined) == 0:
		if mark >= m.closes(own) {
			return -1, nil
		}
		i := m.newCell(own, m.cells[k].group, m.cells[k].key)
		m.link(k, i)
		return i, nil
	case len(joined) == 1 && m.cells[joined[0]].win == win:
		return joined[0], nil
	}
	return joined[0], m.merge(k, joined, win, mark)
}

// link puts session i in the list of key k, by end, then start.
func (m *Machine) link(k, i int32) {
	at := k
	for n := m.cells[at].next; n >= 0 && m.cells[n].win.Less(m.cells[i].win); n = m.cells[at].next {
		at = n
	}
	m.cells[i].next = m.cells[at].next
	m.cells[at].next = i
}

// unlink takes session i out of the list of key k.
func (m *Machine) unlink(k, i int32) {
	at := k
	for m.cells[at].next != i {
		at = m.cells[at].next
	}
	m.cells[at].next = m.cells[i].next
	m.cells[i].next = -1
}

// merge makes the sessions joined of key k, one or more, the one session win: the first of them takes the others in. It is
// a new window, so its panes count from 0; what was unsent stays so.
func (m *Machine) merge(k int32, joined []int32, win event.Window, mark event.Time) error {
	i := joined[0]
	passed := mark >= m.due(win)
	m.mergeTriggers(joined, passed)
	for _, j := range joined {
		if m.holds {
			m.leave(&m.cells[j])
		}
		m.unlink(k, j)
	}
	c := &m.cells[i]
	for _, j := range joined[1:] {
		o := &m.cells[j]
		o.dead, o.heir = true, i
		c.unsent, c.mark = c.unsent || o.unsent, min(c.mark, o.mark)
		c.empty = c.empty && o.empty
		switch {
		case !o.timed:
		case !c.timed:
			c.timed, c.first, c.last = true, o.first, o.last
		default:
			c.first, c.last = min(c.first, o.first), max(c.last, o.last)
		}
		for f, fn := range m.funcs {
			m.accs[f][c.slot] = fn.Merge(m.accs[f][c.slot], m.accs[f][o.slot])
		}
		m.pairs.inherit(c.slot, o.slot)
		if len(o.sent) > 0 {
			sent, err := mergeSent(m.scratch.sent[:0], c.sent, o.sent)
			if err != nil {
				return err
			}
			m.scratch.sent = sent
			c.sent = append(c.sent[:0], sent...)
		}
	}
	c.win, c.index, c.passed, c.dirty = win, 0, passed, true
	if m.cfg.Mode != Retracting {
		c.sent = c.sent[:0]
	}
	m.link(k, i)
	return nil
}

// leave takes session c out of the entry of its bounds, which are about to change, and the entry away if it has no other.
func (m *Machine) leave(c *cell) {
	e := m.entryOf(c.win)
	m.untrack(c, e)
	if e.rows <= 0 && e.held <= 0 {
		m.windows.remove(e.at, e.start)
	}
}

// mergeTriggers makes the trigger state of the first of joined that of the merged session.
func (m *Machine) mergeTriggers(joined []int32, passed bool) {
	st := m.state(joined[0])
	if m.quiet && !passed { // the merged session begins anew before its end
		clear(st)
		return
	}
	states := m.scratch.states[:0]
	for _, j := range joined {
		states = append(states, m.state(j))
	}
	m.scratch.states = states
	merged := append(m.scratch.merged[:0], st...)
	m.trig.Merge(merged, states, passed)
	m.scratch.merged = merged
	copy(st, merged)
}

// inherit lets slot have what waits for other.
func (p *pairs) inherit(slot, other int32) {
	if int(other) >= len(p.heads) || p.heads[other] < 0 {
		return
	}
	for int(slot) >= len(p.heads) {
		p.heads, p.tails = append(p.heads, -1), append(p.tails, -1)
	}
	if t := p.tails[slot]; t >= 0 {
		p.next[t] = p.heads[other]
	} else {
		p.heads[slot] = p.heads[other]
	}
	p.tails[slot] = p.tails[other]
	p.heads[other], p.tails[other] = -1, -1
}

// heirSlot returns the slot that has what is in slot now, after merging. Every session has the slot of its own number.
func (m *Machine) heirSlot(slot int32) int32 {
	if !m.merging {
		return slot
	}
	for m.cells[slot].heir >= 0 {
		slot = m.cells[slot].heir
	}
	return slot
}

// place returns the bounds under which the session w lies in the state: its start, and its end rounded up to a whole number
// of gaps. So a session that grows, as most do with every bundle, mostly keeps its row; and who looks for the sessions that
// reach to a time finds them all, and one or two more.
func (m *Machine) place(w event.Window) event.Window {
	gap := event.Time(m.cfg.Window.Gap)
	r := w.End % gap
	if r < 0 {
		r += gap
	}
	if r > 0 {
		w.End = w.End.Add(event.Duration(gap - r))
	}
	return w
}

// settle brings the rows that find session c up to date: its row lies in its place, and it has a timer for the watermark.
// The timer of a session that has grown since may stay where it is: the session is looked at then, and the timer set anew.
func (m *Machine) settle(c *cell, st statestore.View) error {
	place, due := m.place(c.win), m.due(c.win)
	if c.stored && c.was == place {
		if c.alarm == due || !m.holds && m.w < c.alarm && c.alarm < due {
			return nil
		}
		if err := m.dropAlarm(c, st); err != nil {
			return err
		}
		return m.setAlarm(c, due, st)
	}
	if err := m.unstore(c, st); err != nil {
		return err
	}
	c.was = place
	return m.setAlarm(c, due, st)
}

// setAlarm gives session c a timer for the watermark.
func (m *Machine) setAlarm(c *cell, at event.Time, st statestore.View) error {
	c.alarm = at
	e := m.windows.get(at, event.MinTime)
	e.rows++
	e.add(c.group)
	return st.Put(m.timerKey(c, c.was, onWatermark, at), nil)
}

// postpone sets the timer of cell i, to which e has come, for the end that the session has by now.
func (m *Machine) postpone(i int32, e *entry, it statestore.Iterator, st statestore.View) error {
	e.rows--
	if err := st.Delete(it.Key()); err != nil {
		return err
	}
	c := &m.cells[i]
	if err := m.setAlarm(c, m.due(c.win), st); err != nil {
		return err
	}
	c.dirty = true
	return m.save(i, m.now, st)
}

// dropAlarm takes the timer away.
func (m *Machine) dropAlarm(c *cell, st statestore.View) error {
	if err := st.Delete(m.timerKey(c, c.was, onWatermark, c.alarm)); err != nil {
		return err
	}
	if e := m.windows.from(c.alarm, event.MinTime); e != nil && e.at == c.alarm {
		if e.rows--; e.rows <= 0 && e.held <= 0 {
			m.windows.remove(e.at, e.start)
		}
	}
	return nil
}

// unstore takes session c out of the state.
func (m *Machine) unstore(c *cell, st statestore.View) error {
	if !c.stored {
		return nil
	}
	c.stored = false
	if err := st.Delete(m.rowKey(c, c.was)); err != nil {
		return err
	}
	if err := m.dropAlarm(c, st); err != nil {
		return err
	}
	return m.arm(c, event.MaxTime, st)
}
