package triggers

import "github.com/wgate/wgate/event"

// Merge makes dst the state of the window that windows with the states from became when they merged; passed says whether
// the watermark has passed the end of the merged window. dst must not be one of from.
//
// Counts add up and the earliest deadline stays. A part that has fired in one of the windows has fired, but for the
// watermark: the merged window is past it only if all were and its own end is passed too.
func (m *Machine) Merge(dst []byte, from [][]byte, passed bool) {
	clear(dst[:m.size])
	m.merge(0, dst, from, passed)
}

func (m *Machine) merge(i int, dst []byte, from [][]byte, passed bool) {
	n := &m.nodes[i]
	switch n.kind {
	case Never:
	case AfterCount, AfterDelay, Every:
		n.mergeLeaf(dst, from)
	case AfterWatermark:
		m.mergeWatermark(n, dst, from, passed)
	case Sequence:
		for _, p := range n.parts {
			m.merge(p, dst, from, passed)
			if !m.done(p, dst) { // what comes after has not begun
				break
			}
		}
		m.finish(n, dst, m.current(n, dst) < 0)
	case Any, All:
		ended := 0
		for _, p := range n.parts {
			m.merge(p, dst, from, passed)
			if m.done(p, dst) {
				ended++
			}
		}
		m.finish(n, dst, ended > 0 && (n.kind == Any || ended == len(n.parts)))
	case Repeat, RepeatUntil:
		for _, p := range n.parts {
			m.merge(p, dst, from, passed)
		}
		if m.done(n.parts[0], dst) {
			m.reset(n.parts[0], dst)
		}
		m.finish(n, dst, n.kind == RepeatUntil && m.done(n.parts[1], dst))
	}
}

func (n *node) mergeLeaf(dst []byte, from [][]byte) {
	var sum uint64
	first := uint64(0)
	set := false
	for _, st := range from {
		if st[n.off]&finished != 0 {
			dst[n.off] = finished
			return
		}
		sum += n.number(st)
		if st[n.off]&started != 0 && (!set || event.Time(n.number(st)) < event.Time(first)) {
			first, set = n.number(st), true
		}
	}
	if n.kind == AfterCount {
		n.setNumber(dst, sum)
	} else if set {
		dst[n.off] |= started
		n.setNumber(dst, first)
	}
}

func (m *Machine) mergeWatermark(n *node, dst []byte, from [][]byte, passed bool) {
	past := passed
	for _, st := range from {
		past = past && st[n.off]&inLate != 0
	}
	if past {
		dst[n.off] |= inLate
		m.finish(n, dst, n.late < 0)
		if n.late >= 0 {
			m.merge(n.late, dst, from, passed)
			m.again(n.late, dst)
		}
		return
	}
	// A window that was past its end has forgotten its early part, so it adds nothing here.
	if n.early >= 0 {
		m.merge(n.early, dst, from, passed)
		m.again(n.early, dst)
	}
}

// again starts node i anew if it has finished.
func (m *Machine) again(i int, st []byte) {
	if m.done(i, st) {
		m.reset(i, st)
	}
}
