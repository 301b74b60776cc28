package scenario

import (
	"strconv"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// want is an expected row with its texts made canonical. An empty text is not compared.
type want struct {
	*config.ExpectedRow
	key, value string
}

func (r *recorder) wanted(rows []config.ExpectedRow) []want {
	out := make([]want, len(rows))
	for i := range rows {
		out[i].ExpectedRow = &rows[i]
		if rows[i].Key != nil {
			out[i].key = r.canonical(rows[i].Key)
		}
		if rows[i].Value != nil {
			out[i].value = r.canonical(rows[i].Value)
		}
	}
	return out
}

// difference is an attribute in which a row is not what was expected.
type difference struct{ attr, want, got string }

// fits reports whether g is what w asks for.
func (w *want) fits(g *row) bool { return w.fitsKey(g) && len(w.differences(g, nil)) == 0 }

func (w *want) fitsKey(g *row) bool {
	return w.key == "" || w.key == g.key || g.rawKey != "" && w.key == g.rawKey
}

// differences lists the attributes that w names and that are not so in g.
func (w *want) differences(g *row, f *format) []difference {
	var out []difference
	add := func(attr, want, got string) { out = append(out, difference{attr, want, got}) }
	if !w.fitsKey(g) {
		add("key", w.key, g.key)
	}
	if w.value != "" && w.value != g.value {
		out = append(out, valueDifferences(w.value, g.value)...)
	}
	if w.Window != nil && (!g.windowed || *w.Window != g.window) {
		add("window", f.window(*w.Window), f.windowOf(g))
	}
	if w.Time != nil && *w.Time != g.time {
		add("time", f.time(*w.Time), f.time(g.time))
	}
	if w.Retract != nil && *w.Retract != g.retract {
		add("retract", strconv.FormatBool(*w.Retract), strconv.FormatBool(g.retract))
	}
	if w.Pane == nil {
		return out
	}
	if !g.paned {
		add("pane", f.pane(w.Pane), "none")
		return out
	}
	p := w.Pane
	if p.Index != nil && *p.Index != int64(g.pane.Index) {
		add("pane.index", strconv.FormatInt(*p.Index, 10), strconv.FormatUint(uint64(g.pane.Index), 10))
	}
	if p.Timing != nil && *p.Timing != g.pane.Timing.String() {
		add("pane.timing", *p.Timing, g.pane.Timing.String())
	}
	if p.First != nil && *p.First != g.pane.First {
		add("pane.first", strconv.FormatBool(*p.First), strconv.FormatBool(g.pane.First))
	}
	if p.Last != nil && *p.Last != g.pane.Last {
		add("pane.last", strconv.FormatBool(*p.Last), strconv.FormatBool(g.pane.Last))
	}
	return out
}

// valueDifferences compares two canonical texts; of two objects member by member.
func valueDifferences(w, g string) []difference {
	if w[0] != '{' || g[0] != '{' {
		return []difference{{"value", w, g}}
	}
	var out []difference
	for m := jsontext.Each([]byte(w)); m.Next(); {
		got := "absent"
		if start, end, ok := jsontext.Find([]byte(g), string(m.Name())); ok {
			got = g[start:end]
		}
		if got != string(m.Value()) {
			out = append(out, difference{"value." + string(m.Name()), string(m.Value()), got})
		}
	}
	for m := jsontext.Each([]byte(g)); m.Next(); {
		if _, _, ok := jsontext.Find([]byte(w), string(m.Name())); !ok {
			out = append(out, difference{"value." + string(m.Name()), "absent", string(m.Value())})
		}
	}
	return out
}

// verdict is what a comparison found. It is good if nothing is in it.
type verdict struct {
	missing []int // expected rows that did not come
	extra   []int // rows that came and were not expected
	order   bool  // the rows are right, their order within a key is not
}

func (v *verdict) good() bool { return len(v.missing) == 0 && len(v.extra) == 0 && !v.order }

// compare finds out whether got is what ws ask for: as a multiset, with the order kept within each key.
func compare(ws []want, got []row) verdict {
	if len(ws) == len(got) {
		m := newMatcher(ws, got)
		if m.match(0) {
			return verdict{}
		}
	}
	v := anyOrder(ws, got)
	v.order = len(v.missing) == 0 && len(v.extra) == 0
	return v
}

// matcher assigns expected rows, in their order, to the first rows left of the keys.
type matcher struct {
	ws    []want
	got   []row
	keys  [][]int // rows of each key, in order of arrival
	at    []int   // how many of each key are taken
	tries int
}

// maxTries bounds the search among rows of several keys, which only expected rows without a key need.
const maxTries = 1 << 20

func newMatcher(ws []want, got []row) *matcher {
	m := &matcher{ws: ws, got: got}
	index := map[string]int{}
	for i := range got {
		k, ok := index[got[i].key]
		if !ok {
			k = len(m.keys)
			index[got[i].key] = k
			m.keys = append(m.keys, nil)
		}
		m.keys[k] = append(m.keys[k], i)
	}
	m.at = make([]int, len(m.keys))
	return m
}

func (m *matcher) match(i int) bool {
	if i == len(m.ws) {
		return true
	}
	for k := range m.keys {
		if m.at[k] == len(m.keys[k]) {
			continue
		}
		if m.tries++; m.tries > maxTries {
			return false
		}
		if !m.ws[i].fits(&m.got[m.keys[k][m.at[k]]]) {
			continue
		}
		m.at[k]++
		if m.match(i + 1) {
			return true
		}
		m.at[k]--
	}
	return false
}

// mostPaired is how many rows are paired to say what is wrong. Of more only the first are looked at.
const mostPaired = 500

// anyOrder pairs expected rows with rows whatever the order, as many as it can, and lists what is left. Each expected row
// may move one that was paired before to another row (Kuhn's algorithm).
func anyOrder(ws []want, got []row) verdict {
	same := 0
	if max(len(ws), len(got)) > mostPaired {
		for same < min(len(ws), len(got)) && ws[same].fits(&got[same]) {
			same++
		}
		ws, got = ws[same:min(len(ws), same+mostPaired)], got[same:min(len(got), same+mostPaired)]
	}
	owner := make([]int, len(got)) // expected row + 1
	var place func(i int, seen []bool) bool
	place = func(i int, seen []bool) bool {
		for g := range got {
			if seen[g] || !ws[i].fits(&got[g]) {
				continue
			}
			seen[g] = true
			if owner[g] == 0 || place(owner[g]-1, seen) {
				owner[g] = i + 1
				return true
			}
		}
		return false
	}
	var v verdict
	for i := range ws {
		if !place(i, make([]bool, len(got))) {
			v.missing = append(v.missing, same+i)
		}
	}
	for g := range got {
		if owner[g] == 0 {
			v.extra = append(v.extra, same+g)
		}
	}
	return v
}

// nearest returns the row among those of extra that is most like w, -1 if none has its key.
func nearest(w *want, got []row, extra []int) int {
	best, least := -1, 1<<30
	for _, g := range extra {
		if !w.fitsKey(&got[g]) {
			continue
		}
		n := 0
		for _, d := range w.differences(&got[g], nil) {
			n += weights[d.attr] + 1
		}
		if n < least {
			best, least = g, n
		}
	}
	return best
}

// weights say how much a difference speaks against two rows being meant to be the same.
var weights = map[string]int{"window": 4, "retract": 2}

// format writes what people read. Its zero value and nil are good; times on its day are short.
type format struct{ day event.Time }

func (f *format) time(t event.Time) string {
	if f != nil && t >= f.day && t < f.day+24*event.Time(event.Hour) {
		text := t.String()[11:23]
		if text[8:] == ".000" {
			text = text[:8]
		}
		return text
	}
	return t.String()
}

func (f *format) window(w event.Window) string {
	if w.IsGlobal() {
		return "global"
	}
	return "[" + f.time(w.Start) + ", " + f.time(w.End) + "]"
}

func (f *format) windowOf(g *row) string {
	if !g.windowed {
		return "none"
	}
	return f.window(g.window)
}
