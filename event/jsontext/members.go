package jsontext

import "github.com/wgate/wgate/event"

// Walk goes over the members of an object, or the elements of a list, in the order of the text. The text must have been
// checked. The zero Walk has none.
type Walk struct {
	b      []byte
	i      int
	object bool

	NameStart, NameEnd int  // the name between its quotes; of objects
	Escaped            bool // whether the name has escapes
	Start, End         int  // the value
}

// Each starts a walk over the object or list b, which may have white space around it. Of any other value it walks over
// nothing.
func Each(b []byte) Walk {
	i := Space(b, 0)
	if i >= len(b) || b[i] != '{' && b[i] != '[' {
		return Walk{}
	}
	return Walk{b: b, i: Space(b, i+1), object: b[i] == '{'}
}

// Next goes to the next member and reports whether there is one.
func (m *Walk) Next() bool {
	if m.i >= len(m.b) || m.b[m.i] == closer(m.object) {
		return false
	}
	if m.object {
		end, escaped, ok := SkipString(m.b, m.i)
		if !ok {
			return false
		}
		m.NameStart, m.NameEnd, m.Escaped = m.i+1, end-1, escaped
		m.i = Space(m.b, Space(m.b, end)+1)
	}
	end, ok := Skip(m.b, m.i, 0)
	if !ok {
		return false
	}
	m.Start, m.End = m.i, end
	m.i = Space(m.b, end)
	if m.i < len(m.b) && m.b[m.i] == ',' {
		m.i = Space(m.b, m.i+1)
	}
	return true
}

// Name returns the name as it stands between its quotes.
func (m *Walk) Name() []byte { return m.b[m.NameStart:m.NameEnd] }

// Value returns the text of the value.
func (m *Walk) Value() []byte { return m.b[m.Start:m.End] }

// Is reports whether the member's name is s.
func (m *Walk) Is(s string) bool {
	if !m.Escaped {
		return string(m.b[m.NameStart:m.NameEnd]) == s
	}
	return SameText(m.Name(), s)
}

// Find returns where the value of member name lies in the object b; of several the last one. ok is false if there is none
// or b is not an object.
func Find(b []byte, name string) (start, end int, ok bool) {
	m := Each(b)
	if !m.object {
		return 0, 0, false
	}
	for m.Next() {
		if m.Is(name) {
			start, end, ok = m.Start, m.End, true
		}
	}
	return start, end, ok
}

// At returns where element n of the list b lies, counting from 0. ok is false if there is none or b is not a list.
func At(b []byte, n int) (start, end int, ok bool) {
	m := Each(b)
	if m.object || n < 0 {
		return 0, 0, false
	}
	for m.Next() {
		if n == 0 {
			return m.Start, m.End, true
		}
		n--
	}
	return 0, 0, false
}

// Count returns the number of elements of the list b, or of members of the object b, repeated names counted once each time.
func Count(b []byte) int {
	n := 0
	for m := Each(b); m.Next(); {
		n++
	}
	return n
}

// Members calls yield with every element of the list v, or every value of the object v, until it returns false. Texts
// with escapes are written to h.
func Members(h *event.Heap, v event.Value, yield func(event.Value) bool) {
	if v.Kind != event.List && v.Kind != event.Object && v.Kind != event.JSON {
		return
	}
	off := v.Ref().Off
	for m := Each(v.Bytes(h)); m.Next(); {
		if !yield(ReadAt(h, m.Value(), off+uint32(m.Start))) {
			return
		}
	}
}
