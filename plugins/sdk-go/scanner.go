package wgate

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
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
//	s := wgate.Scan(e.Value())
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
func (s *Scanner) Reset(text []byte) { *s = Scanner{b: text, scratch: s.scratch[:0]} }

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
// It reads the usual case, a name and a value of at most 16 bytes each without a blank, in one go, and leaves the others to
// step.
func (s *Scanner) Next() bool {
	p, n, i := unsafe.Pointer(unsafe.SliceData(s.b)), uint(len(s.b)), s.i
	s.scratch = s.scratch[:0]
	if n < 8 || i >= n {
		return s.step()
	}
	c := load1(p, i)
	if s.state == inside && s.closing == '}' {
		if c == '}' && i+1 == n {
			s.i, s.state, s.kind, s.names, s.raws = n, atEnd, NoValue, span32{}, span32{}
			return false
		}
		if c != ',' || s.first {
			return s.step()
		}
	} else if c != '{' || s.state != atStart {
		return s.step()
	}
	if i+2 >= n || load1(p, i+1) != '"' {
		return s.step()
	}
	i += 2
	from := i
	m := special(word(p, i, n))
	if m == 0 {
		if i += 8; i >= n {
			return s.step()
		}
		m = special(word(p, i, n))
	}
	i += lowest(m)
	if i+2 >= n || *(*uint16)(unsafe.Add(p, i)) != '"'|':'<<8 {
		return s.step()
	}
	names := span32{uint32(from), uint32(i)}
	i += 2
	from = i
	w := word(p, i, n)
	if w&0xff == '"' {
		if i++; i >= n {
			return s.step()
		}
		m := special(word(p, i, n))
		if m == 0 {
			if i += 8; i >= n {
				return s.step()
			}
			m = special(word(p, i, n))
		}
		if i += lowest(m); i >= n || load1(p, i) != '"' {
			return s.step()
		}
		i++
		s.kind, s.escaped = StringKind, false
	} else {
		m, d := nonDigits(w)
		k := lowest(m)
		if k == 0 || k > 1 && w&0xff == '0' {
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
		if i >= n {
			return s.step()
		}
		if c := load1(p, i); c != ',' && c != '}' {
			return s.step() // more digits, a fraction, a blank
		}
		s.kind, s.num, s.whole = NumberKind, int64(v), true
	}
	s.names, s.raws, s.odd, s.first, s.i = names, span32{uint32(from), uint32(i)}, false, false, i
	s.state, s.closing = inside, '}'
	return true
}

// step is Next for any case.
func (s *Scanner) step() bool {
	if s.state != inside && !s.begin() {
		return false
	}
	if c := s.peek(); c == s.closing {
		return s.finish()
	} else if c == ',' && !s.first {
		s.i++
	} else if !s.first {
		return s.stop(ErrJSON)
	}
	s.first = false
	if s.closing == '}' && !s.field() || !s.value() {
		return s.stop(ErrJSON)
	}
	return true
}

// begin takes the opening bracket.
func (s *Scanner) begin() bool {
	if s.state == atEnd {
		return false
	}
	switch s.peek() {
	case '{':
		s.closing = '}'
	case '[':
		s.closing = ']'
	default:
		return s.stop(ErrNoObject)
	}
	s.i++
	s.state, s.first = inside, true
	return true
}

// finish takes the closing bracket; nothing may follow.
func (s *Scanner) finish() bool {
	s.i++
	if s.space(); s.i != uint(len(s.b)) {
		return s.stop(ErrJSON)
	}
	return s.stop(nil)
}

// field reads a name and the colon.
func (s *Scanner) field() bool {
	if s.peek() != '"' {
		return false
	}
	from := s.i + 1
	if !s.skipString() {
		return false
	}
	s.names = span32{uint32(from), uint32(s.i - 1)}
	if s.odd = s.escaped; s.odd {
		if _, ok := unescape(nil, s.b[from:s.i-1]); !ok {
			return false
		}
	}
	if s.peek() != ':' {
		return false
	}
	s.i++
	return true
}

// value reads over one value.
func (s *Scanner) value() (ok bool) {
	c := s.peek()
	from := s.i
	s.whole = false
	switch {
	case c == '"':
		s.kind = StringKind
		ok = s.skipString()
	case c-'0' <= 9 || c == '-':
		s.kind = NumberKind
		ok = s.number()
	case c == '{':
		s.kind = ObjectKind
		ok = s.skipCompound()
	case c == '[':
		s.kind = ArrayKind
		ok = s.skipCompound()
	case c == 't':
		s.kind = BoolKind
		ok = s.word("true")
	case c == 'f':
		s.kind = BoolKind
		ok = s.word("false")
	case c == 'n':
		s.kind = NullKind
		ok = s.word("null")
	}
	s.raws = span32{uint32(from), uint32(s.i)}
	return ok
}

func (s *Scanner) word(w string) bool {
	if uint(len(s.b))-s.i < uint(len(w)) || string(s.b[s.i:s.i+uint(len(w))]) != w {
		return false
	}
	s.i += uint(len(w))
	return true
}

// number reads over a number and, if it is whole, into s.num.
func (s *Scanner) number() bool {
	i := s.i
	neg := s.b[i] == '-'
	if neg {
		i++
	}
	first, v := i, uint64(0)
	for i < uint(len(s.b)) && s.b[i]-'0' <= 9 {
		v = v*10 + uint64(s.b[i]-'0')
		i++
	}
	s.i = i
	digits := i - first
	if digits == 0 || digits > 1 && s.b[first] == '0' {
		return false
	}
	if i < uint(len(s.b)) && (s.b[i] == '.' || s.b[i]|0x20 == 'e') {
		return s.fraction()
	}
	switch {
	case digits > 19:
	case neg && v <= 1<<63:
		s.num, s.whole = -int64(v), true
	case !neg && v < 1<<63:
		s.num, s.whole = int64(v), true
	}
	return true
}

// fraction reads over the fraction and exponent of a number.
func (s *Scanner) fraction() bool {
	if s.b[s.i] == '.' {
		s.i++
		if !s.digits() {
			return false
		}
	}
	if s.i < uint(len(s.b)) && s.b[s.i]|0x20 == 'e' {
		s.i++
		if s.i < uint(len(s.b)) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		return s.digits()
	}
	return true
}

func (s *Scanner) digits() bool {
	from := s.i
	for s.i < uint(len(s.b)) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i > from
}

// skipString reads over the string that starts here, and notes whether it holds escapes.
func (s *Scanner) skipString() bool {
	p, n := unsafe.Pointer(unsafe.SliceData(s.b)), uint(len(s.b))
	s.escaped = false
	i := s.i + 1
	for i < n {
		if i+8 <= n {
			k := lowest(special(load8(p, i)))
			if i += k; k == 8 {
				continue
			}
		}
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return true
		case c == '\\':
			s.escaped = true
			if i++; i >= n || strings.IndexByte(`"\/bfnrtu`, s.b[i]) < 0 {
				return false
			}
		case c < ' ':
			return false
		}
		i++
	}
	return false
}

