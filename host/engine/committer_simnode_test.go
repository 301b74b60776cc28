package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
)

// simNode is a node with a disk, and the process that runs on it at the moment, if one does: an engine in small that
// counts the records of each key.
type simNode struct {
	w      *simWorld
	id     string // of the instance: part of the transactional id
	disk   *memstore.Store
	guards commit.Guards

	client    *simClient
	committer *Committer
	overlay   *statestore.Overlay
	open      bool // an epoch is open
	stop      *commit.Stop
	commits   int
}

// simKilled is the panic of a process that dies.
type simKilled struct{ at string }

func (n *simNode) mayDie(at string) {
	if n.w.chance(2) {
		panic(simKilled{at})
	}
}

// step lets the process do one thing; a process that dies leaves its disk as after a power cut.
func (n *simNode) step() {
	defer func() {
		switch k := recover().(type) {
		case nil:
		case simKilled:
			n.w.log("%s dies at %s", n.id, k.at)
			n.disk = n.disk.Crash(n.w.r.IntN(n.disk.Unsynced() + 1))
			n.committer, n.client = nil, nil
		default:
			panic(k)
		}
	}()
	n.mayDie("step")
	switch {
	case n.committer == nil:
		n.start()
	case !n.open && n.w.r.IntN(12) == 0:
		n.begin() // a timer fires: an epoch without a record
	case n.open && n.w.r.IntN(3) == 0:
		n.commit()
	case n.open && n.w.chance(6):
		n.settle(commit.Aborted, n.committer.Abort(context.Background()))
	default:
		n.process()
	}
}

func (n *simNode) start() {
	n.stop, n.open = nil, false
	n.client = &simClient{w: n.w, n: n}
	n.committer = NewCommitter(n.client, simStore{n.disk, n}, CommitterOptions{
		Config: commit.Config{Meta: statestore.Meta{Pipeline: "sim"}, Unguarded: n.guards, MaxRecoveries: 1000},
		Random: simRandom{n.w.r},
		Wait:   func(context.Context, time.Duration) error { n.w.tick(); return nil },
	})
	_, err := n.committer.Recover(context.Background())
	n.settle(commit.Recovered, err)
}

func (n *simNode) begin() bool {
	if n.open {
		return true
	}
	n.open = true
	if err := n.committer.Begin(context.Background()); err != nil {
		n.settle(commit.Aborted, n.committer.Abort(context.Background()))
		return false
	}
	return true
}

// process takes some records of one partition, counts them and sends the counts.
func (n *simNode) process() {
	p := n.w.r.IntN(2)
	todo := n.w.inputs[p][min(n.client.positions[p], int64(len(n.w.inputs[p]))):]
	todo = todo[:min(len(todo), 1+n.w.r.IntN(3))]
	if len(todo) == 0 || !n.begin() {
		return
	}
	var recs []Record
	for _, key := range todo {
		name := fmt.Sprintf("%d/%s", p, key)
		val, _, _ := n.overlay.Get([]byte(name)) // a memstore that is open does not fail
		count, _ := strconv.Atoi(string(val))    // an absent row counts 0
		count++
		if err := n.overlay.Put([]byte(name), []byte(strconv.Itoa(count))); err != nil {
			n.w.violate("put: %v", err)
		}
		recs = append(recs, Record{Value: []byte(fmt.Sprintf("%s=%d", name, count))})
	}
	n.client.positions[p] += int64(len(todo))
	if err := n.committer.Send(context.Background(), recs); err != nil {
		n.settle(commit.Aborted, n.committer.Abort(context.Background()))
	}
}

func (n *simNode) commit() {
	var offs []Offset
	for p, at := range n.client.positions {
		offs = append(offs, Offset{Partition: Partition{Topic: "in", ID: int32(p)}, Offset: at, LeaderEpoch: -1})
	}
	progress := fmt.Sprint(n.client.positions)
	res, err := n.committer.Commit(context.Background(), n.overlay, offs, []byte(progress))
	n.settle(res, err)
}

// settle takes the outcome of a call and checks that what the node goes on from is what was committed.
func (n *simNode) settle(res commit.Result, err error) {
	n.open = false
	if err != nil {
		n.stopped(err)
		return
	}
	n.overlay = statestore.NewOverlay(n.disk)
	st := n.committer.machine.State()
	n.w.log("%s: %s, epoch %d, token %s", n.id, res, st.Epoch, st.Token)
	if res == commit.Done {
		n.commits++
	}
	n.check(st)
}

// stopped takes the end of a pipeline: it must say why and what to do (I15).
func (n *simNode) stopped(err error) {
	n.committer, n.client = nil, nil
	stop, ok := errors.AsType[*commit.Stop](err)
	if !ok || stop.Code == "" || stop.Cause == "" || stop.Next == "" {
		n.w.violate("I15: %s stops with %v", n.id, err)
		return
	}
	n.stop = stop
	n.w.log("%s stops: %s", n.id, stop.Code)
}

