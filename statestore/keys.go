package statestore

import (
	"bytes"
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"github.com/wgate/wgate/event"
)

// Kind is the family of a row: how the part of its key after the group is laid out.
type Kind byte

// The kinds of rows.
const (
	WindowRow  Kind = 1 // end | start | key | cell: a closed window is one range
	SessionRow Kind = 2 // segment | key | end | start | cell (KIP-94)
	PlainRow   Kind = 3 // key | cell
	TimerRow   Kind = 4 // domain | time | key | id
)

// KeyGroups is the number of key groups. It is fixed for the life of a pipeline.
const KeyGroups = 128

// KeyGroup returns the group of an encoded key: its xxhash64 modulo KeyGroups.
func KeyGroup(key []byte) byte { return byte(xxhash.Sum64(key) % KeyGroups) }

// MaxTask is the highest number of a task. The number above it holds the rows of the store itself.
const MaxTask = 0xFFFE

// Space is the rows of one operator of one task. Its methods append a row's key, or a prefix of keys, to dst and return
// the grown slice; dst may be nil. A key is task u16, op u16, kind, group and what the kind asks for. Numbers are
// big-endian, times have their sign bit flipped, so that keys sort as times do. The record's key is escaped and ends
// itself, so that every method called without its last part gives the prefix of all rows that have the parts before.
type Space struct{ Task, Op uint16 }

// Prefix appends the prefix of all rows of the operator.
func (s Space) Prefix(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(dst, s.Task)
	return binary.BigEndian.AppendUint16(dst, s.Op)
}

// Group appends the prefix of all rows of one kind and key group.
func (s Space) Group(dst []byte, kind Kind, group byte) []byte {
	return append(s.Prefix(dst), byte(kind), group)
}

// WindowEnd appends the prefix of all cells of the windows that end at end.
func (s Space) WindowEnd(dst []byte, group byte, end event.Time) []byte {
	return appendTime(s.Group(dst, WindowRow, group), end)
}

// WindowAll appends the prefix of all cells of one window.
func (s Space) WindowAll(dst []byte, group byte, w event.Window) []byte {
	return appendTime(s.WindowEnd(dst, group, w.End), w.Start)
}

// Window appends the key of a cell of a window. A nil cell gives the prefix of all cells of key in the window.
func (s Space) Window(dst []byte, group byte, w event.Window, key, cell []byte) []byte {
	return append(AppendEscaped(s.WindowAll(dst, group, w), key), cell...)
}

// SessionSegment appends the prefix of all sessions in a segment. Which sessions lie in which segment is the caller's
// choice; KIP-94 divides the session's end by a fixed length.
func (s Space) SessionSegment(dst []byte, group byte, segment int64) []byte {
	return appendTime(s.Group(dst, SessionRow, group), event.Time(segment))
}

// SessionKey appends the prefix of all sessions of key in a segment.
func (s Space) SessionKey(dst []byte, group byte, segment int64, key []byte) []byte {
	return AppendEscaped(s.SessionSegment(dst, group, segment), key)
}

// SessionEnd appends the prefix of the sessions of key in a segment that end at end: the place where a scan for sessions
// that reach to a time begins.
func (s Space) SessionEnd(dst []byte, group byte, segment int64, key []byte, end event.Time) []byte {
	return appendTime(s.SessionKey(dst, group, segment, key), end)
}

// Session appends the key of a cell of a session. A nil cell gives the prefix of all its cells.
func (s Space) Session(dst []byte, group byte, segment int64, key []byte, w event.Window, cell []byte) []byte {
	return append(appendTime(s.SessionEnd(dst, group, segment, key, w.End), w.Start), cell...)
}

// Plain appends the key of a cell that is in no window. A nil cell gives the prefix of all cells of key.
func (s Space) Plain(dst []byte, group byte, key, cell []byte) []byte {
	return append(AppendEscaped(s.Group(dst, PlainRow, group), key), cell...)
}

// TimerDomain appends the prefix of all timers of a domain, in order of their times.
func (s Space) TimerDomain(dst []byte, group, domain byte) []byte {
	return append(s.Group(dst, TimerRow, group), domain)
}

// TimerTime appends the prefix of the timers of a domain that are set for at.
func (s Space) TimerTime(dst []byte, group, domain byte, at event.Time) []byte {
	return appendTime(s.TimerDomain(dst, group, domain), at)
}

// Timer appends the key of a timer.
func (s Space) Timer(dst []byte, group, domain byte, at event.Time, key, id []byte) []byte {
	return append(AppendEscaped(s.TimerTime(dst, group, domain, at), key), id...)
}

// WindowsUntil appends to lo and hi the range of all cells of the group whose window ends at or before t.
func (s Space) WindowsUntil(lo, hi []byte, group byte, t event.Time) (from, to []byte) {
	from = s.Group(lo, WindowRow, group)
	if t == event.MaxTime {
		return from, PrefixEnd(hi, from[len(lo):])
	}
	return from, s.WindowEnd(hi, group, t+1)
}

// TimersUntil appends to lo and hi the range of all timers of a domain that are set for t or before.
func (s Space) TimersUntil(lo, hi []byte, group, domain byte, t event.Time) (from, to []byte) {
	from = s.TimerDomain(lo, group, domain)
	if t == event.MaxTime {
		return from, PrefixEnd(hi, from[len(lo):])
	}
	return from, s.TimerTime(hi, group, domain, t+1)
}

// PrefixEnd appends the first key after all keys that begin with prefix. It returns nil, which is no bound, if there is
// no such key: the prefix is empty or nothing but 0xFF.
func PrefixEnd(dst, prefix []byte) []byte {
	n := len(prefix)
	for n > 0 && prefix[n-1] == 0xFF {
		n--
	}
	if n == 0 {
		return nil
	}
	dst = append(dst, prefix[:n]...)
	dst[len(dst)-1]++
	return dst
}

// appendTime appends t so that bytes sort as times do.
func appendTime(dst []byte, t event.Time) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(t)^1<<63)
}

func readTime(b []byte) event.Time { return event.Time(binary.BigEndian.Uint64(b) ^ 1<<63) }

// AppendEscaped appends key so that it ends itself and sorts as key does: 0x00 becomes 0x00 0xFF, the end is 0x00 0x01.
func AppendEscaped(dst, key []byte) []byte {
	for {
		i := bytes.IndexByte(key, 0)
		if i < 0 {
			return append(append(dst, key...), 0, 1)
		}
		dst = append(append(dst, key[:i]...), 0, 0xFF)
		key = key[i+1:]
	}
}
