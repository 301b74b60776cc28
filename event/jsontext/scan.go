package jsontext

import (
	"encoding/binary"
	"unicode/utf8"
)

// MaxDepth is how deep objects and lists may be nested.
const MaxDepth = 512

// Space returns the position of the first byte from i on that is not white space.
func Space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// Valid reports whether b is exactly one JSON value with nothing but white space around it.
func Valid(b []byte) bool {
	end, ok := Skip(b, Space(b, 0), 0)
	return ok && Space(b, end) == len(b)
}

// Skip checks the value that starts at b[i] and returns the position after it. depth is how many objects and lists the
// value lies in. When ok is false, end is about where the text stops being JSON.
func Skip(b []byte, i, depth int) (end int, ok bool) {
	if i < len(b) && b[i] != '{' && b[i] != '[' {
		return SkipScalar(b, i)
	}
	return skipNested(b, i, depth)
}

// skipNested walks objects and lists without recursion: bit n of stack says whether level n is an object.
func skipNested(b []byte, i, depth int) (end int, ok bool) {
	var stack [MaxDepth/64 + 1]uint64
	base := depth
	for {
		// A value starts here.
		if i >= len(b) {
			return i, false
		}
		switch b[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return i, false
			}
			object := b[i] == '{'
			setBit(&stack, depth, object)
			i = Space(b, i+1)
			if i < len(b) && b[i] == closer(object) {
				i++
				depth--
				break
			}
			if object {
				if i, ok = skipName(b, i); !ok {
					return i, false
				}
			}
			continue
		default:
			if i, ok = SkipScalar(b, i); !ok {
				return i, false
			}
		}
		// A value ends here.
		for {
			if depth == base {
				return i, true
			}
			object := bit(&stack, depth)
			i = Space(b, i)
			if i >= len(b) {
				return i, false
			}
			if b[i] == closer(object) {
				i++
				depth--
				continue
			}
			if b[i] != ',' {
				return i, false
			}
			i = Space(b, i+1)
			if object {
				if i, ok = skipName(b, i); !ok {
					return i, false
				}
			}
			break
		}
	}
}

func closer(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

func setBit(s *[MaxDepth/64 + 1]uint64, n int, on bool) {
	s[n/64] &^= 1 << (n % 64)
	if on {
		s[n/64] |= 1 << (n % 64)
	}
}

func bit(s *[MaxDepth/64 + 1]uint64, n int) bool { return s[n/64]>>(n%64)&1 != 0 }

// skipName checks a member's name and colon and returns where its value starts.
func skipName(b []byte, i int) (end int, ok bool) {
	end, _, ok = SkipString(b, i)
	if !ok {
		return end, false
	}
	i = Space(b, end)
	if i >= len(b) || b[i] != ':' {
		return i, false
	}
	return Space(b, i+1), true
}

// SkipScalar checks the string, number, true, false or null that starts at b[i] and returns the position after it.
func SkipScalar(b []byte, i int) (end int, ok bool) {
	if i >= len(b) {
		return i, false
	}
	switch b[i] {
	case '"':
		end, _, ok = SkipString(b, i)
		return end, ok
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	}
	return skipNumber(b, i)
}

func skipWord(b []byte, i int, w string) (end int, ok bool) {
	if len(b)-i < len(w) || string(b[i:i+len(w)]) != w {
		return i, false
	}
	return i + len(w), true
}

func skipNumber(b []byte, i int) (end int, ok bool) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i >= len(b) || b[i] < '0' || b[i] > '9' {
		return i, false
	}
	if b[i] == '0' {
		i++
	} else {
		i = digits(b, i)
	}
	if i < len(b) && b[i] == '.' {
		start := i + 1
		if i = digits(b, start); i == start {
			return i, false
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start := i
		if i = digits(b, start); i == start {
			return i, false
		}
	}
	return i, true
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plain reports whether none of eight bytes ends a string's run of plain ASCII: a quote, a backslash, a control byte, a
// byte above 0x7f.
func plain(w uint64) bool {
	q, s := w^ones*'"', w^ones*'\\'
	return (w|(w-ones*0x20)|(q-ones)|(s-ones))&highs == 0
}

// SkipString checks the string that starts at b[i] and returns the position after its closing quote. escaped reports
// whether it has any escape: if not, the bytes between the quotes are the text.
func SkipString(b []byte, i int) (end int, escaped, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false, false
	}
	i++
	for {
		for len(b)-i >= 8 && plain(binary.LittleEndian.Uint64(b[i:])) {
			i += 8
		}
		if i >= len(b) {
			return i, escaped, false
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, escaped, true
		case c == '\\':
			escaped = true
			n := escapeLen(b, i)
			if n == 0 {
				return i, escaped, false
			}
			i += n
		case c < 0x20:
			return i, escaped, false
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return i, escaped, false
			}
			i += n
		}
	}
}

// escapeLen returns the length of the escape at b[i], 0 if it is none.
func escapeLen(b []byte, i int) int {
	if i+1 >= len(b) {
		return 0
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b, i+2); ok {
			return 6
		}
	}
	return 0
}

func hex4(b []byte, i int) (r rune, ok bool) {
	if len(b)-i < 4 {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
