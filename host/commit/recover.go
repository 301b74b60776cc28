package commit

import (
	"errors"
	"slices"
	"time"

	"github.com/wgate/wgate/statestore"
)

// start begins a recovery at R1. Right after one there is nothing to do; an epoch that is open is given up.
func (m *Machine) start(ev Recover) []Action {
	switch {
	case m.phase == ready && m.fresh:
		return []Action{Return{Result: m.result}}
	case m.phase == open:
		return m.abort(false)
	case m.phase != closed && m.phase != ready:
		return m.misuse(ev)
	}
	if m.cfg.Mode != Local {
		return m.stop(CodeMode, "")
	}
	m.result, m.recoveries, m.failures, m.cause = None, 0, 0, nil
	if m.used {
		m.waited, m.tries = 0, 0
		m.phase = rebuilding
		return []Action{Rebuild{}}
	}
	return m.load()
}

func (m *Machine) load() []Action {
	m.phase = loading
	m.waited, m.tries, m.found = 0, 0, nil
	return []Action{Load{}}
}

// rebuild is step 7: close the client and find out what happened.
func (m *Machine) rebuild(result Result) []Action {
	m.result = result
	m.recoveries++
	if m.recoveries > m.cfg.MaxRecoveries {
		return m.stop(CodeRefused, "%d recoveries in a row without a commit; the last committed epoch is %d", m.recoveries-1, m.committed.Epoch)
	}
	m.waited, m.tries = 0, 0
	if m.cfg.Delivery == StoreOnly {
		return m.load()
	}
	if m.recoveries > 1 {
		m.phase = waitingBroker
		return []Action{Wait{backoff(m.recoveries - 1)}}
	}
	m.phase = rebuilding
	return []Action{Rebuild{}}
}

// brokerFailed tries again with a new client, until the limit. An error that is a Stop already stays one.
func (m *Machine) brokerFailed(err error) []Action {
	if s, ok := errors.AsType[*Stop](err); ok {
		return m.stopped(s)
	}
	if errors.Is(err, ErrGivenUp) {
		m.phase = closed
		return []Action{Return{Err: err}}
	}
	m.tries++
	d := backoff(m.tries)
	if m.waited += d; m.waited > m.cfg.BrokerLimit {
		return m.stopped(NewStop(CodeBroker, m.cfg.Meta.Pipeline, err.Error(), err))
	}
	m.phase = waitingBroker
	return []Action{Wait{d}}
}

// recoveryAnswer takes the answers to the actions of a recovery.
func (m *Machine) recoveryAnswer(ev Event) []Action {
	switch ev := ev.(type) {
	case Loaded:
		if m.phase == loading {
			return m.loaded(ev)
		}
	case MetaWritten:
		if m.phase == writingMeta {
			if ev.Err != nil {
				return m.storeFailed(ev.Err)
			}
			return m.fence()
		}
	case Fenced:
		if m.phase == fencing {
			if ev.Err != nil {
				return m.brokerFailed(ev.Err)
			}
			m.phase = fetching
			return []Action{Fetch{}}
		}
	case Fetched:
		if m.phase == fetching {
			return m.fetched(ev)
		}
	case Bounded:
		if m.phase == bounding {
			return m.bounded(ev)
		}
	case Seeked:
		if m.phase == seeking || m.phase == reseeking {
			return m.sought(ev)
		}
	case Rebuilt:
		if m.phase == rebuilding {
			if ev.Err != nil {
				return m.brokerFailed(ev.Err)
			}
			return m.loadAgain()
		}
	case Waited:
		return m.waitEnded(ev)
	}
	return m.misuse(ev)
}

// loadAgain goes back to R1 and keeps the time that was spent waiting.
func (m *Machine) loadAgain() []Action {
	waited, tries := m.waited, m.tries
	acts := m.load()
	m.waited, m.tries = waited, tries
	return acts
}

func (m *Machine) waitEnded(ev Waited) []Action {
	if m.phase != waitingBroker && m.phase != waitingStable {
		return m.misuse(ev)
	}
	if ev.Err != nil {
		m.phase = closed
		return []Action{Return{Err: ev.Err}}
	}
	if m.phase == waitingStable {
		m.phase = fetching
		return []Action{Fetch{}}
	}
	m.phase = rebuilding
	return []Action{Rebuild{}}
}

