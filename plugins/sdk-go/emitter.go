package wgate

import "slices"

// Tag is the number of a side output: the n-th name of Tags. Tag 0 is the main output.
type Tag uint16

// Level is the level of a log line.
type Level uint32

// The levels of log lines.
const (
	Debug = Level(levelDebug)
	Info  = Level(levelInfo)
	Warn  = Level(levelWarn)
	Error = Level(levelError)
)

// heapAt is where HEAP starts in an output frame: after the header and a table of outSections rows.
const (
	outSections = 8
	heapAt      = headerSize + outSections*sectionSize
)

// Emitter takes what a function makes of an element. It reuses its memory from call to call.
type Emitter struct {
	frame []byte // header, table, HEAP; the other sections follow when the frame is sent
	keep  []uint8
	emits []emitRow
	heads []headRow
	fails []failRow
	stats []sampleRow
	lines []lineRow

	row     uint32 // the element at hand
	kept    bool   // anything in keep
	failed  bool   // the element at hand failed
	restore mark   // what was there before the element at hand
	object  Object
}

// mark is how much of an Emitter is filled. HEAP is not taken back: what nobody refers to does no harm.
type mark struct{ emits, heads int }

// reset empties the emitter for a bundle of n rows.
func (o *Emitter) reset(n int) {
	if cap(o.frame) < heapAt {
		o.frame = make([]byte, heapAt, 64<<10)
	}
	o.frame = o.frame[:heapAt]
	if cap(o.keep)*8 < n {
		o.keep = make([]uint8, (n+7)/8)
	}
	o.keep = o.keep[:(n+7)/8]
	if o.kept {
		clear(o.keep[:cap(o.keep)])
	}
	o.kept, o.failed = false, false
	o.object.o = o
	o.emits, o.heads, o.fails = o.emits[:0], o.heads[:0], o.fails[:0]
	o.stats, o.lines = o.stats[:0], o.lines[:0]
}

// begin starts the element row.
func (o *Emitter) begin(row int) {
	o.row = uint32(row)
	o.restore = mark{len(o.emits), len(o.heads)}
}

// end closes the element. A failed one leaves nothing but its failure.
func (o *Emitter) end() {
	if o.failed {
		o.failed = false
		o.emits, o.heads = o.emits[:o.restore.emits], o.heads[:o.restore.heads]
		o.keep[o.row>>3] &^= 1 << (o.row & 7)
	}
}

// put copies p into HEAP and returns its offset.
func (o *Emitter) put(p []byte) uint32 {
	at := len(o.frame)
	o.frame = append(o.frame, p...)
	return uint32(at)
}

func (o *Emitter) putString(s string) uint32 {
	at := len(o.frame)
	o.frame = append(o.frame, s...)
	return uint32(at)
}

// Keep lets the element pass unchanged.
func (o *Emitter) Keep() {
	o.keep[o.row>>3] |= 1 << (o.row & 7)
	o.kept = true
}

// Emit makes a new row whose value is the JSON text value. Key, headers and time are those of the element unless the
// Row's methods say otherwise.
func (o *Emitter) Emit(value []byte) Row { return o.emit(value, formJSON) }

// EmitText makes a new row whose value is UTF-8 text.
func (o *Emitter) EmitText(value []byte) Row { return o.emit(value, formText) }

// EmitBytes makes a new row whose value is any bytes.
func (o *Emitter) EmitBytes(value []byte) Row { return o.emit(value, formBytes) }

// EmitNull makes a new row whose value is null.
func (o *Emitter) EmitNull() Row {
	e := o.add()
	e.given, e.offset, e.form = givenValue, none, formNull
	return Row{o, len(o.emits) - 1}
}

// EmitSame makes a new row with the value of the element, for another key, time, headers or tag.
func (o *Emitter) EmitSame() Row {
	o.add()
	return Row{o, len(o.emits) - 1}
}

func (o *Emitter) emit(value []byte, form uint8) Row {
	at := o.put(value)
	e := o.add()
	e.given, e.offset, e.length, e.form = givenValue, at, uint32(len(value)), form
	return Row{o, len(o.emits) - 1}
}

// add appends a row of EMIT that takes everything over from the element. It is filled in place: in WebAssembly a copy of
// more than 16 bytes is a call.
func (o *Emitter) add() *emitRow {
	n := len(o.emits)
	if n == cap(o.emits) {
		o.emits = slices.Grow(o.emits, 1)
	}
	o.emits = o.emits[:n+1]
	e := &o.emits[n]
	e.row, e.tag, e.given, e.time = o.row, 0, 0, 0
	e.keyOffset, e.keyLength, e.offset, e.length = 0, 0, 0, 0
	e.headers, e.headerCount, e.keyForm, e.form = 0, 0, 0, 0
	return e
}

