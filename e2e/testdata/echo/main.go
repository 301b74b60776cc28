// Command echo is a plugin for tests that gives back what it gets, each function in another way.
package main

import (
	"errors"

	wgate "github.com/wgate/wgate/plugins/sdk-go"
)

func init() {
	wgate.Plugin("echo", "1.0.0")
	wgate.DoFn("keep", keep, wgate.Pure())
	wgate.DoFn("copy", copied, wgate.Pure())
	wgate.DoFn("bare", bare, wgate.Pure())
	wgate.DoFn("mark", mark, wgate.Pure())
	wgate.DoFn("split", split, wgate.Tags("odd", "unread"))
	wgate.OnOpen(func(c *wgate.Config) error {
		word = c.String("word", "none")
		if word == "refuse" {
			return errors.New("this word is not liked")
		}
		return nil
	})
	wgate.DoFn("moody", moody)
}

var (
	word    string
	forever = true
	hoard   [][]byte
)

func main() {}

// keep passes the element on as it is.
func keep(_ *wgate.Element, out *wgate.Emitter) { out.Keep() }

// copied makes the element anew, of everything that it can read of it.
func copied(e *wgate.Element, out *wgate.Emitter) {
	var r wgate.Row
	switch e.ValueForm() {
	case wgate.Null, wgate.Missing:
		r = out.EmitNull()
	case wgate.Bytes:
		r = out.EmitBytes(e.Value())
	case wgate.Text:
		r = out.EmitText(e.Value())
	default:
		r = out.Emit(e.Value())
	}
	switch e.KeyForm() {
	case wgate.Null, wgate.Missing:
		r.KeyNull()
	case wgate.Bytes:
		r.KeyBytes(e.Key())
	default:
		r.Key(e.Key())
	}
	r.Time(e.Time())
	r.NoHeaders()
	for i := range e.Headers() {
		name, value := e.Header(i)
		r.Header(string(name), value)
	}
}

// bare takes the headers off.
func bare(_ *wgate.Element, out *wgate.Emitter) { out.EmitSame().NoHeaders() }

// mark gives every second element a header, and keeps the others.
func mark(e *wgate.Element, out *wgate.Emitter) {
	if e.Index()%2 == 0 {
		out.EmitSame().Header("mark", []byte("even"))
		return
	}
	out.Keep()
}

// split sends elements whose value has an odd number of bytes to a side output, and a copy of all to one that nobody reads.
func split(e *wgate.Element, out *wgate.Emitter) {
	if len(e.Value())%2 == 1 {
		out.EmitSame().To(1)
	} else {
		out.Keep()
	}
	out.EmitSame().To(2)
}

// moody does what the value says, and else tells the word of its configuration.
func moody(e *wgate.Element, out *wgate.Emitter) {
	switch string(e.Value()) {
	case `"panic"`:
		var none []int
		out.Count("n", int64(none[len(e.Value())]))
	case `"loop"`:
		for forever {
		}
	case `"refuse"`:
		out.Keep()
		out.Fail("not_liked", "the guest does not like it")
	case `"flood"`:
		out.Emit(make([]byte, 4<<20))
	case `"hoard"`:
		for forever {
			hoard = append(hoard, make([]byte, 1<<20))
		}
	case `"broken"`:
		out.Emit([]byte(`{"broken":`))
	case `"drop"`:
	default:
		out.Object().String("word", word).Raw("value", e.Value()).Emit()
	}
}