// loaded is R1: what the store holds, and whether it belongs here.
func (m *Machine) loaded(ev Loaded) []Action {
	if ev.Err != nil {
		return m.storeFailed(ev.Err)
	}
	m.committed, m.pending, m.pendingErr = Committed{}, nil, nil
	m.hasRows, m.pendingSeen = ev.HasRows, ev.Pending != nil
	if ev.Committed != nil {
		c, err := DecodeCommitted(ev.Committed)
		if err != nil {
			return m.storeFailed(err)
		}
		m.committed = c
	}
	if ev.Pending != nil {
		p, err := DecodePending(ev.Pending)
		if errors.Is(err, statestore.ErrNewer) {
			return m.storeFailed(err)
		}
		if m.pendingErr = err; err == nil {
			m.pending = &p.Committed
		}
	}
	was := statestore.Meta{}
	if ev.Meta != nil {
		var err error
		if was, err = statestore.DecodeMeta(ev.Meta); err != nil {
			return m.storeFailed(err)
		}
	}
	keep, stop := checkMeta(was, m.cfg.Meta)
	if stop != nil {
		return m.stopped(stop)
	}
	m.meta = keep
	if ev.Meta == nil || !sameMeta(was, keep) {
		m.phase = writingMeta
		return []Action{WriteMeta{keep}}
	}
	return m.fence()
}

// fence is R2.
func (m *Machine) fence() []Action {
	if m.cfg.Delivery == StoreOnly {
		return m.decideAlone()
	}
	m.phase, m.used, m.member = fencing, true, Member{}
	return []Action{Fence{}}
}

// unstableWait is the time between two looks at unstable offsets.
const unstableWait = 200 * time.Millisecond

// fetched is R3.
func (m *Machine) fetched(ev Fetched) []Action {
	if ev.Err != nil {
		return m.brokerFailed(ev.Err)
	}
	if !ev.Stable {
		if m.waited += unstableWait; m.waited > m.cfg.UnstableLimit {
			return m.stop(CodeUnstable, "waited %s", m.cfg.UnstableLimit)
		}
		m.phase = waitingStable
		return []Action{Wait{unstableWait}}
	}
	m.found = m.found[:0]
	for _, o := range ev.Offsets {
		if o.Offset >= 0 {
			m.found = append(m.found, o)
		}
	}
	slices.SortFunc(m.found, func(a, b Offset) int { return a.compare(b.Partition) })
	return m.decide()
}

// askBounds is the first half of R6: the committed offsets must lie inside what the topics still hold.
func (m *Machine) askBounds() []Action {
	if m.cfg.Delivery == StoreOnly {
		return m.atReady()
	}
	var ps []Partition
	for _, o := range m.seekTo() {
		ps = append(ps, o.Partition)
	}
	if len(ps) == 0 {
		m.phase = seeking
		return []Action{Seek{}}
	}
	m.phase = bounding
	return []Action{Bounds{ps}}
}

func (m *Machine) bounded(ev Bounded) []Action {
	if ev.Err != nil {
		return m.brokerFailed(ev.Err)
	}
	offs := m.seekTo()
	for i, o := range offs {
		switch {
		case ev.First[i] > o.Offset:
			return m.stop(CodeExpired, "%s was read up to offset %d and begins at %d now", o.Partition, o.Offset, ev.First[i])
		case ev.Next[i] < o.Offset:
			return m.stop(CodeCut, "%s was read up to offset %d and ends at %d now", o.Partition, o.Offset, ev.Next[i])
		}
	}
	m.phase = seeking
	return []Action{Seek{offs}}
}

// sought is R7, and the end of a known abort.
func (m *Machine) sought(ev Seeked) []Action {
	if ev.Err != nil {
		return m.brokerFailed(ev.Err)
	}
	if ev.Revoked {
		return m.brokerFailed(ErrRevoked)
	}
	if m.phase == reseeking {
		return m.backAtReady()
	}
	return m.atReady()
}

func (m *Machine) atReady() []Action {
	m.phase, m.fresh = ready, true
	return []Action{Return{Result: m.result}}
}
