package gbkw

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
)

// Windows that share slices (shares.go) have no cell before they fire: their elements lie in slices, one row for each key
// and slice, and the pane of a window is made from them (slide.go). What comes late for a window that has fired and is not
// closed yet needs a cell, with what the window has sent; that cell is made when the first such element comes, from the
// slices, which stay until the last window that covers them closes.

// part is what is known of a slice, or of several that were merged, beside the accumulators. Its bytes are
//
//	[least watermark before an element i64] | [rows varint] | accumulators
//
// The watermark is there if windows fire when they close: it says whether what they hold came in time. The rows are there
// if rows may be taken back.
type part struct {
	mark event.Time
	rows int64 // that have come and were not taken back
}

// join adds what is known of o.
func (p *part) join(o part) {
	p.mark = min(p.mark, o.mark)
	p.rows += o.rows
}

func (m *Machine) appendPart(dst []byte, p part, slot int32) []byte {
	if !m.fires {
		dst = appendTime(dst, p.mark)
	}
	if m.cfg.Retracted {
		dst = binary.AppendVarint(dst, p.rows)
	}
	return m.encodeSlot(dst, slot)
}

// takePart reads a part and merges its accumulators into slot; empty says that there is nothing in slot.
func (m *Machine) takePart(b []byte, slot int32, empty bool) (part, error) {
	d := decoder{b: b}
	p := part{mark: event.MaxTime}
	if !m.fires {
		p.mark = d.time()
	}
	if m.cfg.Retracted {
		p.rows = d.varint()
	}
	for f := range m.funcs {
		if acc := d.take(d.uvarint()); !d.bad {
			m.mergeAcc(f, slot, acc, empty)
		}
	}
	if d.bad || len(d.b) > 0 {
		return p, errCell
	}
	return p, nil
}

// mergeAcc merges acc into the accumulator of function f in slot; empty says that there is nothing in slot.
func (m *Machine) mergeAcc(f int, slot int32, acc []byte, empty bool) {
	if empty {
		m.accs[f][slot] = append(m.accs[f][slot][:0], acc...)
		return
	}
	m.accs[f][slot] = m.funcs[f].Merge(m.accs[f][slot], acc)
}

// fill notes in c that it holds p.
func (c *cell) fill(p part) {
	c.unsent, c.empty = true, false
	c.mark = min(c.mark, p.mark)
	c.rows += p.rows
}

// assignShared is assign for windows that share slices. A row goes to the slice that it lies in, if a window that has not
// fired yet covers it; and to the cell of every window for which it is late but not too late.
func (m *Machine) assignShared(in *Rows, bad []bool, out *Output) (slow bool) {
	b, spec := in.B, m.cfg.Window
	low, high := m.bounds.low.Add(spec.Size), m.bounds.high.Add(-spec.Size)
	for i, t := range b.Times {
		if bad != nil && bad[i] {
			continue
		}
		key := b.Heap.Get(in.KeyBytes[i])
		h := xxhash.Sum64(key)
		mark := b.Marks[i]
		if low <= t && t < high {
			if first := spec.NextEnd(t, t); first > m.done && mark < first.Add(m.cfg.Lateness) {
				m.pairs.add(m.sliceOf(h, key, t), i)
				continue
			}
		}
		m.scratch.wins = spec.Assign(t, m.scratch.wins[:0])
		open := false
		for _, w := range m.scratch.wins {
			shared := m.bounds.holds(w)
			switch {
			case mark >= m.closes(w), shared && !m.fires && w.End <= m.done:
				out.Late = append(out.Late, Late{Row: int32(i), Window: w})
			case shared && w.End > m.done:
				open = true
			default:
				slow = slow || mark >= w.End
				m.pairs.add(m.cellOf(h, key, w), i)
			}
		}
		if open {
			m.pairs.add(m.sliceOf(h, key, t), i)
		}
	}
	return slow
}

// sliceOf returns the cell of a call that stands for key's slice at t.
func (m *Machine) sliceOf(h uint64, key []byte, t event.Time) int32 {
	c := m.cellOf(h, key, m.cfg.Window.Slice(t))
	m.cells[c].part = true
	return c
}

// cellOf returns the cell of a call for key and w.
func (m *Machine) cellOf(h uint64, key []byte, w event.Window) int32 {
	c := m.table.find(mix(h, w), key, w, m.cells)
	if c < 0 {
		c = m.newCell(w, byte(h%statestore.KeyGroups), key)
	}
	return c
}

// decodeSlice fills cell i, which is a slice, from its row.
func (m *Machine) decodeSlice(i int32, val []byte) (err error) {
	c := &m.cells[i]
	if c.win.End > m.done {
		var p part
		p, err = m.takePart(val, c.slot, true)
		c.fill(p)
		return err
	}
	c.behind, c.under = true, m.newSlot()
	c.old, err = m.takePart(val, c.under, true)
	return err
}

