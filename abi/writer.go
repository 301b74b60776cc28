package abi

import (
	"encoding/binary"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

var le = binary.LittleEndian

// Call is what an input frame says beside its rows.
type Call struct {
	Fn, Op uint32
	Epoch  uint64     // number of the running epoch
	Bundle uint64     // number of the call
	Now    event.Time // processing time
}

// Writer writes input frames from bundles. A Writer reuses its memory and is used by one goroutine at a time; the zero
// Writer is ready. Prepare is called first and says how long the frame will be, then Write fills the guest's arena.
type Writer struct {
	b      *event.Bundle
	keys   []span   // the distinct neighbours
	keyOf  []uint32 // by row
	wins   []event.Window
	winOf  []uint32
	vals   []span // by row
	heads  []headSpan
	headOf []uint32 // first header by row
	extra  []byte   // JSON text of values that are in no heap

	lo, hi uint64 // the part of the heap that is copied at one go
	need   uint64 // bytes that the spans need
	gather bool   // the spans are copied one by one

	table  [MaxSections]entry
	nTable int
	total  int
}

// span is one value on its way into a frame.
type span struct {
	off, length uint32
	form        uint8
	extra       bool // off counts in Writer.extra
}

type headSpan struct{ name, value span }

type entry struct {
	kind, flags           uint16
	offset, length, count uint32
}

// gatherSlack is how many bytes that nobody asked for may be copied with the heap before the values are copied one by one.
const gatherSlack = 4096

// Prepare looks at the rows of b and returns the length in bytes of their frame. b and its heap must not change until
// Write is done.
func (w *Writer) Prepare(b *event.Bundle) int {
	w.b = b
	w.keys, w.keyOf = w.keys[:0], w.keyOf[:0]
	w.wins, w.winOf = w.wins[:0], w.winOf[:0]
	w.vals, w.heads, w.headOf, w.extra = w.vals[:0], w.heads[:0], w.headOf[:0], w.extra[:0]
	w.lo, w.hi, w.need = ^uint64(0), 0, 0
	w.prepareKeys()
	for _, v := range b.Values {
		w.vals = append(w.vals, w.span(v))
	}
	for i, win := range b.Windows {
		if i == 0 || win != b.Windows[i-1] {
			w.wins = append(w.wins, win)
		}
		w.winOf = append(w.winOf, uint32(len(w.wins)-1))
	}
	if len(b.Heads) > 0 {
		for i := range b.Values {
			w.headOf = append(w.headOf, uint32(len(w.heads)))
			for _, h := range b.RowHeaders(i) {
				w.heads = append(w.heads, headSpan{w.ref(h.Key, FormText), w.ref(h.Value, FormBytes)})
			}
		}
	}
	if w.lo > w.hi {
		w.lo = w.hi
	}
	w.gather = w.hi-w.lo > w.need+w.need/2+gatherSlack
	w.layout()
	return w.total
}

// prepareKeys gives neighbours with the same key one row of KEYS. Texts count as the same only if they are the same span.
func (w *Writer) prepareKeys() {
	for i, k := range w.b.Keys {
		if i == 0 || k != w.b.Keys[i-1] {
			w.keys = append(w.keys, w.span(k))
		}
		w.keyOf = append(w.keyOf, uint32(len(w.keys)-1))
	}
}

// span finds the bytes of v.
func (w *Writer) span(v event.Value) span {
	switch v.Kind {
	case event.Missing, event.Error:
		return span{off: None, form: FormMissing}
	case event.Null:
		return span{off: None, form: FormNull}
	case event.JSON, event.List, event.Object:
		return w.ref(v.Ref(), FormJSON)
	case event.String:
		return w.ref(v.Ref(), FormText)
	case event.Bytes:
		return w.ref(v.Ref(), FormBytes)
	}
	at := len(w.extra)
	w.extra = jsontext.Append(w.extra, w.b.Heap, v)
	return span{uint32(at), uint32(len(w.extra) - at), FormJSON, true}
}

func (w *Writer) ref(r event.Ref, form uint8) span {
	if r.IsNull() {
		return span{off: None, form: FormNull}
	}
	if r.Len > 0 {
		w.lo, w.hi = min(w.lo, uint64(r.Off)), max(w.hi, uint64(r.Off)+uint64(r.Len))
		w.need += uint64(r.Len)
	}
	return span{off: r.Off, length: r.Len, form: form}
}

// layout decides where each section stands.
func (w *Writer) layout() {
	heap := w.hi - w.lo
	if w.gather {
		heap = w.need
	}
	heap += uint64(len(w.extra))
	w.nTable = 0
	w.section(SectionKeys, len(w.keys), SizeKey)
	if len(w.wins) > 0 {
		w.section(SectionWindows, len(w.wins), SizeWindow)
	}
	w.section(SectionRows, len(w.vals), SizeRow)
	if len(w.heads) > 0 {
		w.section(SectionHeaders, len(w.heads), SizeHead)
	}
	if len(w.b.Origins) > 0 {
		w.section(SectionOrigins, len(w.b.Origins), SizeOrigin)
	}
	w.section(SectionHeap, int(heap), 1)
	at := HeaderSize + w.nTable*SectionSize
	for i := range w.table[:w.nTable] {
		w.table[i].offset = uint32(at)
		at = align(at + int(w.table[i].length))
	}
	w.total = at
}

func (w *Writer) section(kind uint16, count, size int) {
	w.table[w.nTable] = entry{kind: kind, flags: FlagCritical, count: uint32(count), length: uint32(count * size)}
	w.nTable++
}

func align(n int) int { return (n + 7) &^ 7 }

// Write fills dst, whose length is what Prepare returned, with the frame. The padding between sections is not touched.
func (w *Writer) Write(dst []byte, c Call) {
	var mark event.Time
	if len(w.b.Marks) > 0 {
		mark = w.b.Marks[0]
	}
	putHeader(dst, header{
		magic: MagicInput, fn: c.Fn, op: c.Op, epoch: c.Epoch, bundle: c.Bundle, now: c.Now, mark: mark,
		sections: uint32(w.nTable), total: uint32(w.total), cursor: None, rows: uint32(len(w.vals)),
	})
	putTable(dst, w.table[:w.nTable])
	heap := w.table[w.nTable-1]
	c2 := copier{dst: dst, src: w.b.Heap.Bytes(), at: heap.offset, base: heap.offset - uint32(w.lo), gather: w.gather}
	c2.extra = heap.offset + heap.length - uint32(len(w.extra))
	if !w.gather {
		copy(dst[heap.offset:], c2.src[w.lo:w.hi])
	}
	copy(dst[c2.extra:], w.extra)
	for _, e := range w.table[:w.nTable-1] {
		to := dst[e.offset : e.offset+e.length]
		switch e.kind {
		case SectionKeys:
			w.putKeys(to, &c2)
		case SectionWindows:
			for i, win := range w.wins {
				le.PutUint64(to[i*SizeWindow+AtWindowStart:], uint64(win.Start))
				le.PutUint64(to[i*SizeWindow+AtWindowEnd:], uint64(win.End))
			}
		case SectionRows:
			w.putRows(to, &c2)
		case SectionHeaders:
			w.putHeads(to, &c2)
		case SectionOrigins:
			putOrigins(to, w.b.Origins)
		}
	}
}

// copier turns spans of the bundle's heap into spans of the frame, and copies them if they go one by one.
type copier struct {
	dst, src []byte
	at       uint32 // next free byte of HEAP when gathering
	base     uint32 // what a span moves by when the heap was copied at one go
	extra    uint32 // where the extra bytes start
	gather   bool
}

func (c *copier) place(s span) (off, length uint32) {
	switch {
	case s.off == None:
		return None, 0
	case s.extra:
		return c.extra + s.off, s.length
	case s.length == 0:
		return c.at, 0
	case !c.gather:
		return c.base + s.off, s.length
	}
	off = c.at
	copy(c.dst[off:], c.src[s.off:s.off+s.length])
	c.at += s.length
	return off, s.length
}

func (w *Writer) putKeys(to []byte, c *copier) {
	for i, k := range w.keys {
		p := to[i*SizeKey:][:SizeKey]
		off, n := c.place(k)
		le.PutUint32(p[AtKeyOffset:], off)
		le.PutUint32(p[AtKeyLength:], n)
		le.PutUint32(p[AtKeyForm:], uint32(k.form))
		le.PutUint32(p[AtKeyHash:], 0)
	}
}

func (w *Writer) putRows(to []byte, c *copier) {
	b := w.b
	for i, v := range w.vals {
		p := to[i*SizeRow:][:SizeRow]
		off, n := c.place(v)
		p[AtRowOp], p[AtRowPane], p[AtRowSign], p[AtRowForm] = RowOpElement, 0, 1, v.form
		if b.Ops[i] == event.Retract {
			p[AtRowSign] = 0xff
		}
		if len(b.Panes) > 0 {
			p[AtRowPane] = paneByte(b.Panes[i])
		}
		win, head, heads, origin := None, uint32(0), uint32(0), None
		if len(w.winOf) > 0 {
			win = w.winOf[i]
		}
		if len(w.headOf) > 0 {
			head, heads = w.headOf[i], uint32(len(b.RowHeaders(i)))
		}
		if len(b.Origins) > 0 {
			origin = uint32(i)
		}
		le.PutUint32(p[AtRowKey:], w.keyOf[i])
		le.PutUint32(p[AtRowWindow:], win)
		le.PutUint32(p[AtRowHeaders:], head)
		le.PutUint64(p[AtRowTime:], uint64(b.Times[i]))
		le.PutUint32(p[AtRowOffset:], off)
		le.PutUint32(p[AtRowLength:], n)
		le.PutUint32(p[AtRowHeaderCount:], heads)
		le.PutUint32(p[AtRowOrigin:], origin)
	}
}

func paneByte(p event.Pane) byte {
	v := byte(p.Timing)
	if p.First {
		v |= PaneFirst
	}
	if p.Last {
		v |= PaneLast
	}
	return v
}

func (w *Writer) putHeads(to []byte, c *copier) {
	for i, h := range w.heads {
		p := to[i*SizeHead:][:SizeHead]
		off, n := c.place(h.name)
		le.PutUint32(p[AtHeadNameOffset:], off)
		le.PutUint32(p[AtHeadNameLength:], n)
		off, n = c.place(h.value)
		le.PutUint32(p[AtHeadOffset:], off)
		le.PutUint32(p[AtHeadLength:], n)
	}
}

func putOrigins(to []byte, origins []event.Origin) {
	for i, o := range origins {
		p := to[i*SizeOrigin:][:SizeOrigin]
		le.PutUint16(p[AtOriginSource:], o.Source)
		le.PutUint16(p[AtOriginTopic:], o.Topic)
		le.PutUint32(p[AtOriginPartition:], uint32(o.Partition))
		le.PutUint64(p[AtOriginOffset:], uint64(o.Offset))
		le.PutUint64(p[AtOriginTimestamp:], uint64(o.Timestamp))
	}
}
