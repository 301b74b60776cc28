package gbkw

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
)

// What a cell has sent and not taken back is kept in it where it is needed again: to take it back, and to see whether a
// pane is equal to the last. Each row is
//
//	length uvarint | end, start i64 | index uvarint | timing, first, last u8 | cause uvarint | time i64 |
//	(length uvarint, value) for each function
const (
	bitFirst = 4
	bitLast  = 8
)

// sentRow is a row as it was sent. Values is still encoded.
type sentRow struct {
	win    event.Window
	pane   event.Pane
	time   event.Time
	values []byte
}

// appendSent appends a row; results are in h.
func (m *Machine) appendSent(dst []byte, win event.Window, p event.Pane, t event.Time, results []event.Value, h *event.Heap) []byte {
	b := appendTime(appendTime(m.scratch.row[:0], win.End), win.Start)
	b = binary.AppendUvarint(b, uint64(p.Index))
	bits := byte(p.Timing)
	if p.First {
		bits |= bitFirst
	}
	if p.Last {
		bits |= bitLast
	}
	b = binary.AppendUvarint(append(b, bits), uint64(p.Cause))
	b = appendTime(b, t)
	b = m.appendValues(b, results, h)
	m.scratch.row = b
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func (m *Machine) appendValues(b []byte, results []event.Value, h *event.Heap) []byte {
	for _, v := range results {
		m.scratch.val = combine.AppendValue(m.scratch.val[:0], h, v)
		b = append(binary.AppendUvarint(b, uint64(len(m.scratch.val))), m.scratch.val...)
	}
	return b
}

// nextSent reads the row at the head of b.
func nextSent(b []byte) (r sentRow, rest []byte, err error) {
	d := decoder{b: b}
	row := d.take(d.uvarint())
	rest = d.b
	d.b = row
	r.win.End, r.win.Start = d.time(), d.time()
	r.pane.Index = uint32(d.uvarint())
	bits := d.byte()
	r.pane.Timing, r.pane.First, r.pane.Last = event.Timing(bits&3), bits&bitFirst != 0, bits&bitLast != 0
	r.pane.Cause = uint16(d.uvarint())
	r.time = d.time()
	r.values = d.b
	if d.bad || r.pane.Timing > event.Late {
		return r, nil, errCell
	}
	return r, rest, nil
}

// sameAsSent reports whether results are equal to the last row that c sent.
func (m *Machine) sameAsSent(c *cell, results []event.Value, h *event.Heap) (bool, error) {
	b := c.sent
	var r sentRow
	for len(b) > 0 {
		var err error
		if r, b, err = nextSent(b); err != nil {
			return false, err
		}
	}
	m.scratch.row = m.appendValues(m.scratch.row[:0], results, h)
	return bytes.Equal(r.values, m.scratch.row), nil
}

// retract takes back all that c has sent and not taken back, in order.
func (m *Machine) retract(c *cell, mark event.Time, out *Output) error {
	b := c.sent
	for len(b) > 0 {
		r, rest, err := nextSent(b)
		if err != nil {
			return err
		}
		b = rest
		d := decoder{b: r.values}
		m.old = m.old[:0]
		for range m.funcs {
			v, ok := combine.ReadValue(d.take(d.uvarint()), out.Panes.Heap)
			if !ok {
				return errCell
			}
			m.old = append(m.old, v)
		}
		m.emit(c, r, event.Retract, m.old, mark, out)
	}
	c.sent = c.sent[:0]
	return nil
}

// mergeSent appends to dst the sent rows of a and b by end, then start.
func mergeSent(dst, a, b []byte) ([]byte, error) {
	type span struct {
		win event.Window
		row []byte
	}
	var rows []span
	for _, part := range [2][]byte{a, b} {
		for len(part) > 0 {
			r, rest, err := nextSent(part)
			if err != nil {
				return nil, err
			}
			rows = append(rows, span{r.win, part[:len(part)-len(rest)]})
			part = rest
		}
	}
	slices.SortStableFunc(rows, func(x, y span) int {
		switch {
		case x.win.Less(y.win):
			return -1
		case y.win.Less(x.win):
			return 1
		}
		return 0
	})
	for _, r := range rows {
		dst = append(dst, r.row...)
	}
	return dst, nil
}
