package wgate

import (
	"strings"
	"unsafe"
)

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