// saveSlice writes cell i, which is a slice.
func (m *Machine) saveSlice(i int32, st statestore.View) error {
	c := &m.cells[i]
	e := m.slices.get(c.win.End, c.win.Start)
	e.add(c.group)
	e.low = min(e.low, c.mark)
	p, slot := part{c.mark, c.rows}, c.slot
	if c.win.End <= m.done {
		if err := m.pushBehind(c, p, st); err != nil {
			return err
		}
	}
	if c.behind {
		p.join(c.old)
		slot = c.under
		for f := range m.funcs {
			m.mergeAcc(f, slot, m.accs[f][c.slot], false)
		}
	}
	m.scratch.cell = m.appendPart(m.scratch.cell[:0], p, slot)
	return st.Put(m.rowKey(c, c.win), m.scratch.cell)
}

// getPart reads c's part of slice e into slot, if there is one.
func (m *Machine) getPart(e *entry, c *cell, slot int32, st statestore.View) (p part, ok bool, err error) {
	if !e.has(c.group) {
		return p, false, nil
	}
	val, ok, err := st.Get(m.rowKey(c, event.Window{Start: e.start, End: e.at}))
	if err != nil || !ok {
		return p, false, err
	}
	p, err = m.takePart(val, slot, true)
	return p, true, err
}

// settleSlices ends a step of the watermark to w.
func (m *Machine) settleSlices(w event.Time, st statestore.View) error {
	m.done = max(m.done, m.firedAt(w))
	if err := m.dropSlices(w, st); err != nil {
		return err
	}
	return m.savePosition(st)
}

// dropSlices removes the slices whose last window closes when the watermark reaches w.
func (m *Machine) dropSlices(w event.Time, st statestore.View) error {
	dead := event.MaxTime
	if w != event.MaxTime {
		closed := m.lastShared(w.Add(-m.cfg.Lateness))
		if closed == event.MinTime {
			return nil
		}
		dead = closed.Add(m.cfg.Window.Period - m.cfg.Window.Size)
	}
	for e := m.slices.first(); e != nil && e.at <= dead; e = m.slices.first() {
		for g := e.next(0); g < statestore.KeyGroups; g = e.next(g + 1) {
			m.scratch.lo = m.space.WindowAll(m.scratch.lo[:0], byte(g), event.Window{Start: e.start, End: e.at})
			lo, hi := m.span(m.scratch.lo, nil)
			if err := st.DeleteRange(lo, hi); err != nil {
				return err
			}
		}
		m.slices.remove(e.at, e.start)
	}
	return nil
}

// owedSlices returns the least time of a result that is still owed by windows which fire when they close, MaxTime if none
// is earlier than w.
func (m *Machine) owedSlices(w event.Time) event.Time {
	if m.fires {
		return event.MaxTime
	}
	for win, ok := m.nextShared(m.done); ok && win.End <= w; win, ok = m.nextShared(win.End) {
		for e := m.slices.after(win.Start); e != nil && e.at <= win.End; e = m.slices.following(e.at, e.start) {
			if e.low < win.End {
				return win.Last()
			}
		}
	}
	return event.MaxTime
}

// position is how far windows that share slices have fired, as it stands in the state:
//
//	end of the last one that is done i64 | [end of the one under way i64, key group u8, key that comes next]
type position struct {
	end   event.Time
	group int
	key   []byte
	left  bool // keys before it have stacks, or may have
}

// savePosition writes how far windows have fired. At the end of the input it goes.
func (m *Machine) savePosition(st statestore.View) error {
	key := m.positionKey()
	if m.w == event.MaxTime {
		m.placed = event.MinTime
		return st.Delete(key)
	}
	if m.done == m.placed && m.halt.end == event.MinTime {
		return nil
	}
	m.placed = m.done
	val := appendTime(m.scratch.cell[:0], m.done)
	if m.halt.end != event.MinTime {
		m.placed = event.MinTime
		val = append(append(appendTime(val, m.halt.end), byte(m.halt.group)), m.halt.key...)
	}
	m.scratch.cell = val
	return st.Put(key, val)
}

func (m *Machine) positionKey() []byte {
	m.scratch.key = m.space.Timer(m.scratch.key[:0], 0, positionDomain, 0, nil, nil)
	return m.scratch.key
}

// loadPosition is the reverse of savePosition.
func (m *Machine) loadPosition(st statestore.View) error {
	val, ok, err := st.Get(m.positionKey())
	if err != nil || !ok {
		return err
	}
	if len(val) != 8 && len(val) < 17 {
		return errCell
	}
	m.done = event.Time(binary.LittleEndian.Uint64(val))
	m.placed = m.done
	if len(val) > 8 {
		m.placed = event.MinTime
		m.halt.end, m.halt.group = event.Time(binary.LittleEndian.Uint64(val[8:])), int(val[16])
		m.halt.key, m.halt.left = append(m.halt.key[:0], val[17:]...), true
	}
	return nil
}
