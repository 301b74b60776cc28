package triggers

// fire moves node i, which is ready, past its firing and returns the node that caused it.
func (m *Machine) fire(i int, st []byte, l Look) int {
	n := &m.nodes[i]
	switch n.kind {
	case AfterWatermark:
		return m.fireWatermark(i, st, l)
	case Any:
		return m.fireAny(n, st, l)
	case All:
		all := true
		for _, p := range n.parts {
			if !m.done(p, st) {
				m.fire(p, st, l)
			}
			all = all && m.done(p, st)
		}
		m.finish(n, st, all)
		return i
	case Sequence:
		cause := m.fire(m.current(n, st), st, l)
		m.finish(n, st, m.current(n, st) < 0)
		return cause
	case Repeat:
		return m.fireAgain(n.parts[0], st, l)
	case RepeatUntil:
		until := n.parts[1]
		if !m.ready(until, st, l) {
			return m.fireAgain(n.parts[0], st, l)
		}
		cause := m.fire(until, st, l)
		m.reset(n.parts[0], st)
		m.finish(n, st, true)
		return cause
	}
	m.reset(i, st)
	m.finish(n, st, true)
	return i
}

func (m *Machine) finish(n *node, st []byte, done bool) {
	if done {
		st[n.off] |= finished
	}
}

// fireAgain fires node i and starts it anew if that has finished it.
func (m *Machine) fireAgain(i int, st []byte, l Look) int {
	cause := m.fire(i, st, l)
	if m.done(i, st) {
		m.reset(i, st)
	}
	return cause
}

// fireWatermark: early again and again, the passing of the end once, late again and again.
func (m *Machine) fireWatermark(i int, st []byte, l Look) int {
	n := &m.nodes[i]
	late := st[n.off]&inLate != 0
	if late || !l.Passed {
		return m.fireAgain(n.phase(st), st, l)
	}
	m.reset(i, st)
	st[n.off] |= inLate
	m.finish(n, st, n.late < 0)
	return i
}

// fireAny fires every part that is ready; the others forget what they have, for the pane that they waited for is gone.
func (m *Machine) fireAny(n *node, st []byte, l Look) int {
	cause, end := -1, false
	for _, p := range n.parts {
		if !m.ready(p, st, l) {
			m.reset(p, st)
			continue
		}
		if c := m.fire(p, st, l); cause < 0 {
			cause = c
		}
		end = end || m.done(p, st)
	}
	m.finish(n, st, end)
	return cause
}
