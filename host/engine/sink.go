package engine

import (
	"slices"
	"strconv"

	"github.com/wgate/wgate/codec"
	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/expr"
)

// The headers of a result (language.md, Results in Kafka).
const (
	headerStart  = "wgate-window-start"
	headerEnd    = "wgate-window-end"
	headerIndex  = "wgate-pane-index"
	headerTiming = "wgate-pane-timing"
	headerLast   = "wgate-pane-last"
	headerOp     = "wgate-op"
)

// sinkStage encodes rows and sends them.
type sinkStage struct {
	base
	to      Output // nil: in the epoch's transaction
	topic   string
	encoder codec.Encoder
	value   *expr.Program
	key     []*expr.Program
	heads   []*expr.Program

	values  []event.Value
	keys    [][]event.Value
	columns [][]event.Value
	keyOf   keyMaker

	compared []byte // the keys of two rows, for replaced

	recs     []Record
	headers  []RecordHeader
	rowBytes int            // about how many bytes a row takes
	shared   []RecordHeader // of the row before, if the next one may have the same
	sharedOf int            // that row
}

func newSink(b base) (*sinkStage, error) {
	n := b.node
	enc, err := codec.NewEncoder(n.SinkBlock.Encode)
	if err != nil {
		return nil, err
	}
	s := &sinkStage{base: b, rowBytes: 96, encoder: enc, to: b.task.cfg.Outputs[n.SinkBlock.Name], topic: n.SinkBlock.Name}
	if n.SinkBlock.Kafka != nil {
		s.topic = n.SinkBlock.Kafka.Topic
	}
	slot := n.In.Slot
	s.value, s.key, s.heads = b.task.bind(n.Value, slot), b.task.bindAll(n.Key, slot), b.task.bindAll(n.Heads, slot)
	s.keyOf = keyMaker{form: n.SinkBlock.Key.Form, parts: n.SinkBlock.Key.Parts}
	return s, nil
}

// evalAll evaluates ps over b into cols, one column each.
func evalAll(ps []*expr.Program, b *event.Bundle, cols [][]event.Value) [][]event.Value {
	for len(cols) < len(ps) {
		cols = append(cols, nil)
	}
	for i, p := range ps {
		cols[i] = p.Eval(b, cols[i][:0])
	}
	return cols[:len(ps)]
}

func (s *sinkStage) advance(w event.Time) error {
	s.wm = max(s.wm, w)
	s.stats.Watermark.Store(int64(s.wm))
	return nil
}

func (s *sinkStage) boundary(event.Time) event.Time { return event.MaxTime }

func (s *sinkStage) process(b *event.Bundle) error {
	n := b.Len()
	s.stats.In.Add(int64(n))
	s.values = append(s.values[:0], b.Values...)
	if s.value != nil {
		s.values = s.value.Eval(b, s.values[:0])
	}
	s.keys = evalAll(s.key, b, s.keys)
	s.columns = evalAll(s.heads, b, s.columns)
	// The bytes belong to the output until the epoch has ended; the slices are used again.
	recs := slices.Grow(s.recs[:0], n)
	heads := s.headers[:0]
	chunk := s.task.texts.take(n * s.rowBytes)
	before := len(chunk)
	s.shared, s.sharedOf = nil, -1
	limit, err := s.task.maxRecord(s.to, s.topic)
	if err != nil {
		return err
	}
	for i := range n {
		if bad, ok := s.bad(i); ok {
			if err := s.fail(b, i, bad); err != nil {
				return err
			}
			continue
		}
		if s.replaced(b, i) {
			continue
		}
		var rec Record
		chunk, heads, rec = s.record(b, i, chunk, heads)
		if recordSize(&rec) > limit {
			if err := s.task.deadLetter(s.node, b, i, codeTooLarge, "the record is larger than topic "+s.topic+" takes"); err != nil {
				return err
			}
			continue
		}
		recs = append(recs, rec)
	}
	s.task.texts.back(chunk)
	s.recs, s.headers = recs, heads
	if n > 0 {
		s.rowBytes = max((len(chunk)-before)/n+8, 16)
	}
	s.stats.Out.Add(int64(len(recs)))
	return s.task.send(s.to, recs)
}

func (s *sinkStage) bad(i int) (event.Value, bool) {
	if s.values[i].Kind == event.Error {
		return s.values[i], true
	}
	for _, cols := range [2][][]event.Value{s.keys, s.columns} {
		for _, c := range cols {
			if c[i].Kind == event.Error {
				return c[i], true
			}
		}
	}
	return event.Value{}, false
}

// record encodes row i at the end of chunk. The slices that it returns may have moved, the record's own do not: a chunk
// that grows leaves the bytes of earlier records where they are.
func (s *sinkStage) record(b *event.Bundle, i int, chunk []byte, heads []RecordHeader) ([]byte, []RecordHeader, Record) {
	rec := Record{Topic: s.topic, Timestamp: max(b.Times[i], 0), Input: event.Origin{Offset: -1}}
	if len(b.Origins) > 0 {
		rec.Input = b.Origins[i]
	}
	if !s.values[i].IsNull() && (b.Ops[i] == event.Insert || s.node.SinkBlock.Changes == "retract") {
		from := len(chunk)
		chunk = s.encoder.AppendValue(chunk, b.Heap, s.values[i])
		rec.Value = chunk[from:len(chunk):len(chunk)]
	}
	chunk, rec.Key = s.recordKey(b, i, chunk)
	if s.sameHeaders(b, i) {
		rec.Headers, s.sharedOf = s.shared, i
		return chunk, heads, rec
	}
	from := len(heads)
	for _, h := range b.RowHeaders(i) {
		heads = append(heads, RecordHeader{string(b.Heap.Get(h.Key)), s.own(&chunk, b.Heap.Get(h.Value))})
	}
	for k := range s.columns {
		v := s.columns[k][i]
		if v.IsNull() {
			heads = append(heads, RecordHeader{Key: s.node.Names[k]})
			continue
		}
		at := len(chunk)
		chunk = appendPlain(chunk, b.Heap, v)
		heads = append(heads, RecordHeader{s.node.Names[k], chunk[at:len(chunk):len(chunk)]})
	}
	if s.node.In.Windowed {
		chunk, heads = s.resultHeaders(b, i, chunk, heads)
	}
	rec.Headers = heads[from:len(heads):len(heads)]
	s.shared, s.sharedOf = rec.Headers, i
	return chunk, heads, rec
}

