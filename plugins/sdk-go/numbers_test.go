package wgate

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestNumbers holds appendFloat to the vectors that every SDK has to print.
func TestNumbers(t *testing.T) {
	text, err := os.ReadFile("../../abi/testdata/vectors/numbers.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		hex, want, _ := strings.Cut(line, " ")
		bits, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendFloat(nil, math.Float64frombits(bits))); got != want {
			t.Errorf("%s: got %s, want %s", hex, got, want)
		}
		n++
	}
	if n < 20 {
		t.Errorf("only %d vectors", n)
	}
}