// skipCompound reads over the object or array that starts here. Inside it only strings and brackets are looked at.
func (s *Scanner) skipCompound() bool {
	depth := 0
	for s.i < uint(len(s.b)) {
		switch s.b[s.i] {
		case '"':
			if !s.skipString() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				s.i++
				return true
			}
		}
		s.i++
	}
	return false
}

// unescape appends the text of a JSON string's inside to dst. Lone surrogates become U+FFFD.
func unescape(dst, in []byte) ([]byte, bool) {
	for i := 0; i < len(in); i++ {
		c := in[i]
		if c != '\\' {
			dst = append(dst, c)
			continue
		}
		if i++; i >= len(in) {
			return dst, false
		}
		switch c = in[i]; c {
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, ok := hex4(in[i+1:])
			if !ok {
				return dst, false
			}
			i += 4
			if r >= 0xd800 && r < 0xdc00 && len(in) > i+6 && in[i+1] == '\\' && in[i+2] == 'u' {
				if low, ok := hex4(in[i+3:]); ok && low >= 0xdc00 && low < 0xe000 {
					r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
					i += 6
				}
			}
			dst = utf8.AppendRune(dst, r)
		default:
			return dst, false
		}
	}
	return dst, true
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case c-'0' <= 9:
			c -= '0'
		case c|0x20-'a' <= 5:
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
