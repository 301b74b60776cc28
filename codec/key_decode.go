package codec

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

var errKey = errors.New("codec: these are not the bytes of a key")

// DecodeKey is the reverse of AppendKey. Text and compound values are written to h. A number comes back as an int if it is
// one, else as a decimal, else as a float; the members of an object come in the order of their names (RestoreKey puts
// them into a declared order). The error is for bytes that AppendKey never wrote.
func DecodeKey(b []byte, h *event.Heap) (event.Value, error) {
	v, rest, err := readKey(b, h)
	if err != nil {
		return event.Value{}, err
	}
	if len(rest) > 0 {
		return event.Value{}, errKey
	}
	return v, nil
}

func readKey(b []byte, h *event.Heap) (v event.Value, rest []byte, err error) {
	if len(b) == 0 {
		return v, nil, errKey
	}
	tag := b[0]
	switch tag {
	case tagNull:
		return event.NullValue(), b[1:], nil
	case tagFalse, tagTrue:
		return event.BoolValue(tag == tagTrue), b[1:], nil
	case tagNumber:
		return readNumber(b[1:])
	case tagString, tagBytes:
		text, rest, ok := readText(h.Begin(), b[1:])
		if !ok {
			return v, nil, errKey
		}
		kind := event.String
		if tag == tagBytes {
			kind = event.Bytes
		}
		return event.HeapValue(kind, h.End(text)), rest, nil
	case tagTime, tagDuration:
		if len(b) < 9 {
			return v, nil, errKey
		}
		ms := int64(binary.BigEndian.Uint64(b[1:]) ^ 1<<63)
		if tag == tagTime {
			return event.TimeValue(event.Time(ms)), b[9:], nil
		}
		return event.DurationValue(event.Duration(ms)), b[9:], nil
	case tagList, tagObject:
		text, rest, ok := readJSON(h.Begin(), b, 0)
		if !ok {
			return v, nil, errKey
		}
		kind := event.List
		if tag == tagObject {
			kind = event.Object
		}
		return event.HeapValue(kind, h.End(text)), rest, nil
	}
	return v, nil, errKey
}

// readText appends an escaped text to dst.
func readText(dst, b []byte) (out, rest []byte, ok bool) {
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 || i+1 >= len(b) {
			return dst, nil, false
		}
		dst = append(dst, b[:i]...)
		switch b[i+1] {
		case endOfText:
			return dst, b[i+2:], true
		case escapedZero:
			dst = append(dst, 0)
			b = b[i+2:]
		default:
			return dst, nil, false
		}
	}
}

// readJSON appends a value inside of a list or object as JSON. It works on dst alone, so that the heap may be open.
func readJSON(dst, b []byte, depth int) (out, rest []byte, ok bool) {
	if len(b) == 0 || depth > jsontext.MaxDepth {
		return dst, nil, false
	}
	switch b[0] {
	case tagString:
		return quoteText(dst, b[1:])
	case tagBytes:
		start := len(dst)
		dst, rest, ok = readText(dst, b[1:])
		if !ok {
			return dst, nil, false
		}
		raw := base64.StdEncoding.EncodeToString(dst[start:])
		return jsontext.AppendString(dst[:start], raw), rest, true
	case tagList:
		dst, b = append(dst, '['), b[1:]
		for n := 0; len(b) > 0 && b[0] != tagEnd; n++ {
			if n > 0 {
				dst = append(dst, ',')
			}
			if dst, b, ok = readJSON(dst, b, depth+1); !ok {
				return dst, nil, false
			}
		}
		return closeJSON(dst, b, ']')
	case tagObject:
		dst, b = append(dst, '{'), b[1:]
		for n := 0; len(b) > 0 && b[0] == nextMember; n++ {
			if n > 0 {
				dst = append(dst, ',')
			}
			if dst, b, ok = quoteText(dst, b[1:]); !ok {
				return dst, nil, false
			}
			if dst, b, ok = readJSON(append(dst, ':'), b, depth+1); !ok {
				return dst, nil, false
			}
		}
		return closeJSON(dst, b, '}')
	}
	v, rest, err := readKey(b, nil) // of the kinds that are left none uses the heap
	if err != nil {
		return dst, nil, false
	}
	return jsontext.Append(dst, nil, v), rest, true
}

func closeJSON(dst, b []byte, c byte) (out, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != tagEnd {
		return dst, nil, false
	}
	return append(dst, c), b[1:], true
}

// quoteText appends an escaped text as a JSON string.
func quoteText(dst, b []byte) (out, rest []byte, ok bool) {
	start := len(dst)
	dst, rest, ok = readText(dst, b)
	if !ok {
		return dst, nil, false
	}
	end := len(dst)
	dst = jsontext.AppendString(dst, dst[start:])
	n := copy(dst[start:], dst[end:])
	return dst[:start+n], rest, true
}

// RestoreKey gives a decoded key the form of its declared type: a number its kind, and an object its members in the
// order of the type's fields, then those that the type does not have. What does not fit the type is left as it is.
func RestoreKey(h *event.Heap, v event.Value, t event.Type) event.Value {
	switch {
	case t.Kind == event.Decimal128 && v.Kind == event.Int:
		return event.DecimalValue(event.DecimalFromInt(v.Int()))
	case t.Kind == event.Float && v.Kind == event.Int:
		return event.FloatValue(float64(v.Int()))
	case t.Kind == event.Float && v.Kind == event.Decimal128:
		return event.FloatValue(v.Decimal().Float())
	case t.Kind == event.Object && v.Kind == event.Object && len(t.Fields) > 1:
		return reorder(h, v, t)
	}
	return v
}

func reorder(h *event.Heap, v event.Value, t event.Type) event.Value {
	obj := v.Bytes(h)
	buf := append(h.Begin(), '{')
	open := len(buf)
	add := func(name []byte, start, end int) {
		if len(buf) > open {
			buf = append(buf, ',')
		}
		buf = append(append(append(buf, '"'), name...), '"', ':')
		buf = append(buf, obj[start:end]...)
	}
	for i := range t.Fields {
		for m := jsontext.Each(obj); m.Next(); {
			if m.Is(t.Fields[i].Name) {
				add(m.Name(), m.Start, m.End)
				break
			}
		}
	}
	for m := jsontext.Each(obj); m.Next(); {
		declared := false
		for i := range t.Fields {
			declared = declared || m.Is(t.Fields[i].Name)
		}
		if !declared {
			add(m.Name(), m.Start, m.End)
		}
	}
	return event.HeapValue(event.Object, h.End(append(buf, '}')))
}