// check is I2, I3, I4, I8 and I12 in one: where the node stands is what the group holds, the rows are those of the inputs
// below the offsets, no transaction is open, and the progress is the one that was committed with the token. Another owner
// may have gone on meanwhile: then the node is out of date and will be refused, which is for the broker's side to see.
func (n *simNode) check(st commit.State) {
	if p := n.w.producers[n.id]; p != nil && p.epoch == n.client.epoch && p.txn != nil && !p.txn.decided {
		n.w.violate("I8: %s has a transaction open while idle", n.id)
	}
	offs := map[int32]int64{}
	for _, o := range st.Offsets {
		offs[o.ID] = o.Offset
	}
	if st.Token == n.w.lastToken {
		for p, o := range n.w.offsets {
			if offs[p] != o.Offset {
				n.w.violate("I2: %s is at %v, the group at %s", n.id, offs, n.w.offsetText())
			}
		}
	}
	if want := n.w.progress[st.Token]; !st.First && string(st.Progress) != want {
		n.w.violate("I12: progress of %s is %q, want %q", st.Token, st.Progress, want)
	}
	want := n.w.modelRows(offs)
	it, err := n.disk.Scan(nil, nil)
	if err != nil {
		n.w.violate("scan: %v", err)
		return
	}
	rows := 0
	for it.Next() {
		rows++
		if strconv.Itoa(want[string(it.Key())]) != string(it.Value()) {
			n.w.violate("I4: row %s of %s is %s, want %d at %v", it.Key(), n.id, it.Value(), want[string(it.Key())], offs)
		}
	}
	if rows != len(want) {
		n.w.violate("I4: %s has %d rows, want %d at %v", n.id, rows, len(want), offs)
	}
}

// checkEnd is I5, I6 and I7: the epoch is bound to the member that began it, its redo is on disk for good, its parent is
// the last committed epoch if it may commit at all, and exactly one offset carries its token.
func (n *simNode) checkEnd(m Member, offs []Offset) {
	if m != n.client.began {
		n.w.violate("I5: %s ends as %v, began as %v", n.id, m, n.client.began)
	}
	var tokens []commit.Token
	for _, o := range offs {
		if wit, err := commit.DecodeWitness(o.Metadata); err == nil {
			tokens = append(tokens, wit.Token)
		}
	}
	if len(tokens) != 1 {
		n.w.violate("I7: %s commits %d tokens", n.id, len(tokens))
		return
	}
	row, _, _ := n.disk.Crash(0).System(statestore.PendingRow) // a memstore that is open does not fail
	p, err := commit.DecodePending(row)
	if err != nil || p.Committed.Token != tokens[0] {
		n.w.violate("the redo of %s is not on the disk of %s: %v", tokens[0], n.id, err)
		return
	}
	owner := n.w.producers[n.id].epoch == n.client.epoch && m.Generation == n.w.generation
	if owner && p.Committed.Parent != n.w.lastToken && !n.w.undecided() {
		n.w.violate("I6: %s commits an epoch after %s, the last is %s", n.id, p.Committed.Parent, n.w.lastToken)
	}
	n.w.progress[tokens[0]] = string(p.Committed.Progress)
}

// undecided reports whether a commit is written down whose markers are on their way.
func (w *simWorld) undecided() bool {
	for _, p := range w.producers {
		if p.txn != nil && p.txn.decided {
			return true
		}
	}
	return false
}

// simStore is a node's disk: the process may die before and after every write.
type simStore struct {
	*memstore.Store
	n *simNode
}

func (s simStore) dying(call string, write func() error) error {
	s.n.mayDie("before " + call)
	err := write()
	s.n.mayDie("after " + call)
	return err
}

func (s simStore) WriteMeta(val []byte) error {
	return s.dying("meta", func() error { return s.Store.WriteMeta(val) })
}

func (s simStore) WritePending(val []byte) error {
	return s.dying("pending", func() error { return s.Store.WritePending(val) })
}

func (s simStore) DropPending() error { return s.dying("drop", s.Store.DropPending) }

func (s simStore) Apply(committed []byte, sync bool, writes ...statestore.Writes) error {
	return s.dying("apply", func() error { return s.Store.Apply(committed, sync, writes...) })
}

// simRandom draws tokens from the seed.
type simRandom struct{ r *rand.Rand }

func (s simRandom) Read(p []byte) (int, error) {
	var b bytes.Buffer
	for b.Len() < len(p) {
		_ = binary.Write(&b, binary.LittleEndian, s.r.Uint64()) // a buffer takes everything
	}
	return copy(p, b.Bytes()), nil
}
