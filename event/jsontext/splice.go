package jsontext

import "errors"

// ErrNotObject is returned for text whose fields were to be changed and which is no object.
var ErrNotObject = errors.New("the value is not a JSON object, so it has no fields to set, drop or keep")

// Member is a member of an object to be: its name, and its value as JSON.
type Member struct {
	Name string
	Text []byte
}

// Splice appends the object obj to dst with members set and dropped. Members that exist are replaced where they stand, all
// others come at the end in the order of sets; a name that is both set and dropped is set. Every byte of what is left is
// kept: the digits of numbers, escapes, repeated names, white space. Text that is no object is checked only so far that it
// gives ErrNotObject; an object must have been checked. dst may be a heap's bytes (Heap.Begin) of which obj is a part.
func Splice(dst, obj []byte, sets []Member, drop []string) ([]byte, error) {
	w, ok := begin(dst, obj)
	if !ok {
		return dst, ErrNotObject
	}
	for w.next() {
		if i := setIndex(&w.m, sets); i >= 0 {
			w.keep(sets[i].Text)
		} else if !named(&w.m, drop) {
			w.keep(w.m.Value())
		}
	}
	for i := range sets {
		if _, _, ok := Find(obj, sets[i].Name); !ok {
			w.add(sets[i])
		}
	}
	return w.end(), nil
}

// Set is Splice with one member to set.
func Set(dst, obj []byte, name string, text []byte) ([]byte, error) {
	return Splice(dst, obj, []Member{{name, text}}, nil)
}

// Drop is Splice with members to drop.
func Drop(dst, obj []byte, names []string) ([]byte, error) { return Splice(dst, obj, nil, names) }

// Keep appends the object obj to dst with only the named members, which stay as they are. It fails as Splice does.
func Keep(dst, obj []byte, names []string) ([]byte, error) {
	w, ok := begin(dst, obj)
	if !ok {
		return dst, ErrNotObject
	}
	for w.next() {
		if named(&w.m, names) {
			w.keep(w.m.Value())
		}
	}
	return w.end(), nil
}

func setIndex(m *Walk, sets []Member) int {
	for i := len(sets) - 1; i >= 0; i-- {
		if m.Is(sets[i].Name) {
			return i
		}
	}
	return -1
}

func named(m *Walk, names []string) bool {
	for _, n := range names {
		if m.Is(n) {
			return true
		}
	}
	return false
}

// splicer copies an object member by member. A member is: white space, name to value, white space, and a comma before
// all but the first.
type splicer struct {
	dst, obj []byte
	m        Walk
	lead     int // where the white space before the member starts
	trail    int // the white space after the last kept value, [trail, trailEnd)
	trailEnd int
	any      bool
}

func begin(dst, obj []byte) (splicer, bool) {
	m := Each(obj)
	if !m.object {
		return splicer{}, false
	}
	open := Space(obj, 0)
	return splicer{dst: append(dst, obj[:open+1]...), obj: obj, m: m, lead: open + 1}, true
}

func (w *splicer) next() bool {
	if w.m.End > 0 {
		w.lead = Space(w.obj, w.m.End) + 1
	}
	return w.m.Next()
}

func (w *splicer) keep(value []byte) {
	if w.any {
		w.dst = append(append(w.dst, w.obj[w.trail:w.trailEnd]...), ',')
	}
	w.any = true
	w.dst = append(w.dst, w.obj[w.lead:w.m.Start]...)
	w.dst = append(w.dst, value...)
	w.trail, w.trailEnd = w.m.End, Space(w.obj, w.m.End)
}

func (w *splicer) add(s Member) {
	if w.any {
		w.dst = append(w.dst, ',')
	}
	w.any = true
	w.dst = append(AppendString(w.dst, s.Name), ':')
	w.dst = append(w.dst, s.Text...)
}

func (w *splicer) end() []byte {
	w.dst = append(w.dst, w.obj[w.trail:w.trailEnd]...)
	last := w.lead - 1 // of an object without members: its opening brace
	if w.m.End > 0 {
		last = Space(w.obj, w.m.End)
	} else {
		last = Space(w.obj, last+1)
	}
	return append(w.dst, w.obj[last:]...)
}
