package wgate

import (
	"errors"
	"strconv"
	"unsafe"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values. NoValue is what a Scanner has before the first and after the last one.
const (
	NoValue Kind = iota
	NullKind
	BoolKind
	NumberKind
	StringKind
	ArrayKind
	ObjectKind
)

// Errors of a Scanner.
var (
	ErrJSON     = errors.New("not valid JSON")
	ErrNoObject = errors.New("neither a JSON object nor an array")
)

// Scanner walks over the fields of a JSON object or the members of a JSON array and allocates nothing, unless a string
// holds escapes. It looks at one level: a value inside is an object or an array as a whole, whose text Raw returns, to be
// scanned by another Scanner (and checked only then).
//
//	s := e.Scan()
//	for s.Next() {
//		switch string(s.Name()) { // does not allocate
//		case "points":
//			points, ok = s.Int()
//		}
//	}
//	if s.Err() != nil { ... }
//
// Numbers are checked, and whole ones read, as they are passed over. The bytes that it returns are parts of the text, or of
// the Scanner when there were escapes, and then good until the next call of Next.
type Scanner struct {
	b       []byte
	i       uint
	names   span32 // the field's name
	raws    span32 // the value
	scratch []byte
	num     int64
	kind    Kind
	whole   bool // the number is an integer and fits num
	escaped bool // the string holds escapes
	odd     bool // the name holds escapes
	closing byte // of the object or array
	first   bool // no comma is due
	state   scanState
	err     error
}

// span32 is a run of bytes of the text.
type span32 struct{ from, to uint32 }

type scanState uint8

const (
	atStart scanState = iota
	inside
	atEnd
)

// Scan returns a Scanner over text, which must be shorter than 4 GiB.
func Scan(text []byte) Scanner { return Scanner{b: text} }

// Reset makes s a Scanner over text and keeps its memory.
func (s *Scanner) Reset(text []byte) {
	s.b, s.i, s.state, s.kind = text, 0, atStart, NoValue
	s.names, s.raws, s.odd, s.first, s.closing = span32{}, span32{}, false, false, 0
	if s.err != nil {
		s.err = nil
	}
}

// Err returns why Next stopped before the end, nil if it did not.
func (s *Scanner) Err() error { return s.err }

// Name returns the name of the field, empty in an array.
func (s *Scanner) Name() []byte {
	if s.odd {
		return s.oddName()
	}
	return s.b[s.names.from:s.names.to]
}

// oddName returns a name that holds escapes.
func (s *Scanner) oddName() []byte {
	at := len(s.scratch)
	s.scratch, _ = unescape(s.scratch, s.b[s.names.from:s.names.to])
	return s.scratch[at:]
}

// Kind returns the kind of the value.
func (s *Scanner) Kind() Kind { return s.kind }

// Raw returns the text of the value as it stands.
func (s *Scanner) Raw() []byte { return s.b[s.raws.from:s.raws.to] }

// Int returns the value if it is an integer, written without fraction and exponent, that fits 64 bits.
func (s *Scanner) Int() (v int64, ok bool) { return s.num, s.kind == NumberKind && s.whole }

// Float returns the value if it is a number.
func (s *Scanner) Float() (v float64, ok bool) {
	if s.kind != NumberKind {
		return 0, false
	}
	if s.whole && s.num > -1<<53 && s.num < 1<<53 {
		return float64(s.num), true
	}
	v, err := strconv.ParseFloat(string(s.Raw()), 64)
	return v, err == nil
}

// Bool returns the value if it is true or false.
func (s *Scanner) Bool() (v, ok bool) {
	return s.kind == BoolKind && s.b[s.raws.from] == 't', s.kind == BoolKind
}

// Text returns the value if it is a string, without quotes and escapes.
func (s *Scanner) Text() (v []byte, ok bool) {
	if s.kind != StringKind {
		return nil, false
	}
	in := s.b[s.raws.from+1 : s.raws.to-1]
	if !s.escaped {
		return in, true
	}
	at := len(s.scratch)
	s.scratch, ok = unescape(s.scratch, in)
	if !ok {
		return nil, false
	}
	return s.scratch[at:], true
}

func (s *Scanner) stop(err error) bool {
	s.err, s.state, s.kind, s.odd, s.names, s.raws = err, atEnd, NoValue, false, span32{}, span32{}
	return false
}

// space skips white space.
func (s *Scanner) space() {
	for s.i < uint(len(s.b)) {
		if c := s.b[s.i]; c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return
		}
		s.i++
	}
}

// peek returns the next byte that is no white space, 0 at the end.
func (s *Scanner) peek() byte {
	if s.i < uint(len(s.b)) && s.b[s.i] > ' ' {
		return s.b[s.i]
	}
	return s.peekSlow()
}

func (s *Scanner) peekSlow() byte {
	s.space()
	if s.i < uint(len(s.b)) {
		return s.b[s.i]
	}
	return 0
}

// Next moves to the next field or member. It returns false at the end and on an error.
//
// It reads the usual case, a name and a value of at most 16 bytes each without a blank, in one go, and leaves all others to
// step. It is one long function on purpose: see words.go.
func (s *Scanner) Next() bool {
	p, n, i := unsafe.Pointer(unsafe.SliceData(s.b)), uint(len(s.b)), s.i
	s.scratch = s.scratch[:0]
	if n < 8 || i+2 >= n {
		return s.step()
	}
	// An opening bracket and a quote, or a comma and a quote.
	switch {
	case load1(p, i+1) != '"':
		return s.step()
	case s.state == inside && s.closing == '}' && !s.first && load1(p, i) == ',':
	case s.state != atStart || load1(p, i) != '{':
		return s.step()
	}
	i += 2
	from := i
	k := lowest(special(word(p, i, n)))
	if k == 8 && i+8 < n {
		i += 8
		k = lowest(special(word(p, i, n)))
	}
	if i += k; i+2 >= n || *(*uint16)(unsafe.Add(p, i)) != '"'|':'<<8 {
		return s.step()
	}
	names := span32{uint32(from), uint32(i)}
	i += 2
	from = i
	w := word(p, i, n)
	if w&0xff == '"' {
		if k = lowest(special(w >> 8)); k < 7 { // byte 7 of w >> 8 is 0 and marked
			i += 1 + k
		} else if i += 8; i < n {
			i += lowest(special(word(p, i, n)))
		}
		if i >= n || load1(p, i) != '"' {
			return s.step()
		}
		i++
		s.kind, s.escaped = StringKind, false
	} else {
		m, d := nonDigits(w)
		if k = lowest(m); k == 0 || k > 1 && w&0xff == '0' {
			return s.step()
		}
		v := digitValue(d, k)
		if i += k; k == 8 && i < n {
			if m, d = nonDigits(word(p, i, n)); m&0x80 == 0 {
				k = lowest(m)
				v = v*pow10[k] + digitValue(d, k)
				i += k
			}
		}
		if i >= n || load1(p, i) != ',' && load1(p, i) != '}' { // more digits, a fraction, a blank
			return s.step()
		}
		s.kind, s.num, s.whole = NumberKind, int64(v), true
	}
	s.names, s.raws = names, span32{uint32(from), uint32(i)}
	s.i, s.odd, s.first, s.state, s.closing = i, false, false, inside, '}'
	return true
}