// Object starts a new row whose value is a JSON object, which is written field by field; its Emit ends it. Nothing else may
// be emitted in between.
func (o *Emitter) Object() *Object {
	w := &o.object
	w.start, w.depth, w.more = len(o.frame), 0, false
	o.frame = append(o.frame, '{')
	return w
}

// Fail takes the element out: it goes to the dead letters with code (letters a-z, digits, _) and text, and whatever else
// was emitted for it is dropped.
func (o *Emitter) Fail(code, text string) {
	if o.failed {
		return
	}
	o.failed = true
	c := o.putString(code)
	o.fails = append(o.fails, failRow{
		row: o.row, codeOffset: c, codeLength: uint32(len(code)), offset: o.putString(text), length: uint32(len(text)),
	})
}

// Log writes a line to the pipeline's log.
func (o *Emitter) Log(level Level, text string) {
	o.lines = append(o.lines, lineRow{uint32(level), o.row, o.putString(text), uint32(len(text))})
}

// Count adds n to the counter called name (letters a-z, digits, _).
func (o *Emitter) Count(name string, n int64) { o.sample(name, metricCounter, n) }

// Gauge sets the gauge called name to n.
func (o *Emitter) Gauge(name string, n int64) { o.sample(name, metricGauge, n) }

func (o *Emitter) sample(name string, kind uint32, n int64) {
	o.stats = append(o.stats, sampleRow{o.putString(name), uint32(len(name)), kind, 0, n})
}

// Row is a row that was just emitted. Its methods must be called before the next row is emitted.
type Row struct {
	o *Emitter
	i int
}

// Key sets the key to text.
func (r Row) Key(key []byte) Row { return r.key(key, formText) }

// KeyJSON sets the key to JSON text.
func (r Row) KeyJSON(key []byte) Row { return r.key(key, formJSON) }

// KeyBytes sets the key to any bytes.
func (r Row) KeyBytes(key []byte) Row { return r.key(key, formBytes) }

// KeyNull sets the key to null.
func (r Row) KeyNull() Row {
	e := &r.o.emits[r.i]
	e.given, e.keyOffset, e.keyLength, e.keyForm = e.given|givenKey, none, 0, formNull
	return r
}

func (r Row) key(key []byte, form uint8) Row {
	off := r.o.put(key)
	e := &r.o.emits[r.i]
	e.given, e.keyOffset, e.keyLength, e.keyForm = e.given|givenKey, off, uint32(len(key)), form
	return r
}

// Time sets the event time, in ms since 1970.
func (r Row) Time(ms int64) Row {
	e := &r.o.emits[r.i]
	e.given, e.time = e.given|givenTime, ms
	return r
}

// To sends the row to a side output.
func (r Row) To(tag Tag) Row {
	r.o.emits[r.i].tag = uint16(tag)
	return r
}

// Header appends a header; the headers of the element are then not taken over. A nil value is null.
func (r Row) Header(name string, value []byte) Row {
	h := headRow{r.o.putString(name), uint32(len(name)), none, 0}
	if value != nil {
		h.offset, h.length = r.o.put(value), uint32(len(value))
	}
	r.NoHeaders()
	r.o.heads = append(r.o.heads, h)
	r.o.emits[r.i].headerCount++
	return r
}

// NoHeaders leaves out the headers of the element.
func (r Row) NoHeaders() Row {
	e := &r.o.emits[r.i]
	if e.given&givenHeaders == 0 {
		e.given, e.headers = e.given|givenHeaders, uint32(len(r.o.heads))
	}
	return r
}

// build appends the sections after HEAP, fills in header and table, and returns the frame. done is the number of rows that
// are done with it.
func (o *Emitter) build(rows, done int) []byte {
	t := newTable(o.frame)
	if o.kept {
		t.add(sectionKeep, o.keep, rows)
	}
	t.add(sectionEmit, bytesOf(o.emits), len(o.emits))
	t.add(sectionHeaders, bytesOf(o.heads), len(o.heads))
	t.add(sectionFail, bytesOf(o.fails), len(o.fails))
	t.add(sectionMetric, bytesOf(o.stats), len(o.stats))
	t.add(sectionLog, bytesOf(o.lines), len(o.lines))
	o.frame = t.finish(rows, done)
	return o.frame
}
