package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/statestore"
)

// begin opens an epoch if none is open.
func (t *Task) begin() error {
	if t.epochEnd != event.MinTime {
		return nil
	}
	if err := t.cfg.Committer.Begin(t.ctx); err != nil {
		return epochError(err)
	}
	t.epochEnd = t.now.Add(t.cfg.Plan.Pipeline.Epoch)
	t.epoch++
	for _, s := range t.seats {
		s.in.At(t.epoch, t.now)
	}
	return nil
}

// send hands records to their output, or sends them in the epoch's transaction.
func (t *Task) send(to Output, recs []Record) error {
	if len(recs) == 0 {
		return nil
	}
	if err := t.begin(); err != nil {
		return err
	}
	if to != nil {
		return to.Write(t.ctx, recs)
	}
	return epochError(t.cfg.Committer.Send(t.ctx, recs))
}

// epochError marks an error of the committer that only costs the epoch.
func epochError(err error) error {
	if stop := (*commit.Stop)(nil); err == nil || errors.As(err, &stop) {
		return err
	}
	return fmt.Errorf("%w: %w", errEpoch, err)
}

// between ends the epoch if it is time, or if it has grown too large. The engine calls it only where the state and the
// positions agree: between two bundles and between two parts of a firing.
func (t *Task) between() error {
	t.stats.StateBytes.Store(int64(t.overlay.Size()))
	if t.epochEnd == event.MinTime && t.overlay.Size() == 0 {
		return nil
	}
	if t.now < t.epochEnd && t.overlay.Size() < overlayLimit {
		return nil
	}
	return t.commit()
}

// commit ends the epoch: outputs, offsets and state become visible together, or none of them.
func (t *Task) commit() error {
	if t.epochEnd == event.MinTime && t.overlay.Size() == 0 {
		return nil
	}
	if err := t.begin(); err != nil {
		return err
	}
	res, err := t.cfg.Committer.Commit(t.ctx, t.overlay, t.offsets(), t.progress())
	if err != nil {
		return err
	}
	if res != Done {
		t.cfg.Log.Warn("the epoch did not commit as it stood; going on from what is committed", "cause", t.cfg.Committer.Cause())
		return errRecovered
	}
	if err := t.resident.Absorb(t.overlay); err != nil {
		return err
	}
	t.overlay.Reset(t.resident)
	t.texts.release()
	t.epochEnd = event.MinTime
	t.stats.Epochs.Add(1)
	t.stats.LastCommit.Store(int64(t.now))
	t.passTrial()
	return nil
}

// offsets lists the positions of all partitions, in order.
func (t *Task) offsets() []Offset {
	offs := make([]Offset, 0, len(t.positions))
	for p, pos := range t.positions { // sorted below
		offs = append(offs, Offset{Partition: p, Offset: pos.next, LeaderEpoch: -1})
	}
	sort.Slice(offs, func(i, j int) bool {
		a, b := offs[i], offs[j]
		if a.Source != b.Source {
			return a.Source < b.Source
		}
		if a.Topic != b.Topic {
			return a.Topic < b.Topic
		}
		return a.ID < b.ID
	})
	return offs
}

// recover brings the task to what has been committed: state, positions, watermarks; plugin instances are new, since their
// memory is state that no transaction covers.
func (t *Task) recover() error {
	rec, err := t.cfg.Committer.Recover(t.ctx)
	if err != nil {
		return err
	}
	if t.cfg.Fresh != nil {
		t.cfg.Fresh()
	}
	t.seats = t.seats[:0]
	if t.trial != nil {
		t.trial.called, t.trial.now = false, t.trial.now[:0]
	}
	for _, in := range t.cfg.Inputs {
		if any(in) == any(t.cfg.Broker) {
			continue
		}
		if err := in.Seek(t.ctx, rec.Offsets); err != nil {
			return err
		}
	}
	t.texts = texts{} // what an epoch that failed has sent may still be referred to
	t.resident = statestore.NewResident(t.cfg.Store, residentBytes)
	if err := t.resident.Load(); err != nil {
		return commit.StoreStop(t.cfg.Plan.Pipeline.Name, err)
	}
	t.overlay = statestore.NewOverlay(t.resident)
	t.view = t.overlay
	t.epoch = rec.Epoch
	t.epochEnd, t.measured = event.MinTime, event.MinTime
	t.positions = map[Partition]position{}
	for _, o := range rec.Offsets {
		t.positions[o.Partition] = position{next: o.Offset}
	}
	for _, s := range t.sources {
		if s != nil {
			s.release()
		}
	}
	if err := t.build(); err != nil {
		return err
	}
	for _, g := range t.groups {
		if err := g.machine.Open(t.view); err != nil {
			return fmt.Errorf("%s: %w", g.node.Block, err)
		}
	}
	if err := t.restore(rec.Progress); err != nil {
		return err
	}
	// All partitions must be known before the first record: one alone is not the least of them.
	if err := t.look(); err != nil {
		return err
	}
	if rec.First {
		if err := t.settle(); err != nil {
			return err
		}
	}
	for _, s := range t.sources {
		if s == nil {
			continue
		}
		// What the watermark had passed when the epoch ended may still have to fire.
		if err := s.advance(s.tracker.Watermark()); err != nil {
			return err
		}
	}
	return nil
}

// settle commits the positions of a first start at once: a start from "latest" must mean the same place after a crash
// before the first record.
func (t *Task) settle() error {
	for _, p := range t.parts {
		if p.Position >= 0 {
			t.positions[p.Partition] = position{next: p.Position}
		}
	}
	if len(t.positions) == 0 || t.cfg.Broker == nil {
		return nil
	}
	if err := t.begin(); err != nil {
		return err
	}
	return t.commit()
}

// progress is what the engine itself keeps with an epoch: the trackers of the sources, by their names.
func (t *Task) progress() []byte {
	var b []byte
	for _, s := range t.sources {
		if s == nil {
			continue
		}
		state := s.tracker.Append(nil)
		b = appendBlock(appendBlock(b, []byte(s.node.Block)), state)
	}
	return b
}

var errProgress = errors.New("the watermarks kept with the last epoch are damaged; restore the state from a backup or start anew with an empty data folder")

func (t *Task) restore(b []byte) error {
	for len(b) > 0 {
		name, rest, ok := cutBlock(b)
		if !ok {
			return errProgress
		}
		state, rest, ok := cutBlock(rest)
		if !ok {
			return errProgress
		}
		b = rest
		for _, s := range t.sources {
			if s == nil || s.node.Block != string(name) {
				continue
			}
			if err := s.tracker.Restore(state, t.now); err != nil {
				return errors.Join(errProgress, err)
			}
		}
	}
	return nil
}

func appendBlock(dst, p []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(p))), p...)
}

func cutBlock(b []byte) (p, rest []byte, ok bool) {
	n, k := binary.Uvarint(b)
	if k <= 0 || n > uint64(len(b)-k) {
		return nil, nil, false
	}
	return b[k : k+int(n)], b[k+int(n):], true
}
