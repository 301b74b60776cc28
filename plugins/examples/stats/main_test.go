package main

import (
	"fmt"
	"testing"

	wgate "github.com/wgate/wgate/plugins/sdk-go"
)

// TestCombiners runs the combiners natively, through the frames of the real host.
func TestCombiners(t *testing.T) {
	h, err := wgate.NewHarness("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		fn    string
		parts [][][]any
		want  string
	}{
		{"wmean", [][][]any{{{1, 1}, {2, 3}}}, "1.75 []"},
		{"wmean", [][][]any{{{1, 1}}, {{2, 3}, {nil, 4}, {5, nil}}}, "1.75 []"},
		{"wmean", [][][]any{{}}, "<nil> []"},
		{"wmean", [][][]any{{{1, 1}, {"x", 1}, {1, -1}}}, "1 [1 no_number 2 negative_weight]"},
		{"spread", [][][]any{{{3}, {1.5}}, {}, {{7}}}, `{"min":1.5,"max":7} []`},
		{"spread", [][][]any{{{nil}}}, "<nil> []"},
	} {
		got, failed, err := h.Combine(c.fn, c.parts...)
		if err != nil {
			t.Fatal(err)
		}
		var bad []string
		for _, f := range failed {
			bad = append(bad, fmt.Sprint(f.Row, " ", f.Code))
		}
		text := fmt.Sprint(got)
		if b, ok := got.([]byte); ok {
			text = string(b)
		}
		if s := fmt.Sprint(text, " ", bad); s != c.want {
			t.Errorf("%s %v: got %s, want %s", c.fn, c.parts, s, c.want)
		}
	}
}
