package abi

import (
	"math/bits"
	"unicode/utf8"

	"github.com/wgate/wgate/event"
)

// Reader checks the output frames of one call. It trusts nothing in them. A Reader reuses its memory and is used by one
// goroutine at a time; the zero Reader is ready.
type Reader struct {
	rows, tags int
	marks      []uint8 // by input row: what was said of it so far
	table      []entry
}

// What marks says of a row.
const (
	markKept = 1 << iota
	markEmitted
	markFailed
)

// Output is one checked output frame. Its slices are parts of the frame's bytes.
type Output struct {
	Done uint32 // rows that are done, when the call's status is StatusPartial
	Heap []byte
	base uint32 // offset of Heap in the frame

	frame []byte
	keep  []byte
	index bool // keep is a list of row numbers
	emits []byte
	heads []byte
	fails []byte
	stats []byte
	lines []byte
}

// Span is a run of bytes of Output.Heap.
type Span struct {
	Off, Len uint32
	Form     uint8 // FormMissing: not given; FormNull: null
}

// Emit is one row of EMIT.
type Emit struct {
	Row        uint32
	Tag        uint16
	Given      uint16
	Time       event.Time // good if Given has GivenTime
	Key, Value Span       // FormMissing unless given
	Head, Tail uint32     // headers [Head, Tail), good if Given has GivenHeaders
}

// Failure is one row of FAIL. Its texts belong to the frame.
type Failure struct {
	Row        uint32
	Code, Text []byte
}

// Sample is one row of METRIC. Its name belongs to the frame.
type Sample struct {
	Name  []byte
	Kind  uint32
	Value int64
}

// Line is one row of LOG. Its text belongs to the frame.
type Line struct {
	Level, Row uint32
	Text       []byte
}

// Begin starts a call over rows input rows of a function with tags side outputs.
func (r *Reader) Begin(rows, tags int) {
	r.rows, r.tags = rows, tags
	if cap(r.marks) < rows {
		r.marks = make([]uint8, rows)
	}
	r.marks = r.marks[:rows]
	clear(r.marks)
}

// Check reads one output frame. All errors wrap ErrFrame; after one nothing of the call may be used.
func (r *Reader) Check(frame []byte) (Output, error) {
	o := Output{frame: frame}
	var err error
	if r.table, err = readTable(r.table[:0], frame, MagicOutput); err != nil {
		return o, err
	}
	o.Done = le.Uint32(frame[AtHeaderOp:])
	if int(o.Done) > r.rows {
		return o, badFrame("%d rows are done of %d", o.Done, r.rows)
	}
	var keep entry
	for _, e := range r.table {
		var size int
		var into *[]byte
		switch e.kind {
		case SectionHeap:
			o.base, o.Heap = e.offset, frame[e.offset:e.offset+e.length]
			continue
		case SectionKeep:
			keep = e
			continue
		case SectionEmit:
			size, into = SizeEmit, &o.emits
		case SectionHeaders:
			size, into = SizeHead, &o.heads
		case SectionFail:
			size, into = SizeFail, &o.fails
		case SectionMetric:
			size, into = SizeSample, &o.stats
		case SectionLog:
			size, into = SizeLine, &o.lines
		default:
			if e.flags&FlagCritical != 0 {
				return o, badFrame("section %d is not known or not available in this version", e.kind)
			}
			continue
		}
		if *into, err = rowsOf(frame, e, size); err != nil {
			return o, err
		}
	}
	if keep.length > 0 {
		if err := r.checkKeep(&o, keep); err != nil {
			return o, err
		}
	}
	for _, check := range []func(*Output) error{r.checkHeads, r.checkEmits, r.checkFails, r.checkStats, r.checkLines} {
		if err := check(&o); err != nil {
			return o, err
		}
	}
	return o, nil
}

func (r *Reader) mark(row uint32, m, clash uint8, what string) error {
	if uint64(row) >= uint64(r.rows) {
		return badFrame("%s names row %d of %d", what, row, r.rows)
	}
	if r.marks[row]&clash != 0 {
		return badFrame("%s names row %d, of which something else was said before", what, row)
	}
	r.marks[row] |= m
	return nil
}

func (r *Reader) checkKeep(o *Output, e entry) error {
	o.keep, o.index = o.frame[e.offset:e.offset+e.length], e.flags&FlagIndex != 0
	if o.index {
		if _, err := rowsOf(o.frame, e, 4); err != nil {
			return err
		}
		last := int64(-1)
		for i := 0; i < len(o.keep); i += 4 {
			row := le.Uint32(o.keep[i:])
			if int64(row) <= last {
				return badFrame("KEEP names row %d after row %d", row, last)
			}
			last = int64(row)
			if err := r.mark(row, markKept, markKept|markFailed, "KEEP"); err != nil {
				return err
			}
		}
		return nil
	}
	if int(e.count) != r.rows || len(o.keep) != (r.rows+7)/8 {
		return badFrame("KEEP is a bitmap of %d rows in %d bytes, the bundle has %d rows", e.count, e.length, r.rows)
	}
	for i, b := range o.keep {
		for ; b != 0; b &= b - 1 {
			if err := r.mark(uint32(i*8+bits.TrailingZeros8(b)), markKept, markKept|markFailed, "KEEP"); err != nil {
				return err
			}
		}
	}
	return nil
}

