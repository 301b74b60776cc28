package gbkw

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/wgate/wgate/event"
)

// cell is a key's window while a call works on it.
//
// In the state a cell is one row; its value is
//
//	flags u8 | [end, alarm i64] | panes sent uvarint | [rows varint] | trigger state | [mark i64] | [first, last i64] |
//	[deadline i64] | accumulators | [steps sent uvarint | number uvarint | (step uvarint, accumulators)...] | [sent rows]
//
// An accumulator is a length (uvarint) and its bytes; the accumulators of a cell that has nothing in them are left out.
// end and alarm are there for sessions alone: see place and settle. rows is there where rows may be taken back. mark is
// there for sessions alone: whether the unsent came before the end was passed depends on the end, and that moves.
type cell struct {
	win    event.Window
	was    event.Window // under which it lies in the state: of a session, place(win) when it was written
	key    []byte
	group  byte
	stored bool // it is in the state
	part   bool // it is a slice: slices.go
	behind bool // a slice that has been in a pane: what comes now is in slot, what was there in under
	dirty  bool
	dead   bool // sessions: swallowed
	empty  bool // nothing in the accumulators

	unsent bool
	passed bool       // the trigger knows that the end is passed
	mark   event.Time // least watermark before an unsent element; MaxTime if all is sent
	timed  bool       // first and last are set
	first  event.Time // event time of the first element that was not behind the watermark
	last   event.Time
	index  uint32
	rows   int64      // that have come and were not taken back
	sent   []byte     // rows that were sent and not taken back: sent.go
	alarm  event.Time // sessions: when the watermark's timer is set for
	armed  event.Time // clock deadline in the state; MaxTime if there is none
	held   bool       // counted in its entry's held
	low    event.Time // sessions: earliest row that it has to take back, as it stands in the machine's owes; MaxTime: none

	slot   int32 // its accumulators
	steps  uint32
	slices []slice // cumulative: what lies in steps to come
	under  int32   // behind: the accumulators of what was there
	old    part    // behind: what is known of it
	heir   int32   // sessions: the cell that swallowed it
	next   int32   // sessions: the next cell of the same key, -1 if none
}

// slice is the part of a cumulative window that lies in one step.
type slice struct {
	step uint32
	slot int32
}

// Flags of an encoded cell.
const (
	flagUnsent = 1 << iota
	flagInTime // something unsent came before the end was passed
	flagPassed
	flagTimed
	flagArmed
	flagSent
	flagEmpty
)

// errCell is returned for a row that is not a cell of this machine.
var errCell = errors.New("gbkw: the state of a window is damaged, or it was written with another compute or trigger")

// reset makes c an empty cell and keeps its memory.
func (c *cell) reset() {
	*c = cell{mark: event.MaxTime, armed: event.MaxTime, low: event.MaxTime, empty: true, heir: -1, next: -1, sent: c.sent[:0], slices: c.slices[:0]}
}

// count counts a row that came, or that was taken back.
func (c *cell) count(op event.Op) {
	if op == event.Retract {
		c.rows--
		return
	}
	c.rows++
}

// newCell appends an empty cell with accumulators over nothing and returns its number.
func (m *Machine) newCell(win event.Window, group byte, key []byte) int32 {
	i := len(m.cells)
	if i < cap(m.cells) {
		m.cells = m.cells[:i+1]
	} else {
		m.cells = append(m.cells, cell{})
	}
	c := &m.cells[i]
	c.reset()
	c.win, c.was, c.group, c.key = win, win, group, key
	n := m.trig.Size()
	m.trigs = slices.Grow(m.trigs, n)[:len(m.trigs)+n]
	clear(m.trigs[len(m.trigs)-n:])
	c.slot = m.newSlot()
	return int32(i)
}

// state returns the trigger state of cell i.
func (m *Machine) state(i int32) []byte {
	n := m.trig.Size()
	return m.trigs[int(i)*n : int(i+1)*n]
}

// newSlot returns the number of a new set of accumulators over nothing.
func (m *Machine) newSlot() int32 {
	i := m.slots
	m.slots++
	for f := range m.accs {
		if i < cap(m.accs[f]) {
			m.accs[f] = m.accs[f][:i+1]
		} else {
			m.accs[f] = append(m.accs[f], nil)
		}
	}
	m.clearSlot(int32(i))
	return int32(i)
}

func (m *Machine) clearSlot(slot int32) {
	for f, fn := range m.funcs {
		m.accs[f][slot] = fn.Init(m.accs[f][slot][:0])
	}
}

// clearCells forgets the cells of a call and keeps their memory.
func (m *Machine) clearCells() {
	m.cells, m.trigs, m.slots = m.cells[:0], m.trigs[:0], 0
	for f := range m.accs {
		m.accs[f] = m.accs[f][:0]
	}
}

