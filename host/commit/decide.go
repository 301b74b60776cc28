package commit

import (
	"fmt"
	"slices"
)

// decide is R4: what the group's offsets say (C), against what the store holds.
func (m *Machine) decide() []Action {
	w, state := m.witness()
	if m.cfg.Delivery == AtLeastOnce {
		return m.decideAtLeastOnce(w, state)
	}
	switch state {
	case foreign:
		return m.offend(CodeMoved, "offset metadata that wgate did not write")
	case absent:
		return m.decideWithoutWitness()
	}
	guards := m.cfg.Unguarded
	switch {
	case w.Token == m.committed.Token || guards.NoToken:
		if diff := m.moved(m.committed); diff != "" && !guards.NoToken {
			return m.restore(m.committed, CodeMoved, diff)
		}
		if guards.NoToken {
			m.trust(w)
		}
		return m.dropPending()
	case m.pending != nil && w.Token == m.pending.Token && m.pending.Parent == m.committed.Token:
		if diff := m.moved(*m.pending); diff != "" {
			return m.restore(*m.pending, CodeMoved, diff)
		}
		if guards.NoRedo {
			m.trust(w)
			return m.dropPending()
		}
		m.phase = redoing
		return []Action{Redo{*m.pending}}
	}
	return m.stop(CodeNotHere, "the group is at epoch %d (token %s), the folder at epoch %d (token %s)%s",
		w.Epoch, w.Token, m.committed.Epoch, m.committed.Token, m.pendingText())
}

// trust takes the group's word without the rows that belong to it: what a machine without its guards does.
func (m *Machine) trust(w Witness) {
	m.committed.Token, m.committed.Epoch = w.Token, w.Epoch
	m.committed.Offsets = mergeOffsets(m.committed.Offsets, m.found)
}

func (m *Machine) pendingText() string {
	switch {
	case m.pendingErr != nil:
		return "; its pending epoch cannot be read: " + m.pendingErr.Error()
	case m.pending != nil:
		return fmt.Sprintf("; its pending epoch has token %s after %s", m.pending.Token, m.pending.Parent)
	}
	return ""
}

// decideWithoutWitness is R4 with no committed offset in the group. That is the first start, also if the first epoch was
// pending when the process ended and its transaction did not commit. With anything else in the folder it is a loss.
func (m *Machine) decideWithoutWitness() []Action {
	began := m.committed.Epoch > 0 || m.hasRows || m.pending != nil && m.pending.Parent != (Token{})
	if began {
		return m.offend(CodeMissing, fmt.Sprintf("the folder is at epoch %d", m.committed.Epoch))
	}
	return m.dropPending()
}

// decideAtLeastOnce is R4 where the store decides: the group may lag behind by the epoch whose offsets were not committed
// any more, and is brought up to the store.
func (m *Machine) decideAtLeastOnce(w Witness, state witnessState) []Action {
	c := m.committed
	switch {
	case state == foreign:
		return m.offend(CodeMoved, "offset metadata that wgate did not write")
	case state == absent && c.Epoch == 0:
		if m.hasRows {
			return m.offend(CodeMissing, "the folder has rows and no committed epoch")
		}
		return m.dropPending()
	case state == absent && c.Epoch > 1:
		return m.offend(CodeMissing, fmt.Sprintf("the folder is at epoch %d", c.Epoch))
	case state == absent, w.Token == c.Parent && c.Epoch > 0:
		m.phase = repairing
		return []Action{CommitOffsets{m.groupOffsets(c)}}
	case w.Token == c.Token:
		if diff := m.moved(c); diff != "" {
			return m.restore(c, CodeMoved, diff)
		}
		return m.dropPending()
	}
	return m.stop(CodeNotHere, "the group is at epoch %d (token %s), the folder at epoch %d (token %s)", w.Epoch, w.Token, c.Epoch, c.Token)
}

// decideAlone is R4 without a broker: the store is right.
func (m *Machine) decideAlone() []Action {
	if m.committed.Epoch == 0 && m.hasRows {
		return m.stop(CodeCorrupt, "the folder has rows and no committed epoch")
	}
	return m.dropPending()
}

// offend stops because the group's offsets do not say which epoch they belong to, unless the operator has asked for those
// of the state to be put back. With an epoch pending they cannot be: no one knows any more whether it had committed.
func (m *Machine) offend(code, detail string) []Action {
	if m.pendingSeen && m.committed.Epoch > 0 && m.cfg.Delivery == ExactlyOnce {
		return m.stop(code, "%s; nor can it be known any more whether epoch %d had committed", detail, m.committed.Epoch+1)
	}
	return m.restore(m.committed, code, detail)
}

// restore puts the offsets of c back if the operator has asked for it, and stops if not.
func (m *Machine) restore(c Committed, code, detail string) []Action {
	if m.cfg.Repair != RestoreOffsets || c.Epoch == 0 {
		return m.stop(code, "%s", detail)
	}
	m.phase = repairing
	return []Action{CommitOffsets{m.groupOffsets(c)}}
}

func (m *Machine) dropPending() []Action {
	if !m.pendingSeen {
		return m.askBounds()
	}
	m.phase = dropping
	return []Action{DropPending{}}
}

// witnessState says what the group's offsets carry.
type witnessState uint8

const (
	absent  witnessState = iota // no offsets at all
	present                     // one offset with a witness
	foreign                     // offsets, but not as wgate commits them
)

// witness looks for the one offset that carries a witness. It must be the anchor's, where the anchor is known.
func (m *Machine) witness() (Witness, witnessState) {
	var w Witness
	if len(m.found) == 0 {
		return w, absent
	}
	state := foreign
	for _, o := range m.found {
		if o.Metadata == "" {
			continue
		}
		got, err := DecodeWitness(o.Metadata)
		if err != nil || state == present {
			return w, foreign
		}
		if a := m.committed.Anchor; a.Topic != "" && (a.Topic != o.Topic || a.ID != o.ID) {
			return w, foreign
		}
		w, state = got, present
	}
	return w, state
}

// moved compares the group's offsets with those of an epoch and tells the first difference. Sources are left out: they are
// numbered by the plan, not by the group.
func (m *Machine) moved(c Committed) string {
	want := m.groupOffsets(c)
	find := func(offs []Offset, p Partition) (int64, bool) {
		i := slices.IndexFunc(offs, func(o Offset) bool { return o.Topic == p.Topic && o.ID == p.ID })
		if i < 0 {
			return 0, false
		}
		return offs[i].Offset, true
	}
	for _, o := range want {
		got, ok := find(m.found, o.Partition)
		if !ok {
			return fmt.Sprintf("%s has no offset in the group, the state says %d", o.Partition, o.Offset)
		}
		if got != o.Offset {
			return fmt.Sprintf("%s is at offset %d in the group, the state says %d", o.Partition, got, o.Offset)
		}
	}
	for _, o := range m.found {
		if _, ok := find(want, o.Partition); !ok {
			return fmt.Sprintf("%s is at offset %d in the group, the state does not know it", o.Partition, o.Offset)
		}
	}
	return ""
}