// span checks that [off, off+n) lies in the heap and returns it relative to the heap.
func (o *Output) span(off, n uint32, form uint8) (Span, error) {
	if form == FormMissing || form == FormNull {
		return Span{Form: form}, nil
	}
	if form > FormBytes {
		return Span{}, badFrame("form %d is not known", form)
	}
	if off < o.base || uint64(off)+uint64(n) > uint64(o.base)+uint64(len(o.Heap)) {
		return Span{}, badFrame("the span at %d with %d bytes is not inside HEAP, which is at %d with %d", off, n, o.base, len(o.Heap))
	}
	s := Span{off - o.base, n, form}
	if form == FormText && !utf8.Valid(o.bytes(s)) {
		return Span{}, badFrame("the text at %d with %d bytes is not UTF-8", off, n)
	}
	return s, nil
}

func (o *Output) bytes(s Span) []byte { return o.Heap[s.Off : s.Off+s.Len] }

func (r *Reader) checkHeads(o *Output) error {
	for i := range o.Headers() {
		p := o.heads[i*SizeHead:]
		if _, err := o.span(le.Uint32(p[AtHeadNameOffset:]), le.Uint32(p[AtHeadNameLength:]), FormText); err != nil {
			return err
		}
		if off := le.Uint32(p[AtHeadOffset:]); off != None {
			if _, err := o.span(off, le.Uint32(p[AtHeadLength:]), FormBytes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reader) checkEmits(o *Output) error {
	for i := range o.Emits() {
		p := o.emits[i*SizeEmit:][:SizeEmit]
		e := o.Emit(i)
		if err := r.mark(e.Row, markEmitted, markFailed, "EMIT"); err != nil {
			return err
		}
		if int(e.Tag) > r.tags {
			return badFrame("EMIT names tag %d, the function has %d", e.Tag, r.tags)
		}
		if e.Given&^(GivenKey|GivenValue|GivenHeaders|GivenTime) != 0 {
			return badFrame("EMIT gives %#x, which is not available in this version", e.Given)
		}
		if _, err := o.span(le.Uint32(p[AtEmitKeyOffset:]), e.Key.Len, e.Key.Form); err != nil {
			return err
		}
		if _, err := o.span(le.Uint32(p[AtEmitOffset:]), e.Value.Len, e.Value.Form); err != nil {
			return err
		}
		n := uint64(le.Uint16(p[AtEmitHeaderCount:]))
		if e.Given&GivenHeaders != 0 && uint64(e.Head)+n > uint64(o.Headers()) {
			return badFrame("EMIT names headers %d to %d of %d", e.Head, uint64(e.Head)+n, o.Headers())
		}
	}
	return nil
}

func (r *Reader) checkFails(o *Output) error {
	for i := range o.Fails() {
		p := o.fails[i*SizeFail:][:SizeFail]
		if err := r.mark(le.Uint32(p[AtFailRow:]), markFailed, markKept|markEmitted|markFailed, "FAIL"); err != nil {
			return err
		}
		code, err := o.span(le.Uint32(p[AtFailCodeOffset:]), le.Uint32(p[AtFailCodeLength:]), FormBytes)
		if err != nil {
			return err
		}
		if !isCode(o.bytes(code)) {
			return badFrame("FAIL has a code that is not 1 to 64 of a-z, 0-9 and _")
		}
		if _, err := o.span(le.Uint32(p[AtFailOffset:]), le.Uint32(p[AtFailLength:]), FormText); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) checkStats(o *Output) error {
	for i := range o.Samples() {
		p := o.stats[i*SizeSample:][:SizeSample]
		name, err := o.span(le.Uint32(p[AtSampleNameOffset:]), le.Uint32(p[AtSampleNameLength:]), FormBytes)
		if err != nil {
			return err
		}
		if !isCode(o.bytes(name)) {
			return badFrame("METRIC has a name that is not 1 to 64 of a-z, 0-9 and _")
		}
		if k := le.Uint32(p[AtSampleKind:]); k > MetricGauge {
			return badFrame("METRIC has kind %d", k)
		}
	}
	return nil
}

func (r *Reader) checkLines(o *Output) error {
	for i := range o.Lines() {
		p := o.lines[i*SizeLine:][:SizeLine]
		if l := le.Uint32(p[AtLineLevel:]); l > LevelError {
			return badFrame("LOG has level %d", l)
		}
		if row := le.Uint32(p[AtLineRow:]); row != None && uint64(row) >= uint64(r.rows) {
			return badFrame("LOG names row %d of %d", row, r.rows)
		}
		if _, err := o.span(le.Uint32(p[AtLineOffset:]), le.Uint32(p[AtLineLength:]), FormText); err != nil {
			return err
		}
	}
	return nil
}

// isCode reports whether b is 1 to 64 of a-z, 0-9 and _.
func isCode(b []byte) bool {
	if len(b) == 0 || len(b) > 64 {
		return false
	}
	for _, c := range b {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// Within reports whether all that the frames since Begin said is about the first n rows.
func (r *Reader) Within(n int) bool {
	for _, m := range r.marks[n:] {
		if m != 0 {
			return false
		}
	}
	return true
}
