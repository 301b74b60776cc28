package scenario

import (
	"encoding/base64"
	"strconv"
	"unicode/utf8"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/host/engine"
)

// row is a row that a collection or a sink gave. Texts are canonical JSON, so that equal ones are equal.
type row struct {
	key      string
	rawKey   string // of a sink's record: the key as a text, which a text may be meant by; else empty
	value    string
	time     event.Time
	windowed bool
	window   event.Window
	paned    bool
	pane     event.Pane
	retract  bool
	epoch    int // in which it came
}

// collection is what a collection has given since it was last looked at.
type collection struct {
	name string
	rows []row
}

// recorder keeps what the collections and sinks of a scenario give.
type recorder struct {
	byName map[string]*collection
	names  []string
	dead   []deadLetter
	epoch  int
	canon  jsontext.Canon
}

func newRecorder() *recorder { return &recorder{byName: map[string]*collection{}} }

// keep makes the recorder keep what name gives.
func (r *recorder) keep(name string) {
	if r.byName[name] == nil {
		r.byName[name] = &collection{name: name}
		r.names = append(r.names, name)
	}
}

// committed says that everything up to now will not be lost any more.
func (r *recorder) committed() { r.epoch++ }

// crashed forgets what has come since the last commit and was not expected yet: nobody will have seen it.
func (r *recorder) crashed() {
	for _, c := range r.byName { // order does not matter: each is looked at alone
		for i := range c.rows {
			if c.rows[i].epoch == r.epoch {
				c.rows = c.rows[:i]
				break
			}
		}
	}
}

// Take keeps rows of a collection.
func (r *recorder) Take(name string, b *event.Bundle) {
	c := r.byName[name]
	if c == nil {
		return
	}
	for i := range b.Len() {
		one := row{
			key: r.text(b.Heap, b.Keys[i]), value: r.text(b.Heap, b.Values[i]), time: b.Times[i],
			retract: b.Ops[i] == event.Retract, epoch: r.epoch,
		}
		if len(b.Windows) > 0 {
			one.windowed, one.window = true, b.Windows[i]
		}
		if len(b.Panes) > 0 {
			one.paned, one.pane = true, b.Panes[i]
		}
		c.rows = append(c.rows, one)
	}
}

func (r *recorder) text(h *event.Heap, v event.Value) string {
	return string(r.canon.Append(nil, h, v))
}

// canonical returns the canonical form of checked JSON text.
func (r *recorder) canonical(text []byte) string { return string(r.canon.AppendText(nil, text)) }

// takeRecord keeps a record of a sink: what is in it, the window and pane by its headers.
func (r *recorder) takeRecord(name, encode string, rec *engine.Record) {
	c := r.byName[name]
	if c == nil {
		return
	}
	one := row{key: "null", value: "null", time: rec.Timestamp, epoch: r.epoch}
	if rec.Key != nil {
		one.key = r.readable(rec.Key, "json")
		one.rawKey = string(jsontext.AppendString(nil, rec.Key))
	}
	if rec.Value != nil {
		one.value = r.readable(rec.Value, encode)
	}
	for _, h := range rec.Headers {
		one.header(h.Key, string(h.Value))
	}
	c.rows = append(c.rows, one)
}

// readable shows encoded bytes as JSON: JSON as it is, a text as a text, other bytes as base64.
func (r *recorder) readable(b []byte, encode string) string {
	switch {
	case encode == "json" && jsontext.Valid(b):
		return r.canonical(b)
	case encode != "bytes" && utf8.Valid(b):
		return string(jsontext.AppendString(nil, b))
	}
	return strconv.Quote(base64.StdEncoding.EncodeToString(b))
}

// header takes in a header that says where a result comes from.
func (w *row) header(name, value string) {
	num := func() int64 {
		n, _ := strconv.ParseInt(value, 10, 64)
		return n
	}
	switch name {
	case "wgate-window-start":
		w.windowed, w.window.Start = true, event.Time(num())
	case "wgate-window-end":
		w.windowed, w.window.End = true, event.Time(num())
	case "wgate-pane-index":
		w.paned, w.pane.Index = true, uint32(num())
		w.pane.First = w.pane.Index == 0
	case "wgate-pane-timing":
		for t := event.Early; t <= event.Late; t++ {
			if t.String() == value {
				w.pane.Timing = t
			}
		}
	case "wgate-pane-last":
		w.pane.Last = value == "true"
	case "wgate-op":
		w.retract = value == event.Retract.String()
	}
}

// keyValue is the key of a record as the engine has it.
func keyValue(h *event.Heap, key []byte) event.Value {
	switch {
	case key == nil:
		return event.NullValue()
	case utf8.Valid(key):
		return event.HeapValue(event.String, h.Put(key))
	}
	return event.HeapValue(event.Bytes, h.Put(key))
}

// plain is the text of a JSON string, or the JSON of anything else.
func plain(text []byte) []byte {
	if text[0] == '"' {
		return jsontext.AppendUnescaped([]byte{}, text[1:len(text)-1]) // the empty text is not null
	}
	return text
}
