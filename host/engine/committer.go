package engine

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/internal/crash"
	"github.com/wgate/wgate/statestore"
)

// Result is what became of an epoch: see commit.Result.
type Result = commit.Result

// Done is the result of an epoch that has committed.
const Done = commit.Done

// CommitterOptions are what a Committer needs beside its broker and its store.
type CommitterOptions struct {
	// Config is the protocol's. Its Delivery is overruled where there is no broker.
	Config commit.Config
	// Outputs are flushed in every commit, before anything is made permanent. The first of them takes what Send is given
	// where there is no transaction.
	Outputs []Output
	// Random is where tokens come from; nil is the system's.
	Random io.Reader
	// Wait lets time pass; nil is a timer.
	Wait func(ctx context.Context, d time.Duration) error
}

// Committer carries out the commit protocol on a broker and a store: it does what the machine of host/commit asks for. It
// is used by one goroutine.
type Committer struct {
	broker  Broker // nil: only the store commits
	store   statestore.Store
	opts    CommitterOptions
	machine *commit.Machine

	writes  []statestore.Writes // of the epoch that is being committed
	pending []byte              // buffer of the Pending row
	loaded  []byte              // the Pending row as it was loaded
}

// Recovered is what a start goes on from.
type Recovered struct {
	Offsets  []Offset // of all partitions; a partition that is not named begins where its source's start attribute says
	Progress []byte   // as it was given to the last commit
	First    bool     // nothing was ever committed
	Epoch    uint64   // the last committed epoch
}

// NewCommitter returns a Committer that waits for Recover. b is nil for a pipeline without a broker.
func NewCommitter(b Broker, s statestore.Store, o CommitterOptions) *Committer {
	if b == nil {
		o.Config.Delivery = commit.StoreOnly
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	return &Committer{broker: b, store: s, opts: o, machine: commit.New(o.Config)}
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Recover finds out what has been committed, brings the store there and seeks the broker to it: R1 to R7 of the protocol.
// It is the first call; after a Commit or Abort that has recovered by itself it only returns what that found. An epoch
// that is open is aborted. Errors are *commit.Stop or those of ctx.
func (c *Committer) Recover(ctx context.Context) (Recovered, error) {
	if _, err := c.run(ctx, commit.Recover{}); err != nil {
		return Recovered{}, err
	}
	return c.State(), nil
}

// State returns what has been committed, as Recover does, without looking at the broker or the store.
func (c *Committer) State() Recovered {
	st := c.machine.State()
	r := Recovered{Progress: st.Progress, First: st.First, Epoch: st.Epoch}
	for _, o := range st.Offsets {
		r.Offsets = append(r.Offsets, engineOffset(o))
	}
	return r
}

// Meta returns what the state belongs to, as it is kept.
func (c *Committer) Meta() statestore.Meta { return c.machine.Meta() }

// Cause returns why the last epoch was aborted or its outcome was not known; nil if the caller asked for it.
func (c *Committer) Cause() error { return c.machine.Cause() }

// Begin opens an epoch, and its transaction. Call it with data at hand: the member under which the transaction begins is
// the only one that may commit it. After an error, such as commit.ErrRevoked, the only way on is Abort or Recover.
func (c *Committer) Begin(ctx context.Context) error {
	_, err := c.run(ctx, commit.BeginEpoch{Revoked: c.revoked()})
	return err
}

// Send sends records within the epoch. The bytes belong to the committer from here on. After an error the only way on is
// Abort or Recover.
func (c *Committer) Send(ctx context.Context, recs []Record) error {
	var err error
	switch {
	case c.broker != nil && c.opts.Config.Delivery == commit.ExactlyOnce:
		err = c.broker.Send(ctx, recs)
	case len(c.opts.Outputs) > 0:
		err = c.opts.Outputs[0].Write(ctx, recs)
	default:
		err = fmt.Errorf("%w: records for a pipeline that has no output", commit.ErrCall)
	}
	if _, err2 := c.run(ctx, commit.Sent{Err: err}); err == nil {
		err = err2
	}
	return err
}

// Commit ends the epoch: what was sent, the offsets, the rows of overlay and progress become permanent together, or not at
// all. offs are the positions of all partitions that have one. On Done the caller resets the overlay. On any other result
// it drops the overlay, the fetched records and all plugin instances, and goes on from State: the broker has been set
// back; Recovered also covers the case that this very epoch had committed. Errors are *commit.Stop or those of ctx; then
// Recover must come next.
func (c *Committer) Commit(ctx context.Context, overlay *statestore.Overlay, offs []Offset, progress []byte) (Result, error) {
	return c.CommitAll(ctx, []*statestore.Overlay{overlay}, offs, progress)
}

// CommitAll is Commit with the overlays of several workers, which must not share keys.
func (c *Committer) CommitAll(ctx context.Context, overlays []*statestore.Overlay, offs []Offset, progress []byte) (Result, error) {
	crash.Point("outputs_sent")
	c.writes = c.writes[:0]
	for _, o := range overlays {
		o.Freeze()
		c.writes = append(c.writes, o)
	}
	ev := commit.CommitEpoch{Progress: append([]byte(nil), progress...), Revoked: c.revoked()}
	if _, err := io.ReadFull(c.opts.Random, ev.Token[:]); err != nil {
		return commit.None, fmt.Errorf("commit: no random token: %w", err)
	}
	for _, o := range offs {
		ev.Offsets = append(ev.Offsets, commitOffset(o))
	}
	return c.run(ctx, ev)
}

// Abort gives the epoch up and sets the broker back to what has been committed. The caller goes on as after a Commit that
// was not Done. If it cannot be known whether the transaction is aborted, Abort recovers.
func (c *Committer) Abort(ctx context.Context) error {
	_, err := c.run(ctx, commit.AbortEpoch{Revoked: c.revoked()})
	return err
}

func (c *Committer) revoked() bool { return c.broker != nil && c.broker.Revoked() }

// run gives the machine an event and does what it asks for until it returns.
func (c *Committer) run(ctx context.Context, ev commit.Event) (Result, error) {
	for {
		for _, act := range c.machine.Step(ev) {
			if ret, ok := act.(commit.Return); ok {
				return ret.Result, ret.Err
			}
			ev = c.do(ctx, act)
		}
	}
}

func commitOffset(o Offset) commit.Offset {
	return commit.Offset{Partition: commitPartition(o.Partition), Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata}
}

func engineOffset(o commit.Offset) Offset {
	return Offset{Partition: enginePartition(o.Partition), Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata}
}

func commitPartition(p Partition) commit.Partition {
	return commit.Partition{Source: p.Source, Topic: p.Topic, ID: p.ID}
}

func enginePartition(p commit.Partition) Partition {
	return Partition{Source: p.Source, Topic: p.Topic, ID: p.ID}
}
