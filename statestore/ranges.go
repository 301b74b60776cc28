package statestore

import "sort"

// span is a deleted range [lo, hi).
type span struct{ lo, hi []byte }

// ranges is a set of deleted ranges: sorted, without overlap and without touching one another.
type ranges struct {
	spans  []span
	shared bool // an iterator holds spans: copy before a change
	size   int  // about how many bytes of memory the ranges hold
}

// add puts [lo, hi) into the set. Both are copied into a.
func (r *ranges) add(a *arena, lo, hi []byte) {
	first := sort.Search(len(r.spans), func(i int) bool { return compare(r.spans[i].hi, lo) >= 0 })
	last := first
	for last < len(r.spans) && compare(r.spans[last].lo, hi) <= 0 {
		last++
	}
	n := span{lo, hi}
	if first < last {
		if compare(r.spans[first].lo, lo) <= 0 && compare(r.spans[first].hi, hi) >= 0 {
			return
		}
		if compare(r.spans[first].lo, lo) < 0 {
			n.lo = r.spans[first].lo
		}
		if compare(r.spans[last-1].hi, hi) > 0 {
			n.hi = r.spans[last-1].hi
		}
	}
	n = span{a.get(a.put(n.lo)), a.get(a.put(n.hi))}
	if r.shared {
		r.spans = append([]span(nil), r.spans...)
		r.shared = false
	}
	r.size += entryBytes
	switch {
	case first == last:
		r.spans = append(r.spans, span{})
		copy(r.spans[first+1:], r.spans[first:])
		r.spans[first] = n
	default:
		r.spans[first] = n
		r.spans = append(r.spans[:first+1], r.spans[last:]...)
	}
}

// covers reports whether a range holds key.
func (r *ranges) covers(key []byte) bool {
	if len(r.spans) == 0 {
		return false
	}
	i := sort.Search(len(r.spans), func(i int) bool { return compare(r.spans[i].hi, key) > 0 })
	return i < len(r.spans) && compare(r.spans[i].lo, key) <= 0
}

// share returns the ranges that reach past lo. They are not changed any more.
func (r *ranges) share(lo []byte) []span {
	i := sort.Search(len(r.spans), func(i int) bool { return compare(r.spans[i].hi, lo) > 0 })
	if i == len(r.spans) {
		return nil
	}
	r.shared = true
	return r.spans[i:]
}
