package commit

import (
	"errors"
	"slices"
)

// call takes a call of the engine: see recovery.md, "Commit of an epoch".
func (m *Machine) call(ev Event) []Action {
	switch ev := ev.(type) {
	case BeginEpoch:
		if m.phase != ready {
			return m.misuse(ev)
		}
		m.dead, m.rejoin, m.wrote, m.fresh, m.cause = false, false, false, false, nil
		if ev.Revoked {
			return m.lost()
		}
		if m.cfg.Delivery != ExactlyOnce {
			m.phase = open
			return []Action{Return{}}
		}
		m.phase = beginning
		return []Action{Begin{}}
	case Sent:
		if m.phase != open {
			return m.misuse(ev)
		}
		if ev.Err != nil && !m.dead {
			m.dead, m.cause = true, ev.Err
		}
		return []Action{Return{Err: ev.Err}}
	case CommitEpoch:
		if m.phase != open {
			return m.misuse(ev)
		}
		return m.commitEpoch(ev)
	case AbortEpoch:
		if m.phase == closed {
			return []Action{Return{}} // a Stop has left nothing to give up: the next Recover begins with a new client
		}
		if m.phase != open && m.phase != ready {
			return m.misuse(ev)
		}
		return m.abort(ev.Revoked)
	}
	return m.misuse(ev)
}

// lost answers the begin of an epoch after another owner may have been there: what this machine knows may be old.
func (m *Machine) lost() []Action {
	m.phase, m.dead, m.rejoin, m.cause = open, true, true, ErrRevoked
	return []Action{Return{Err: ErrRevoked}}
}

// commitEpoch is step 2: the frozen epoch gets its token, all outputs are flushed.
func (m *Machine) commitEpoch(ev CommitEpoch) []Action {
	if m.dead {
		return m.failed(m.cause, ev.Revoked)
	}
	if ev.Revoked {
		return m.abort(true)
	}
	m.next = Committed{
		Token:    ev.Token,
		Parent:   m.committed.Token,
		Epoch:    m.committed.Epoch + 1,
		Anchor:   m.committed.Anchor,
		Offsets:  mergeOffsets(m.committed.Offsets, ev.Offsets),
		Progress: ev.Progress,
	}
	if m.cfg.Delivery != StoreOnly && !m.chooseAnchor() {
		return m.stop(CodeNoAnchor, "epoch %d", m.next.Epoch)
	}
	m.phase = flushing
	return []Action{Flush{}}
}

// mergeOffsets returns the offsets of an epoch: those before, moved on, in order, without metadata. Partitions that the
// epoch did not touch keep theirs, so that every epoch carries them all.
func mergeOffsets(before, now []Offset) []Offset {
	out := slices.Clone(before)
	for _, o := range now {
		o.Metadata = ""
		i, found := slices.BinarySearchFunc(out, o, func(a, b Offset) int { return a.compare(b.Partition) })
		if found {
			out[i] = o
		} else {
			out = slices.Insert(out, i, o)
		}
	}
	return out
}

// chooseAnchor picks the anchor, once: the first partition that is in the group, or the configured one.
func (m *Machine) chooseAnchor() bool {
	c := &m.next
	if c.Anchor.Topic != "" {
		return true
	}
	for _, o := range c.Offsets {
		if m.inGroup(o.Partition) {
			c.Anchor = o.Partition
			return true
		}
	}
	c.Anchor = m.cfg.Anchor
	return c.Anchor.Topic != ""
}

// groupOffsets returns the offsets of an epoch as the group keeps them: the anchor carries the token, also if its offset
// stands still.
func (m *Machine) groupOffsets(c Committed) []Offset {
	w := EncodeWitness(Witness{Token: c.Token, Epoch: c.Epoch, Position: -1, LeaderEpoch: -1})
	var out []Offset
	anchored := false
	for _, o := range c.Offsets {
		if !m.inGroup(o.Partition) {
			continue
		}
		if o.Partition == c.Anchor {
			o.Metadata, anchored = w, true
		}
		out = append(out, o)
	}
	if !anchored {
		out = append(out, Offset{Partition: c.Anchor, LeaderEpoch: -1, Metadata: w})
	}
	return out
}

// epochAnswer takes the answers to the actions of an epoch.
func (m *Machine) epochAnswer(ev Event) []Action {
	switch ev := ev.(type) {
	case Began:
		if m.phase != beginning {
			return m.misuse(ev)
		}
		if before := m.member; ev.Err == nil && before != (Member{}) && before != ev.Member {
			return m.lost()
		}
		m.phase, m.member = open, ev.Member
		m.dead, m.rejoin, m.cause = ev.Err != nil, ev.Err != nil, ev.Err
		return []Action{Return{Err: ev.Err}}
	case Flushed:
		if m.phase != flushing {
			return m.misuse(ev)
		}
		return m.flushed(ev)
	case PendingWritten:
		if m.phase != writingPending {
			return m.misuse(ev)
		}
		if ev.Err != nil {
			return m.storeFailed(ev.Err)
		}
		m.wrote = true
		if ev.Revoked {
			return m.abort(true)
		}
		m.phase = ending
		return []Action{End{m.member, m.groupOffsets(m.next)}}
	case Ended:
		if m.phase != ending {
			return m.misuse(ev)
		}
		if !ev.Committed {
			m.cause = ev.Err
			return m.rebuild(Recovered)
		}
		m.phase = applying
		return []Action{Apply{Committed: m.next}}
	case AbortEnded:
		if m.phase != aborting {
			return m.misuse(ev)
		}
		return m.aborted(ev.Err)
	}
	return m.misuse(ev)
}

