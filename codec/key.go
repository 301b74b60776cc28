package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// The bytes of a key: a tag, then what the kind needs. Tags sort in the order of the kinds; no encoding is a prefix of
// another. This is a format on disk: it may be added to, never changed.
//
//	null, missing   01
//	false, true     02, 03
//	number          04, then see key_number.go; equal ints, decimals and floats have one form
//	string, bytes   05, 06, then the bytes with 00 written as 00 ff, then 00 01
//	time, duration  07, 08, then 8 bytes of milliseconds, big endian, the sign flipped
//	list            09, then the elements, then 00
//	object          0a, then for each member, by name: 01, the name as of a string without its tag, the value; then 00
const (
	tagEnd byte = iota
	tagNull
	tagFalse
	tagTrue
	tagNumber
	tagString
	tagBytes
	tagTime
	tagDuration
	tagList
	tagObject
)

const (
	escapedZero = 0xff
	endOfText   = 0x01
	nextMember  = 0x01
)

// AppendKey appends the canonical bytes of a key to dst. Equal values have equal bytes, different values different ones
// (null, an empty text, 1 and "1" are four), and the bytes sort as the values do, kind by kind. A value of kind JSON must
// be JSON; lists and objects are encoded by their members, an object in the order of its names. An Error encodes as null.
func AppendKey(dst []byte, h *event.Heap, v event.Value) []byte {
	switch v.Kind {
	case event.Bool:
		return append(dst, tagFalse+boolByte(v.Bool()))
	case event.Int, event.Decimal128, event.Float:
		return appendNumber(append(dst, tagNumber), v)
	case event.String:
		return appendText(append(dst, tagString), v.Bytes(h))
	case event.Bytes:
		return appendText(append(dst, tagBytes), v.Bytes(h))
	case event.Instant:
		return appendMillis(append(dst, tagTime), int64(v.Time()))
	case event.Span:
		return appendMillis(append(dst, tagDuration), int64(v.Duration()))
	case event.List, event.Object, event.JSON:
		return appendJSON(dst, v.Bytes(h))
	}
	return append(dst, tagNull)
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendMillis(dst []byte, ms int64) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(ms)^1<<63)
}

func appendText(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, 0)
		if i < 0 {
			dst = append(dst, text...)
			return append(dst, 0, endOfText)
		}
		dst = append(append(dst, text[:i]...), 0, escapedZero)
		text = text[i+1:]
	}
}

// appendJSON encodes checked JSON text.
func appendJSON(dst, b []byte) []byte {
	b = bytes.Trim(b, " \n\r\t")
	if len(b) == 0 {
		return append(dst, tagNull)
	}
	switch b[0] {
	case '{':
		return appendObject(append(dst, tagObject), b)
	case '[':
		dst = append(dst, tagList)
		for m := jsontext.Each(b); m.Next(); {
			dst = appendJSON(dst, m.Value())
		}
		return append(dst, tagEnd)
	case '"':
		return appendRaw(append(dst, tagString), b[1:len(b)-1])
	case 'n':
		return append(dst, tagNull)
	case 't', 'f':
		return append(dst, tagFalse+boolByte(b[0] == 't'))
	}
	return appendNumber(append(dst, tagNumber), jsontext.Number(b))
}

// appendRaw is appendText for a JSON string without its quotes.
func appendRaw(dst, raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return appendText(dst, raw)
	}
	start := len(dst)
	dst = jsontext.AppendUnescaped(dst, raw)
	zeros := bytes.Count(dst[start:], []byte{0})
	if zeros == 0 {
		return append(dst, 0, endOfText)
	}
	// Make room for the escapes and move the text up from its end.
	from := len(dst)
	dst = append(dst, make([]byte, zeros)...)
	for to := len(dst); from < to; {
		from--
		to--
		c := dst[from]
		if c == 0 {
			dst[to] = escapedZero
			to--
		}
		dst[to] = c
	}
	return append(dst, 0, endOfText)
}

type keyMember struct {
	name       []byte // as it stands between its quotes
	escaped    bool
	start, end int
}

// fewMembers is up to how many members an object key needs no memory.
const fewMembers = 16

func appendObject(dst, b []byte) []byte {
	var few [fewMembers]keyMember
	all := few[:0]
	for m := jsontext.Each(b); m.Next(); {
		all = insertMember(all, keyMember{m.Name(), m.Escaped, m.Start, m.End})
	}
	for _, m := range all {
		dst = appendRaw(append(dst, nextMember), m.name)
		dst = appendJSON(dst, b[m.start:m.end])
	}
	return append(dst, tagEnd)
}

// insertMember keeps members sorted by name; of equal names the later one stays.
func insertMember(all []keyMember, m keyMember) []keyMember {
	lo, hi := 0, len(all)
	for lo < hi {
		mid := (lo + hi) / 2
		switch c := compareNames(&all[mid], &m); {
		case c == 0:
			all[mid] = m
			return all
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return slices.Insert(all, lo, m)
}

func compareNames(a, b *keyMember) int {
	if !a.escaped && !b.escaped {
		return bytes.Compare(a.name, b.name)
	}
	return bytes.Compare(jsontext.AppendUnescaped(nil, a.name), jsontext.AppendUnescaped(nil, b.name))
}

// ordered makes the bits of a float sort as the floats do.
func ordered(f float64) uint64 {
	u := math.Float64bits(f)
	if u>>63 != 0 {
		return ^u
	}
	return u | 1<<63
}

func unordered(u uint64) float64 {
	if u>>63 != 0 {
		return math.Float64frombits(u &^ (1 << 63))
	}
	return math.Float64frombits(^u)
}
