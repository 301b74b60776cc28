package jsontext

import (
	"bytes"
	"slices"

	"github.com/wgate/wgate/event"
)

// Canon writes values in their canonical form: two values are equal exactly if their canonical forms are. It keeps
// scratch memory from call to call and is used by one goroutine at a time. The zero Canon is ready.
//
// The canonical form is JSON without white space in which members stand in the order of their names' bytes, each name
// once (the last one counts), text has only the escapes that it needs, and numbers are written as Append writes them.
type Canon struct {
	members []canonMember
	names   []byte
	a, b    []byte
}

type canonMember struct{ name, nameEnd, start, end int }

// Append appends the canonical form of v to dst.
func (c *Canon) Append(dst []byte, h *event.Heap, v event.Value) []byte {
	switch v.Kind {
	case event.List, event.Object, event.JSON:
		return c.AppendText(dst, v.Bytes(h))
	}
	return Append(dst, h, v)
}

// AppendText appends the canonical form of the checked JSON text b to dst.
func (c *Canon) AppendText(dst, b []byte) []byte {
	b = bytes.TrimRight(b[Space(b, 0):], " \n\r\t")
	if len(b) == 0 {
		return append(dst, "null"...)
	}
	switch b[0] {
	case '{':
		return c.object(dst, b)
	case '[':
		dst = append(dst, '[')
		first := true
		for m := Each(b); m.Next(); first = false {
			if !first {
				dst = append(dst, ',')
			}
			dst = c.AppendText(dst, m.Value())
		}
		return append(dst, ']')
	case '"':
		start := len(c.names)
		c.names = AppendUnescaped(c.names, b[1:len(b)-1])
		dst = AppendString(dst, c.names[start:])
		c.names = c.names[:start]
		return dst
	case 't', 'f', 'n':
		return append(dst, b...)
	}
	return Append(dst, nil, Number(b))
}

func (c *Canon) object(dst, b []byte) []byte {
	first, names := len(c.members), len(c.names)
	for m := Each(b); m.Next(); {
		at := len(c.names)
		c.names = AppendUnescaped(c.names, m.Name())
		c.members = append(c.members, canonMember{at, len(c.names), m.Start, m.End})
	}
	all := c.members[first:]
	slices.SortStableFunc(all, func(x, y canonMember) int {
		return bytes.Compare(c.names[x.name:x.nameEnd], c.names[y.name:y.nameEnd])
	})
	dst = append(dst, '{')
	open := len(dst)
	for i := range all {
		m := c.members[first+i] // an inner object may have moved the slice
		name := c.names[m.name:m.nameEnd]
		if i+1 < len(all) {
			next := c.members[first+i+1]
			if bytes.Equal(name, c.names[next.name:next.nameEnd]) {
				continue
			}
		}
		if len(dst) > open {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, name), ':')
		dst = c.AppendText(dst, b[m.start:m.end])
	}
	c.members, c.names = c.members[:first], c.names[:names]
	return append(dst, '}')
}