// flushed is step 3: with all outputs acknowledged the epoch is made durable, or, where the store decides, applied.
func (m *Machine) flushed(ev Flushed) []Action {
	if ev.Err != nil {
		return m.failed(ev.Err, ev.Revoked)
	}
	if ev.Revoked {
		return m.abort(true)
	}
	if m.cfg.Delivery == ExactlyOnce {
		m.phase = writingPending
		return []Action{WritePending{m.next}}
	}
	m.phase = applying
	return []Action{Apply{Committed: m.next, Sync: true}}
}

// applied is step 5 and, in a recovery, the end of R4.
func (m *Machine) applied(ev Applied) []Action {
	if ev.Err != nil {
		return m.storeFailed(ev.Err)
	}
	switch m.phase {
	case applying:
		m.committed, m.hasRows = m.next, true
		m.recoveries, m.failures = 0, 0
		if m.cfg.Delivery == AtLeastOnce {
			m.phase = publishing
			return []Action{CommitOffsets{m.groupOffsets(m.committed)}}
		}
		m.phase = ready
		return []Action{Return{Result: Done}}
	case redoing:
		m.committed, m.hasRows = *m.pending, true
		m.pending, m.pendingSeen, m.pendingErr = nil, false, nil
		m.recoveries = 0
		return m.askBounds()
	case dropping:
		m.pending, m.pendingSeen, m.pendingErr = nil, false, nil
		return m.askBounds()
	case droppingAborted:
		return m.seekBack()
	}
	return m.misuse(ev)
}

func (m *Machine) offsetsCommitted(ev OffsetsCommitted) []Action {
	switch m.phase {
	case publishing:
		if ev.Err != nil {
			return m.rebuild(Recovered)
		}
		m.phase = ready
		return []Action{Return{Result: Done}}
	case repairing:
		if ev.Err != nil {
			return m.brokerFailed(ev.Err)
		}
		m.cfg.Repair = NoRepair
		m.phase = fetching
		return []Action{Fetch{}}
	}
	return m.misuse(ev)
}

// failed aborts an epoch whose outputs could not be sent. That counts as a try: what fails for ever must not be tried for
// ever.
func (m *Machine) failed(cause error, revoked bool) []Action {
	m.cause = cause
	if m.failures++; m.failures > m.cfg.MaxRecoveries {
		return m.stop(CodeRefused, "the outputs of epoch %d failed %d times in a row: %v", m.committed.Epoch+1, m.failures, cause)
	}
	return m.abort(revoked)
}

// abort is step 6: only an abort of our own that was answered with nil is a known one. An epoch that has lost a
// partition, or of which it is not known whether it has a transaction, is followed by a recovery.
func (m *Machine) abort(revoked bool) []Action {
	if m.cfg.Delivery != ExactlyOnce || m.phase == ready {
		if revoked {
			return m.rebuild(Aborted)
		}
		return m.seekBack()
	}
	if m.rejoin {
		return m.rebuild(Recovered)
	}
	m.rejoin = revoked
	m.phase = aborting
	return []Action{Abort{}}
}

func (m *Machine) aborted(err error) []Action {
	switch {
	case err != nil, m.rejoin:
		return m.rebuild(Recovered)
	case m.wrote:
		m.phase = droppingAborted
		return []Action{DropPending{}}
	}
	return m.seekBack()
}

// seekBack returns to the committed offsets after a known abort.
func (m *Machine) seekBack() []Action {
	m.wrote = false
	m.result = Aborted
	if m.cfg.Delivery == StoreOnly {
		return m.backAtReady()
	}
	m.phase = reseeking
	return []Action{Seek{m.seekTo()}}
}

// backAtReady ends a known abort. If what failed needs the operator, it stops here: trying again would end here again.
func (m *Machine) backAtReady() []Action {
	if s, ok := errors.AsType[*Stop](m.cause); ok {
		m.phase = closed
		return []Action{Return{Result: Aborted, Err: s}}
	}
	return m.atReady()
}

// seekTo returns the offsets of the committed epoch that are in the group.
func (m *Machine) seekTo() []Offset {
	var out []Offset
	for _, o := range m.committed.Offsets {
		if m.inGroup(o.Partition) {
			out = append(out, o)
		}
	}
	return out
}