// sameHeaders reports whether row i has the same headers as the one before it, of which s.shared are those: that is so
// for the many results of one window.
func (s *sinkStage) sameHeaders(b *event.Bundle, i int) bool {
	if i == 0 || s.sharedOf != i-1 || !s.node.In.Windowed || len(s.columns) > 0 || len(b.Heads) > 0 ||
		b.Windows[i] != b.Windows[i-1] || b.Ops[i] != b.Ops[i-1] {
		return false
	}
	if len(b.Panes) == 0 {
		return true
	}
	p, q := &b.Panes[i], &b.Panes[i-1]
	return p.Index == q.Index && p.Timing == q.Timing && p.Last == q.Last
}

func (s *sinkStage) own(chunk *[]byte, p []byte) []byte {
	if p == nil {
		return nil
	}
	at := len(*chunk)
	*chunk = append(*chunk, p...)
	return (*chunk)[at:len(*chunk):len(*chunk)]
}

// recordKey gives the record's key: what the sink's key attribute says, else the row's own key; for upsert of windowed
// results the JSON array [key, start, end], so that windows do not overwrite one another.
func (s *sinkStage) recordKey(b *event.Bundle, i int, chunk []byte) (grown, key []byte) {
	from := len(chunk)
	var v event.Value
	switch {
	case s.node.SinkBlock.KeySet:
		v = s.keyOf.make(b.Heap, s.keys, i)
	case s.node.SinkBlock.Changes == "upsert" && s.node.In.Windowed && !b.Windows[i].IsGlobal():
		chunk = append(chunk, '[')
		chunk = jsontext.Append(chunk, b.Heap, b.Keys[i])
		chunk = append(chunk, ',')
		chunk = strconv.AppendInt(chunk, int64(b.Windows[i].Start), 10)
		chunk = append(chunk, ',')
		chunk = strconv.AppendInt(chunk, int64(b.Windows[i].End), 10)
		chunk = append(chunk, ']')
		return chunk, chunk[from:len(chunk):len(chunk)]
	default:
		v = b.Keys[i]
	}
	if v.IsNull() {
		return chunk, nil
	}
	chunk = appendPlain(chunk, b.Heap, v)
	return chunk, chunk[from:len(chunk):len(chunk)]
}

// appendPlain writes v as keys and headers are: text and bytes raw, an int in decimal, anything else JSON.
func appendPlain(dst []byte, h *event.Heap, v event.Value) []byte {
	if v.Kind == event.String || v.Kind == event.Bytes {
		return append(dst, v.Bytes(h)...)
	}
	return jsontext.Append(dst, h, v)
}

// timingText and opText hold the header texts, so that a result costs no allocation for them.
var (
	timingText = [...][]byte{[]byte(event.Early.String()), []byte(event.OnTime.String()), []byte(event.Late.String())}
	falseText  = []byte("false")
	trueText   = []byte("true")
	opText     = [...][]byte{[]byte(event.Insert.String()), []byte(event.Retract.String())}
)

func boolText(b bool) []byte {
	if b {
		return trueText
	}
	return falseText
}

func (s *sinkStage) resultHeaders(b *event.Bundle, i int, chunk []byte, heads []RecordHeader) ([]byte, []RecordHeader) {
	num := func(name string, n int64) {
		at := len(chunk)
		chunk = strconv.AppendInt(chunk, n, 10)
		heads = append(heads, RecordHeader{name, chunk[at:len(chunk):len(chunk)]})
	}
	if w := b.Windows[i]; !w.IsGlobal() {
		num(headerStart, int64(w.Start))
		num(headerEnd, int64(w.End))
	}
	if len(b.Panes) > 0 {
		p := b.Panes[i]
		num(headerIndex, int64(p.Index))
		heads = append(heads, RecordHeader{headerTiming, timingText[p.Timing]}, RecordHeader{headerLast, boolText(p.Last)})
	}
	return chunk, append(heads, RecordHeader{headerOp, opText[b.Ops[i]]})
}

// keyMaker makes the one value of a key of its parts.
type keyMaker struct {
	form  config.KeyForm
	parts []config.Assign
}

// make returns the key of row i; its compound forms are written into h as JSON text.
func (k *keyMaker) make(h *event.Heap, cols [][]event.Value, i int) event.Value {
	switch k.form {
	case config.NoKey:
		return event.NullValue()
	case config.PlainKey:
		return cols[0][i]
	}
	// The text is put together outside of the heap: writing a part may itself read the heap.
	var buf [128]byte
	text, kind, end := append(buf[:0], '['), event.List, byte(']')
	if k.form == config.NamedKey {
		text, kind, end = append(buf[:0], '{'), event.Object, '}'
	}
	for p := range cols {
		if p > 0 {
			text = append(text, ',')
		}
		if k.form == config.NamedKey {
			text = jsontext.AppendString(text, k.parts[p].Name)
			text = append(text, ':')
		}
		text = jsontext.Append(text, h, cols[p][i])
	}
	return event.HeapValue(kind, h.Put(append(text, end)))
}
