package expr

import "strings"

// Suggest returns the name closest to s, "" if none is close.
func Suggest(s string, names []string) string {
	best, least := "", 1+len(s)/3
	for _, n := range names {
		d := distance(strings.ToLower(s), strings.ToLower(n), least)
		if d < len(s) && (d < least || d == least && best == "") {
			best, least = n, d
		}
	}
	return best
}

// didYouMean is the end of a message about an unknown name.
func didYouMean(s string, names []string) string {
	if n := Suggest(s, names); n != "" {
		return " Did you mean " + n + "?"
	}
	return ""
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to make a of b (optimal string
// alignment). It gives up above most and returns most + 1.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	before := make([]int, len(b)+1)
	last := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
