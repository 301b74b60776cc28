package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
)

// memOutput keeps what it is given; what was not flushed is in doubt.
type memOutput struct {
	written, safe []string
	fail          error
}

func (o *memOutput) Write(_ context.Context, recs []Record) error {
	for _, r := range recs {
		o.written = append(o.written, string(r.Value))
	}
	return o.fail
}

func (o *memOutput) Flush(context.Context) error {
	if o.fail == nil {
		o.safe = append(o.safe, o.written...)
		o.written = nil
	}
	return o.fail
}

func put(t *testing.T, s statestore.Reader, key, val string) *statestore.Overlay {
	t.Helper()
	o := statestore.NewOverlay(s)
	if err := o.Put([]byte(key), []byte(val)); err != nil {
		t.Fatal(err)
	}
	return o
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func fileOffset(at int64) []Offset {
	return []Offset{{Partition: Partition{Topic: "file"}, Offset: at, LeaderEpoch: -1}}
}

// TestCommitterWithoutBroker runs a pipeline from file to file: outputs are flushed, then the store commits.
func TestCommitterWithoutBroker(t *testing.T) {
	ctx, store, out := t.Context(), memstore.New(), &memOutput{}
	opts := CommitterOptions{Config: commit.Config{Meta: statestore.Meta{Pipeline: "p"}}, Outputs: []Output{out}}
	c := NewCommitter(nil, store, opts)
	rec, err := c.Recover(ctx)
	ok(t, err)
	if !rec.First || len(rec.Offsets) > 0 {
		t.Fatalf("the first start goes on from %+v", rec)
	}
	ok(t, c.Begin(ctx))
	ok(t, c.Send(ctx, []Record{{Value: []byte("one")}}))
	other := put(t, store, "b", "2")
	res, err := c.CommitAll(ctx, []*statestore.Overlay{put(t, store, "a", "1"), other}, fileOffset(3), []byte("w"))
	if res != Done || err != nil {
		t.Fatalf("commit = %v, %v", res, err)
	}
	if d := cmp.Diff([]string{"one"}, out.safe); d != "" {
		t.Fatal(d)
	}
	// A failed output: the epoch is given up, the store does not change.
	out.fail = errors.New("broken pipe")
	ok(t, c.Begin(ctx))
	res, err = c.Commit(ctx, put(t, store, "a", "9"), fileOffset(9), nil)
	if res != commit.Aborted || err != nil || !errors.Is(c.Cause(), out.fail) {
		t.Fatalf("commit = %v, %v because of %v", res, err, c.Cause())
	}
	// A new process on what a power cut leaves.
	c = NewCommitter(nil, store.Crash(0), opts)
	rec, err = c.Recover(ctx)
	ok(t, err)
	want := Recovered{Offsets: fileOffset(3), Progress: []byte("w"), Epoch: 1}
	if d := cmp.Diff(want, rec); d != "" {
		t.Fatal(d)
	}
	for key, want := range map[string]string{"a": "1", "b": "2"} {
		if got, _, err := store.Get([]byte(key)); err != nil || string(got) != want {
			t.Fatalf("row %s is %q, %v; want %q", key, got, err, want)
		}
	}
}

// TestCommitterAtLeastOnce kills the process between the commit of the store and that of the offsets.
func TestCommitterAtLeastOnce(t *testing.T) {
	ctx := t.Context()
	w := newSimWorld(1)
	w.faults = false
	w.inputs[0] = []string{"a", "a", "a"}
	n := &simNode{w: w, id: "a", disk: memstore.New()}
	out := &memOutput{}
	opts := CommitterOptions{
		Config:  commit.Config{Meta: statestore.Meta{Pipeline: "p"}, Delivery: commit.AtLeastOnce},
		Outputs: []Output{out}, Random: simRandom{w.r},
	}
	broker := &lostOffsets{Broker: &simClient{w: w, n: n}}
	c := NewCommitter(broker, n.disk, opts)
	_, err := c.Recover(ctx)
	ok(t, err)
	in := func(at int64) []Offset {
		return []Offset{{Partition: Partition{Topic: "in"}, Offset: at, LeaderEpoch: -1}}
	}
	for i := range int64(2) {
		ok(t, c.Begin(ctx))
		ok(t, c.Send(ctx, []Record{{Value: []byte("x")}}))
		broker.dead = i == 1
		func() {
			defer func() { _ = recover() }() // the process that dies in the second commit
			res, err := c.Commit(ctx, put(t, n.disk, "n", string(rune('1'+i))), in(i+1), nil)
			if res != Done || err != nil {
				t.Fatalf("commit = %v, %v", res, err)
			}
		}()
	}
	if w.offsets[0].Offset != 1 {
		t.Fatalf("the group is at %d: the fault is not active", w.offsets[0].Offset)
	}
	c = NewCommitter(&simClient{w: w, n: n}, n.disk.Crash(0), opts)
	rec, err := c.Recover(ctx)
	ok(t, err)
	if rec.Epoch != 2 || rec.Offsets[0].Offset != 2 || w.offsets[0].Offset != 2 {
		t.Fatalf("recovered %+v, the group is at %d", rec, w.offsets[0].Offset)
	}
}

// lostOffsets is a broker before whose commit of offsets the process dies.
type lostOffsets struct {
	Broker
	dead bool
}

func (l *lostOffsets) CommitOffsets(ctx context.Context, offs []Offset) error {
	if l.dead {
		panic("dead")
	}
	return l.Broker.CommitOffsets(ctx, offs)
}

func TestInstanceID(t *testing.T) {
	s := memstore.New()
	random := simRandom{rand.New(rand.NewPCG(1, 2))}
	id, err := InstanceID(s, random)
	ok(t, err)
	again, err := InstanceID(s.Crash(0), random)
	ok(t, err)
	if id != again || len(id) != 36 || strings.Count(id, "-") != 4 {
		t.Fatalf("instance is %q, then %q", id, again)
	}
	// The committer keeps it.
	c := NewCommitter(nil, s, CommitterOptions{Config: commit.Config{Meta: statestore.Meta{Pipeline: "p", PlanHash: "h"}}})
	_, err = c.Recover(t.Context())
	ok(t, err)
	if c.Meta().Instance != id {
		t.Fatalf("the committer keeps instance %q, want %q", c.Meta().Instance, id)
	}
}
