package statestore

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/wgate/wgate/event"
)

// ErrKey is returned for bytes that are not the key of a row.
var ErrKey = errors.New("statestore: not the key of a row")

// Row is the key of a row, taken apart. Which fields count depends on Kind. Key and Cell are spans of the parsed bytes, or
// of a buffer of the Row if the key held escapes; both are good until the next Parse or until those bytes change.
type Row struct {
	Space
	Kind    Kind
	Group   byte
	Segment int64        // SessionRow
	Domain  byte         // TimerRow
	Time    event.Time   // TimerRow
	Window  event.Window // WindowRow, SessionRow
	Key     []byte       // unescaped
	Cell    []byte       // the cell, or a timer's id

	buf []byte
}

// Parse takes the key of a row apart. The error is ErrKey.
func (r *Row) Parse(row []byte) error {
	if len(row) < 6 {
		return ErrKey
	}
	r.Task, r.Op = binary.BigEndian.Uint16(row), binary.BigEndian.Uint16(row[2:])
	r.Kind, r.Group = Kind(row[4]), row[5]
	row = row[6:]
	need := r.Kind.fixed()
	if len(row) < need {
		return ErrKey
	}
	switch r.Kind {
	case WindowRow:
		r.Window = event.Window{End: readTime(row), Start: readTime(row[8:])}
	case SessionRow:
		r.Segment = int64(readTime(row))
	case TimerRow:
		r.Domain, r.Time = row[0], readTime(row[1:])
	case PlainRow:
	default:
		return ErrKey
	}
	var ok bool
	r.Key, row, r.buf, ok = unescape(row[need:], r.buf[:0])
	if !ok {
		return ErrKey
	}
	if r.Kind == SessionRow {
		if len(row) < 16 {
			return ErrKey
		}
		r.Window = event.Window{End: readTime(row), Start: readTime(row[8:])}
		row = row[16:]
	}
	r.Cell = row
	return nil
}

// unescape reads an escaped key at the head of b. Without escapes the key is a span of b, else it is in buf.
func unescape(b, buf []byte) (key, rest, grown []byte, ok bool) {
	start := b
	plain := true
	for {
		i := bytes.IndexByte(b, 0)
		if i < 0 || i+1 >= len(b) {
			return nil, nil, buf, false
		}
		switch b[i+1] {
		case 1:
			if plain {
				return start[:i:i], b[i+2:], buf, true
			}
			buf = append(buf, b[:i]...)
			return buf, b[i+2:], buf, true
		case 0xFF:
			plain = false
			buf = append(buf, b[:i+1]...)
			b = b[i+2:]
		default:
			return nil, nil, buf, false
		}
	}
}

// fixed returns how many bytes stand between the group and the record's key.
func (k Kind) fixed() int {
	switch k {
	case WindowRow:
		return 16
	case SessionRow:
		return 8
	case TimerRow:
		return 9
	}
	return 0
}
