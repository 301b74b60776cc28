package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/internal/crash"
	"github.com/wgate/wgate/statestore"
)

// do carries an action out and returns the event that answers it.
func (c *Committer) do(ctx context.Context, act commit.Action) commit.Event {
	switch act := act.(type) {
	case commit.Load:
		return c.load()
	case commit.WriteMeta:
		return commit.MetaWritten{Err: c.writeMeta(act.Meta)}
	case commit.Redo:
		err := c.redo()
		return commit.Applied{Err: err}
	case commit.DropPending:
		c.loaded = nil
		return commit.Applied{Err: c.store.DropPending()}
	case commit.Flush:
		err := c.flush(ctx)
		if err == nil {
			crash.Point("flushed")
		}
		return commit.Flushed{Err: err, Revoked: c.revoked()}
	case commit.WritePending:
		err := c.writePending(act.Committed)
		if err == nil {
			crash.Point("pending_synced")
		}
		return commit.PendingWritten{Err: err, Revoked: c.revoked()}
	case commit.Apply:
		err := c.store.Apply(commit.AppendCommitted(nil, act.Committed), act.Sync, c.writes...)
		if err == nil {
			crash.Point("applied")
		}
		return commit.Applied{Err: err}
	case commit.Wait:
		return commit.Waited{Err: c.opts.Wait(ctx, act.For)}
	case commit.Fence, commit.Fetch, commit.Bounds, commit.Seek, commit.Rebuild:
		return c.doRecovery(ctx, act)
	}
	return c.doEpoch(ctx, act)
}

// given marks an error that is due to the end of ctx. A deadline inside the client is not: the next try may meet it.
func given(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return errors.Join(commit.ErrGivenUp, err)
	}
	return err
}

// doRecovery carries an action out that is a call on the broker during a recovery.
func (c *Committer) doRecovery(ctx context.Context, act commit.Action) commit.Event {
	switch act := act.(type) {
	case commit.Fence:
		return commit.Fenced{Err: given(ctx, c.broker.Fence(ctx))}
	case commit.Fetch:
		offs, stable, err := c.broker.FetchOffsets(ctx)
		ev := commit.Fetched{Stable: stable, Err: given(ctx, err)}
		for _, o := range offs {
			ev.Offsets = append(ev.Offsets, commitOffset(o))
		}
		return ev
	case commit.Bounds:
		return c.bounds(ctx, act.Partitions)
	case commit.Seek:
		revoked := c.revoked()
		err := c.broker.Seek(ctx, engineOffsets(act.Offsets))
		return commit.Seeked{Err: given(ctx, err), Revoked: revoked || c.revoked()}
	default:
		return commit.Rebuilt{Err: given(ctx, c.broker.Rebuild(ctx))}
	}
}

// doEpoch carries an action out that is a call on the broker during an epoch. The end of a transaction is never
// cancelled: half a call would leave more to find out than a slow one.
func (c *Committer) doEpoch(ctx context.Context, act commit.Action) commit.Event {
	switch act := act.(type) {
	case commit.Begin:
		m, err := c.broker.Begin(ctx)
		return commit.Began{Member: commit.Member{ID: m.ID, Generation: m.Generation}, Err: err}
	case commit.End:
		crash.Point("offsets_staged")
		m := Member{ID: act.Member.ID, Generation: act.Member.Generation}
		out, err := c.broker.End(context.WithoutCancel(ctx), m, engineOffsets(act.Offsets))
		crash.Point("end_answered")
		return commit.Ended{Committed: out == Committed && err == nil, Err: err}
	case commit.Abort:
		return commit.AbortEnded{Err: c.broker.Abort(context.WithoutCancel(ctx))}
	case commit.CommitOffsets:
		return commit.OffsetsCommitted{Err: c.broker.CommitOffsets(context.WithoutCancel(ctx), engineOffsets(act.Offsets))}
	}
	return commit.Waited{Err: fmt.Errorf("%w: the driver does not know %T", commit.ErrCall, act)}
}

func engineOffsets(offs []commit.Offset) []Offset {
	out := make([]Offset, len(offs))
	for i, o := range offs {
		out[i] = engineOffset(o)
	}
	return out
}

func (c *Committer) bounds(ctx context.Context, ps []commit.Partition) commit.Event {
	var ev commit.Bounded
	for _, p := range ps {
		first, next, err := c.broker.Bounds(ctx, enginePartition(p))
		if err != nil {
			return commit.Bounded{Err: fmt.Errorf("bounds of %s: %w", p, given(ctx, err))}
		}
		ev.First, ev.Next = append(ev.First, first), append(ev.Next, next)
	}
	return ev
}

// load reads the system rows.
func (c *Committer) load() commit.Event {
	var ev commit.Loaded
	for r, dst := range map[statestore.SystemRow]*[]byte{
		statestore.MetaRow: &ev.Meta, statestore.CommittedRow: &ev.Committed, statestore.PendingRow: &ev.Pending,
	} {
		val, ok, err := c.store.System(r)
		if err != nil {
			return commit.Loaded{Err: err}
		}
		if ok {
			*dst = append([]byte{}, val...)
		}
	}
	ev.HasRows, ev.Err = c.store.HasRows()
	c.loaded = ev.Pending
	return ev
}

func (c *Committer) writeMeta(m statestore.Meta) error {
	b, err := statestore.AppendMeta(nil, m)
	if err != nil {
		return err
	}
	return c.store.WriteMeta(b)
}

// redo applies the Pending row that was loaded.
func (c *Committer) redo() error {
	p, err := commit.DecodePending(c.loaded)
	if err != nil {
		return err
	}
	writes := make([]statestore.Writes, len(p.Batches))
	for i, b := range p.Batches {
		writes[i] = b
	}
	c.loaded = nil
	return c.store.Apply(commit.AppendCommitted(nil, p.Committed), false, writes...)
}

// flush waits for all outputs, those in the transaction last.
func (c *Committer) flush(ctx context.Context) error {
	for _, o := range c.opts.Outputs {
		if err := o.Flush(ctx); err != nil {
			return err
		}
	}
	if c.broker != nil && c.opts.Config.Delivery == commit.ExactlyOnce {
		return c.broker.Flush(ctx)
	}
	return nil
}

// pendingKeep is the size up to which the buffer of the Pending row is kept between epochs.
const pendingKeep = 16 << 20

func (c *Committer) writePending(to commit.Committed) error {
	b, err := commit.AppendPending(c.pending[:0], to, c.writes...)
	if err != nil {
		return err
	}
	err = c.store.WritePending(b)
	if c.pending = b; cap(b) > pendingKeep {
		c.pending = nil
	}
	return err
}

// InstanceID returns the uuid of a state folder, which is part of the transactional id. It is drawn from random and kept,
// synced, when the folder is new.
func InstanceID(s statestore.Store, random interface{ Read([]byte) (int, error) }) (string, error) {
	b, ok, err := s.System(statestore.MetaRow)
	if err != nil {
		return "", err
	}
	var m statestore.Meta
	if ok {
		if m, err = statestore.DecodeMeta(b); err != nil {
			return "", err
		}
	}
	if m.Instance != "" {
		return m.Instance, nil
	}
	var id [16]byte
	if n, err := random.Read(id[:]); err != nil || n < len(id) {
		return "", errors.Join(errors.New("state: no random bytes for the instance's uuid"), err)
	}
	id[6], id[8] = id[6]&0x0F|0x40, id[8]&0x3F|0x80
	m.Instance = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	if b, err = statestore.AppendMeta(nil, m); err != nil {
		return "", err
	}
	return m.Instance, s.WriteMeta(b)
}
