package main

import (
	"strings"
	"testing"
)

func TestPrinter_table(t *testing.T) {
	for _, colour := range []bool{false, true} {
		var b strings.Builder
		p := &printer{w: &b, colour: colour}
		p.table([][]string{{"a", p.paint(bold, "bb"), "c"}, {p.paint(red, "äöü"), "d", ""}})
		plain := sgr.ReplaceAllString(b.String(), "")
		if want := "a    bb  c\näöü  d\n"; plain != want {
			t.Errorf("colour %v: %q, want %q", colour, plain, want)
		}
		if colour == (plain == b.String()) {
			t.Errorf("colour %v: %q", colour, b.String())
		}
	}
}
