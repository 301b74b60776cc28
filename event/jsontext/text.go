package jsontext

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendUnescaped appends the text of a checked string, given without its quotes, to dst.
func AppendUnescaped(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		var n int
		dst, n = appendEscape(dst, raw, i)
		raw = raw[i+n:]
	}
}

// appendEscape appends what the escape at raw[i] stands for and returns its length.
func appendEscape(dst, raw []byte, i int) (out []byte, n int) {
	switch c := raw[i+1]; c {
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	case 'u':
		r, _ := hex4(raw, i+2)
		if !utf16.IsSurrogate(r) {
			return utf8.AppendRune(dst, r), 6
		}
		if i+7 < len(raw) && raw[i+6] == '\\' && raw[i+7] == 'u' {
			if low, ok := hex4(raw, i+8); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return utf8.AppendRune(dst, pair), 12
				}
			}
		}
		return utf8.AppendRune(dst, utf8.RuneError), 6
	default:
		return append(dst, c), 2
	}
}

// SameText reports whether a checked string, given without its quotes, stands for s.
func SameText(raw []byte, s string) bool {
	if len(raw) == len(s) && string(raw) == s {
		return bytes.IndexByte(raw, '\\') < 0
	}
	if len(raw) <= len(s) { // an escape is never shorter than what it stands for
		return false
	}
	return bytes.IndexByte(raw, '\\') >= 0 && sameEscaped(raw, s)
}

func sameEscaped(raw []byte, s string) bool {
	var buf [16]byte
	for i := 0; i < len(raw); {
		piece := raw[i : i+1]
		n := 1
		if raw[i] == '\\' {
			piece, n = appendEscape(buf[:0], raw, i)
		}
		if len(s) < len(piece) || s[:len(piece)] != string(piece) {
			return false
		}
		s = s[len(piece):]
		i += n
	}
	return s == ""
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Only what must be escaped is; bytes that are not UTF-8 become U+FFFD.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, n := decodeRune(s, i)
			if r != utf8.RuneError || n != 1 {
				i += n
				continue
			}
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscaped(dst, c)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func decodeRune[T string | []byte](s T, i int) (r rune, n int) {
	var buf [utf8.UTFMax]byte
	n = copy(buf[:], s[i:min(len(s), i+utf8.UTFMax)])
	return utf8.DecodeRune(buf[:n])
}

func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	if c >= utf8.RuneSelf {
		return append(dst, "\ufffd"...)
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}
