package wgate

import "unicode/utf8"

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
