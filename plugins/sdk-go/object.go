package wgate

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
	"unsafe"
)

// Object writes a JSON object straight into the output frame. Fields stand in the order of the calls; a name must not be
// given twice.
type Object struct {
	o     *Emitter
	start int
	depth int
	more  bool // a field was written on this level
}

// Emit ends the object, closing what is open, and makes the row.
func (w *Object) Emit() Row {
	for w.depth > 0 {
		w.Close()
	}
	o := w.o
	o.frame = append(o.frame, '}')
	e := o.add()
	e.given, e.offset, e.length, e.form = givenValue, uint32(w.start), uint32(len(o.frame)-w.start), formJSON
	return Row{o, len(o.emits) - 1}
}

// name writes the comma, the name and the colon, with room for extra bytes behind it and 8 more.
func (w *Object) name(name string, extra uint) {
	o := w.o
	n := uint(len(name))
	at := uint(len(o.frame))
	if uint(cap(o.frame)) < at+n+extra+16 {
		o.frame = slices.Grow(o.frame, int(n+extra)+16)
	}
	to, p := unsafe.Pointer(unsafe.SliceData(o.frame)), unsafe.Pointer(unsafe.StringData(name))
	if w.more {
		*(*byte)(unsafe.Add(to, at)) = ','
		at++
	}
	w.more = true
	*(*byte)(unsafe.Add(to, at)) = '"'
	at++
	switch {
	case n-1 < 7:
		v := short(p, n)
		if (special(v|' '*ones<<(8*n&63)) | v&highs) != 0 {
			w.oddName(name, at)
			return
		}
		store8(to, at, v)
	case n-8 <= 8:
		v, last := load8(p, 0), load8(p, n-8)
		if (special(v) | special(last) | (v|last)&highs) != 0 {
			w.oddName(name, at)
			return
		}
		store8(to, at, v)
		store8(to, at+n-8, last)
	default:
		w.oddName(name, at)
		return
	}
	*(*uint16)(unsafe.Add(to, at+n)) = '"' | ':'<<8
	o.frame = o.frame[:at+n+2]
}

// oddName writes a name that is long, empty, or needs escapes; its quote is already at at-1.
func (w *Object) oddName(name string, at uint) {
	w.o.frame = append(appendString(w.o.frame[:at-1], name), ':')
	w.o.frame = slices.Grow(w.o.frame, 40)
}

// Int writes an integer field. The methods return w, for chains.
func (w *Object) Int(name string, v int64) *Object {
	w.name(name, 24)
	o := w.o
	if uint64(v) >= 1e16 {
		o.frame = strconv.AppendInt(o.frame, v, 10)
		return w
	}
	at := uint(len(o.frame))
	to := unsafe.Pointer(unsafe.SliceData(o.frame))
	u := uint64(v)
	if u >= 1e8 {
		d := eightDigits(u / 1e8)
		skip := lowest(d) // digits are below 16: a byte that is not 0 has its lowest bit in its low half
		store8(to, at, (d+'0'*ones)>>(8*skip&63))
		at += 8 - skip
		store8(to, at, eightDigits(u%1e8)+'0'*ones)
		at += 8
	} else {
		d := eightDigits(u)
		skip := min(lowest(d), 7)
		store8(to, at, (d+'0'*ones)>>(8*skip&63))
		at += 8 - skip
	}
	o.frame = o.frame[:at]
	return w
}

// Float writes a number in the shortest form that reads back; NaN and infinities, which JSON lacks, become null.
func (w *Object) Float(name string, v float64) *Object {
	w.name(name, 8)
	w.o.frame = appendFloat(w.o.frame, v)
	return w
}

// Bool writes true or false.
func (w *Object) Bool(name string, v bool) *Object {
	w.name(name, 8)
	w.o.frame = strconv.AppendBool(w.o.frame, v)
	return w
}

// Null writes null.
func (w *Object) Null(name string) *Object {
	w.name(name, 8)
	w.o.frame = append(w.o.frame, "null"...)
	return w
}

// String writes a string.
func (w *Object) String(name, v string) *Object {
	w.name(name, 8)
	w.o.frame = appendString(w.o.frame, v)
	return w
}

// Text writes a string from bytes.
func (w *Object) Text(name string, v []byte) *Object {
	w.name(name, 8)
	w.o.frame = appendString(w.o.frame, v)
	return w
}

// Raw writes a value that is JSON text already, such as Scanner.Raw; empty is null.
func (w *Object) Raw(name string, json []byte) *Object {
	if len(json) == 0 {
		return w.Null(name)
	}
	n := uint(len(json))
	w.name(name, n)
	o := w.o
	if uint(cap(o.frame)) < uint(len(o.frame))+n+8 {
		o.frame = slices.Grow(o.frame, int(n)+8) // the name had escapes
	}
	at := uint(len(o.frame))
	o.frame = o.frame[:at+n]
	copyText(unsafe.Pointer(&o.frame[at]), unsafe.Pointer(&json[0]), n)
	return w
}

// Open starts an object inside this one; Close ends it.
func (w *Object) Open(name string) *Object {
	w.name(name, 8)
	w.o.frame = append(w.o.frame, '{')
	w.depth++
	w.more = false
	return w
}

// Close ends what Open started.
func (w *Object) Close() *Object {
	w.o.frame = append(w.o.frame, '}')
	w.depth--
	w.more = true
	return w
}

func appendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// AppendFloat appends v to dst as every wgate SDK prints a float in JSON: in the shortest form that reads back, with an
// exponent from 1e21 on and below 1e-6. NaN and infinities, which JSON lacks, become null.
func AppendFloat(dst []byte, v float64) []byte { return appendFloat(dst, v) }

// appendFloat prints as ECMAScript does: exponents from 1e21 on and below 1e-6.
func appendFloat(dst []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(dst, "null"...)
	}
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		at := len(dst)
		dst = strconv.AppendFloat(dst, v, 'e', -1, 64)
		// 1e-07 becomes 1e-7.
		if n := len(dst); n-at >= 4 && dst[n-4] == 'e' && dst[n-2] == '0' {
			dst[n-2] = dst[n-1]
			dst = dst[:n-1]
		}
		return dst
	}
	return strconv.AppendFloat(dst, v, 'f', -1, 64)
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. Bytes that are no UTF-8 become U+FFFD.
func appendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			tail := s[i:min(len(s), i+utf8.UTFMax)]
			if r, n := utf8.DecodeRuneInString(string(tail)); r != utf8.RuneError || n > 1 {
				i += n
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		dst = appendEscape(dst, c)
		i++
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if c >= utf8.RuneSelf {
		return append(dst, "\ufffd"...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
