package expr

import (
	"bytes"
	"fmt"
	"regexp"
	"unicode"
	"unicode/utf8"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

func runLower(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = changeCase(f.m.h, s.cols[0][i], 'A', unicode.ToLower)
		}
	}
}

func runUpper(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = changeCase(f.m.h, s.cols[0][i], 'a', unicode.ToUpper)
		}
	}
}

// changeCase changes the 26 letters from a on, and calls other for characters that are not ASCII. A text that stays as it
// is is not copied.
func changeCase(h *event.Heap, v event.Value, a byte, other func(rune) rune) event.Value {
	text := v.Bytes(h)
	i := 0
	for i < len(text) && text[i]-a >= 26 && text[i] < utf8.RuneSelf {
		i++
	}
	if i == len(text) {
		return v
	}
	buf := append(h.Begin(), text[:i]...)
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if c-a < 26 {
				c ^= 0x20
			}
			buf = append(buf, c)
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		buf = utf8.AppendRune(buf, other(r))
		i += n
	}
	return event.HeapValue(event.String, h.End(buf))
}

func runTrim(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		v := s.cols[0][i]
		text := v.Bytes(f.m.h)
		left := len(text) - len(bytes.TrimLeftFunc(text, unicode.IsSpace))
		s.out[i] = part(v, left, left+len(bytes.TrimSpace(text)))
	}
}

// part is a span of a text.
func part(v event.Value, start, end int) event.Value {
	return event.HeapValue(v.Kind, event.Ref{Off: v.Ref().Off + uint32(start), Len: uint32(end - start)})
}

func runSplit(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		text, sep := s.cols[0][i].Bytes(f.m.h), s.cols[1][i].Bytes(f.m.h)
		buf := append(f.m.h.Begin(), '[')
		for more := true; more; {
			var piece []byte
			if len(sep) == 0 { // into characters
				_, n := utf8.DecodeRune(text)
				piece, text = text[:n], text[n:]
				more = len(text) > 0
			} else {
				piece, text, more = bytes.Cut(text, sep)
			}
			buf = jsontext.AppendString(buf, piece)
			if more {
				buf = append(buf, ',')
			}
		}
		s.out[i] = event.HeapValue(event.List, f.m.h.End(append(buf, ']')))
	}
}

func runStartsWith(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = event.BoolValue(bytes.HasPrefix(s.cols[0][i].Bytes(f.m.h), s.cols[1][i].Bytes(f.m.h)))
		}
	}
}

func runEndsWith(s *callStep, f *frame) {
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = event.BoolValue(bytes.HasSuffix(s.cols[0][i].Bytes(f.m.h), s.cols[1][i].Bytes(f.m.h)))
		}
	}
}

func preparePattern(args []*typed) (any, error) {
	re, err := regexp.Compile(args[1].lit.Text)
	if err != nil {
		return nil, fmt.Errorf("the pattern is no regular expression (RE2 syntax): %w", err)
	}
	return re, nil
}

func runMatches(s *callStep, f *frame) {
	re := s.aux.(*regexp.Regexp)
	for i := range s.out {
		if s.ready(f.m, i) {
			s.out[i] = event.BoolValue(re.Match(s.cols[0][i].Bytes(f.m.h)))
		}
	}
}

// runLength counts the characters of texts, the bytes of bytes, the elements of lists and the fields of objects.
func runLength(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		v := s.cols[0][i]
		n := int(v.Ref().Len)
		switch v.Kind {
		case event.String:
			n = utf8.RuneCount(v.Bytes(f.m.h))
		case event.List:
			n = jsontext.Count(v.Bytes(f.m.h))
		case event.Object:
			n = len(s.work.fields(v.Bytes(f.m.h)))
		}
		s.out[i] = event.IntValue(int64(n))
	}
}

// runContains looks for a text in a text, or for an element of a list that equals a value.
func runContains(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		in, what := s.cols[0][i], s.cols[1][i]
		switch {
		case in.Kind == event.List:
			found := false
			text, off := in.Bytes(f.m.h), in.Ref().Off
			for m := jsontext.Each(text); !found && m.Next(); {
				found = s.work.canon.Equal(f.m.h, jsontext.ReadAt(f.m.h, m.Value(), off+uint32(m.Start)), what)
			}
			s.out[i] = event.BoolValue(found)
		case what.Kind != event.String:
			s.out[i] = s.operand(f.m, 1, s.node.Args[1], what, "a string to look for in a string")
		default:
			s.out[i] = event.BoolValue(bytes.Contains(in.Bytes(f.m.h), what.Bytes(f.m.h)))
		}
	}
}
