package wgate

// Form says what the bytes of a key or value are.
type Form uint8

// The forms of keys and values.
const (
	Missing = Form(formMissing) // there is none
	Null    = Form(formNull)    // null, which is not empty
	JSON    = Form(formJSON)    // JSON text
	Text    = Form(formText)    // UTF-8 text as it is
	Bytes   = Form(formBytes)   // any bytes
)

// Element is one element of the input. The bytes that its methods return belong to the host: they are good until the
// function returns and must not be changed.
type Element struct {
	in  *input
	row *inRow
	i   int
	s   Scanner
}

// Value returns the element's value as it came, nil if it is null or missing. In a pipeline that decodes JSON it is JSON
// text.
func (e *Element) Value() []byte { return e.in.span(e.row.offset, e.row.length) }

// Scan returns a Scanner over the value. There is one for each Element: a second call starts it anew. (A Scanner of one's
// own costs more: it must be cleared.)
func (e *Element) Scan() *Scanner {
	e.s.Reset(e.Value())
	return &e.s
}

// ValueForm says what Value is.
func (e *Element) ValueForm() Form { return Form(e.row.form) }

// Key returns the element's key, nil if it is null or missing: text as it is, anything else as JSON text.
func (e *Element) Key() []byte {
	k := &e.in.keys[e.row.key]
	return e.in.span(k.offset, k.length)
}

// KeyForm says what Key is.
func (e *Element) KeyForm() Form { return Form(e.in.keys[e.row.key].form) }

// Time returns the event time in ms since 1970.
func (e *Element) Time() int64 { return e.row.time }

// Watermark returns the input watermark, in ms since 1970, as it was before the first element of this call.
func (e *Element) Watermark() int64 { return e.in.head.mark }

// ProcessingTime returns the processing time of this call in ms since 1970.
func (e *Element) ProcessingTime() int64 { return e.in.head.now }

// Retract reports whether the element takes an earlier one back.
func (e *Element) Retract() bool { return e.row.sign < 0 }

// Window returns the window [start, end) in ms; ok is false before a grouping.
func (e *Element) Window() (start, end int64, ok bool) {
	if e.row.window == none {
		return 0, 0, false
	}
	w := &e.in.windows[e.row.window]
	return w.start, w.end, true
}

// Pane returns the pane's timing (0 early, 1 on time, 2 late) and whether it is the window's first or last one. It is good
// where Window is.
func (e *Element) Pane() (timing int, first, last bool) {
	p := e.row.pane
	return int(p & paneTimingMask), p&paneFirst != 0, p&paneLast != 0
}

// Headers returns the number of headers.
func (e *Element) Headers() int { return int(e.row.headerCount) }

// Header returns header i; a null value is nil.
func (e *Element) Header(i int) (name, value []byte) {
	h := &e.in.heads[e.row.headers:][:e.row.headerCount][i]
	return e.in.span(h.nameOffset, h.nameLength), e.in.span(h.offset, h.length)
}

// Origin returns where the record was read; ok is false for elements that stem from no single record.
func (e *Element) Origin() (partition int32, offset int64, ok bool) {
	if e.row.origin == none {
		return 0, 0, false
	}
	o := &e.in.origins[e.row.origin]
	return o.partition, o.offset, true
}

// Index returns the element's place in the call, from 0.
func (e *Element) Index() int { return e.i }