// encode appends the value of cell i to dst.
func (m *Machine) encode(dst []byte, i int32) []byte {
	c := &m.cells[i]
	dst = append(dst, c.flags(m.due(c.win)))
	if m.merging {
		dst = appendTime(appendTime(dst, c.win.End), c.alarm)
	}
	dst = binary.AppendUvarint(dst, uint64(c.index))
	if m.cfg.Retracted {
		dst = binary.AppendVarint(dst, c.rows)
	}
	dst = append(dst, m.state(i)...)
	if m.merging && c.unsent {
		dst = appendTime(dst, c.mark)
	}
	if c.timed {
		dst = appendTime(appendTime(dst, c.first), c.last)
	}
	if c.armed != event.MaxTime {
		dst = appendTime(dst, c.armed)
	}
	if !c.empty {
		dst = m.encodeSlot(dst, c.slot)
	}
	if m.steps {
		dst = binary.AppendUvarint(dst, uint64(c.steps))
		dst = binary.AppendUvarint(dst, uint64(len(c.slices)))
		for _, s := range c.slices {
			dst = binary.AppendUvarint(dst, uint64(s.step))
			dst = m.encodeSlot(dst, s.slot)
		}
	}
	return append(dst, c.sent...)
}

func (c *cell) flags(due event.Time) byte {
	var f byte
	set := func(on bool, bit byte) {
		if on {
			f |= bit
		}
	}
	set(c.unsent, flagUnsent)
	set(c.mark < due, flagInTime)
	set(c.passed, flagPassed)
	set(c.timed, flagTimed)
	set(c.armed != event.MaxTime, flagArmed)
	set(len(c.sent) > 0, flagSent)
	set(c.empty, flagEmpty)
	return f
}

func (m *Machine) encodeSlot(dst []byte, slot int32) []byte {
	for f := range m.accs {
		acc := m.accs[f][slot]
		dst = binary.AppendUvarint(dst, uint64(len(acc)))
		dst = append(dst, acc...)
	}
	return dst
}

func appendTime(dst []byte, t event.Time) []byte {
	return binary.LittleEndian.AppendUint64(dst, uint64(t))
}

// decoder reads an encoded cell. After the first thing that is not there bad is set and all else is zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) uvarint() uint64 {
	u, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return u
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1) // as binary.Varint has it
}

func (d *decoder) time() event.Time {
	if p := d.take(8); p != nil {
		return event.Time(binary.LittleEndian.Uint64(p))
	}
	return 0
}

func (d *decoder) byte() byte {
	if p := d.take(1); p != nil {
		return p[0]
	}
	return 0
}

// decode fills cell i, whose window, key and group are set, from its value.
func (m *Machine) decode(i int32, val []byte) error {
	c := &m.cells[i]
	c.stored = true
	if c.part {
		return m.decodeSlice(i, val)
	}
	d := decoder{b: val}
	f := d.byte()
	if m.merging {
		c.win.End, c.alarm = d.time(), d.time()
	}
	c.unsent, c.passed, c.timed, c.empty = f&flagUnsent != 0, f&flagPassed != 0, f&flagTimed != 0, f&flagEmpty != 0
	c.index = uint32(d.uvarint())
	if m.cfg.Retracted {
		c.rows = d.varint()
	}
	copy(m.state(i), d.take(uint64(m.trig.Size())))
	switch {
	case m.merging && c.unsent:
		c.mark = d.time()
	case f&flagInTime != 0:
		c.mark = event.MinTime
	case c.unsent:
		c.mark = m.due(c.win)
	}
	if c.timed {
		c.first, c.last = d.time(), d.time()
	}
	if f&flagArmed != 0 {
		c.armed = d.time()
	}
	if !c.empty {
		m.decodeSlot(&d, c.slot)
	}
	if m.steps {
		c.steps = uint32(d.uvarint())
		for n := d.uvarint(); n > 0 && !d.bad; n-- {
			s := slice{uint32(d.uvarint()), m.newSlot()}
			m.decodeSlot(&d, s.slot)
			c.slices = append(c.slices, s)
		}
	}
	c.sent = append(c.sent, d.b...)
	c.held = m.isHeld(c)
	c.low = m.lowOf(c)
	if d.bad || f&flagSent == 0 && len(c.sent) > 0 {
		return errCell
	}
	return nil
}

func (m *Machine) decodeSlot(d *decoder, slot int32) {
	for f := range m.accs {
		if p := d.take(d.uvarint()); !d.bad {
			m.accs[f][slot] = append(m.accs[f][slot][:0], p...)
		}
	}
}
