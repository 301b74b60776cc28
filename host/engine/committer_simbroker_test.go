package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wgate/wgate/host/commit"
)

// simWorld is everything outside the processes: a model broker with two input partitions, one group and one output log,
// and the faults that the seed asks for. One goroutine runs it all, so that a seed is a run.
type simWorld struct {
	r      *rand.Rand
	seed   uint64
	faults bool // off in the last phase of a run
	trace  []string
	hash   uint64

	inputs     [2][]string      // keys by offset
	generation int32            // of the group
	owner      *simClient       // of the partitions
	members    []*simClient     // of the group, as far as they live
	offsets    map[int32]Offset // committed in the group
	producers  map[string]*simProducer
	outputs    [2][]string // of committed transactions, by input partition
	flight     []simEnd    // EndTxn requests that the client gave up and that may still arrive
	lastToken  commit.Token
	progress   map[commit.Token]string // as given to the commit
	violations []string

	interleave func()          // lets the other node run in the middle of a call
	excuses    map[string]bool // what was done that a node may stop for
	stopCode   string
}

// simProducer is a transactional id at its coordinator.
type simProducer struct {
	epoch int
	txn   *simTxn
}

// simTxn is a transaction. Decided means that its commit is written down and its markers are on their way.
type simTxn struct {
	outs    [2][]string
	staged  []Offset
	decided bool
}

type simEnd struct {
	id     string
	epoch  int
	member Member
	txn    *simTxn
	offs   []Offset
}

func newSimWorld(seed uint64) *simWorld {
	return &simWorld{
		r: rand.New(rand.NewPCG(seed, 0x5eed)), seed: seed, faults: true,
		offsets: map[int32]Offset{}, producers: map[string]*simProducer{}, progress: map[commit.Token]string{},
		excuses: map[string]bool{}, interleave: func() {},
	}
}

func (w *simWorld) log(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	w.trace = append(w.trace, line)
	h := fnv.New64a()
	fmt.Fprintf(h, "%x %s", w.hash, line)
	w.hash = h.Sum64()
}

// chance is true in percent of all cases while faults are on.
func (w *simWorld) chance(percent int) bool { return w.faults && w.r.IntN(100) < percent }

func (w *simWorld) violate(format string, args ...any) {
	v := fmt.Sprintf(format, args...)
	w.violations = append(w.violations, v)
	w.log("VIOLATION %s", v)
}

// modelOutput is what record at of partition p should lead to, computed from the inputs alone.
func (w *simWorld) modelOutput(p, at int) string {
	n := 0
	for _, k := range w.inputs[p][:at+1] {
		if k == w.inputs[p][at] {
			n++
		}
	}
	return fmt.Sprintf("%d/%s=%d", p, w.inputs[p][at], n)
}

// modelRows is the state that belongs to the group's offsets.
func (w *simWorld) modelRows(offs map[int32]int64) map[string]int {
	rows := map[string]int{}
	for p := range w.inputs {
		for _, k := range w.inputs[p][:offs[int32(p)]] {
			rows[fmt.Sprintf("%d/%s", p, k)]++
		}
	}
	return rows
}

// tick lets things happen by themselves: inputs arrive, markers, late requests, timeouts, rebalances.
func (w *simWorld) tick() {
	if total := len(w.inputs[0]) + len(w.inputs[1]); total < 40 && w.r.IntN(2) == 0 {
		p := w.r.IntN(2)
		w.inputs[p] = append(w.inputs[p], string(rune('a'+w.r.IntN(3))))
	}
	for _, id := range []string{"a", "b"} {
		p := w.producers[id]
		if p == nil || p.txn == nil {
			continue
		}
		switch {
		case p.txn.decided:
			if w.r.IntN(3) == 0 {
				w.complete(id)
			}
		case w.chance(2):
			w.log("coordinator aborts the transaction of %s", id)
			p.txn, p.epoch = nil, p.epoch+1
		}
	}
	if len(w.flight) > 0 && w.chance(40) {
		end := w.flight[0]
		w.flight = w.flight[1:]
		w.log("late request of %s: %v", end.id, w.end(end))
	}
	if w.chance(3) && len(w.members) > 0 {
		w.own(w.members[w.r.IntN(len(w.members))])
		w.log("rebalance: generation %d belongs to %s", w.generation, w.owner.n.id)
	}
}

// own is a rebalance after which c has all partitions.
func (w *simWorld) own(c *simClient) {
	w.generation++
	if w.owner != nil && w.owner != c {
		w.owner.gone = true
	}
	w.owner = c
	w.members = slices.DeleteFunc(w.members, func(m *simClient) bool { return m == c || m.n.client != m })
	w.members = append(w.members, c)
}

var (
	errFenced  = errors.New("fenced")
	errRefused = errors.New("generation refused")
	errLost    = errors.New("reply lost")
)

// end is EndTxn with commit at the coordinator, and the staging of the offsets before it.
func (w *simWorld) end(e simEnd) error {
	p := w.producers[e.id]
	if p.epoch != e.epoch || p.txn != e.txn || p.txn == nil || p.txn.decided {
		return errFenced
	}
	if e.member.Generation != w.generation {
		p.txn = nil
		return errRefused
	}
	p.txn.staged, p.txn.decided = e.offs, true
	if w.r.IntN(4) > 0 {
		w.complete(e.id)
	}
	return nil
}

// complete writes the markers of a decided transaction and checks what readers see now: invariant I1.
func (w *simWorld) complete(id string) {
	p := w.producers[id]
	t := p.txn
	p.txn = nil
	for i := range w.outputs {
		w.outputs[i] = append(w.outputs[i], t.outs[i]...)
	}
	for _, o := range t.staged {
		w.offsets[o.ID] = o
		if wit, err := commit.DecodeWitness(o.Metadata); err == nil {
			w.lastToken = wit.Token
		}
	}
	w.log("committed %s of %s: %s", w.lastToken, id, w.offsetText())
	for i := range w.outputs {
		var want []string
		for at := range w.offsets[int32(i)].Offset {
			want = append(want, w.modelOutput(i, int(at)))
		}
		if got := strings.Join(w.outputs[i], " "); got != strings.Join(want, " ") {
			w.violate("I1: output of partition %d is %s, want %s", i, got, strings.Join(want, " "))
		}
	}
}

func (w *simWorld) offsetText() string {
	return fmt.Sprintf("%d %d", w.offsets[0].Offset, w.offsets[1].Offset)
}

// simClient is the Kafka client of one life of a node.
type simClient struct {
	w         *simWorld
	n         *simNode
	epoch     int
	txn       *simTxn
	began     Member
	joined    int32 // generation that the client knows
	gone      bool  // it has lost its partitions, which it learns with the generation
	lost      bool  // it knows
	positions [2]int64
}

// learn is the heartbeat: the client hears of the group's generation, sooner or later.
func (c *simClient) learn() {
	if c.joined != c.w.generation && c.w.r.IntN(2) == 0 {
		c.joined = c.w.generation
		c.lost, c.gone = c.lost || c.gone, false
	}
}

// enter is passed by every call: the process may die here, or sleep while others go on.
func (c *simClient) enter(call string) {
	c.w.tick()
	c.learn()
	c.n.mayDie(call)
	c.w.interleave()
}

func (c *simClient) Fence(context.Context) error {
	c.enter("fence")
	if c.w.chance(5) {
		return errors.New("timeout")
	}
	p := c.w.producers[c.n.id]
	if p == nil {
		p = &simProducer{}
		c.w.producers[c.n.id] = p
	}
	if p.txn != nil && p.txn.decided {
		c.w.complete(c.n.id)
	}
	p.txn, p.epoch = nil, p.epoch+1
	c.epoch, c.txn = p.epoch, nil
	c.w.own(c)
	c.joined, c.lost, c.gone = c.w.generation, false, false
	c.w.log("%s fences: epoch %d, generation %d", c.n.id, c.epoch, c.joined)
	c.n.mayDie("fenced")
	return nil
}

func (c *simClient) FetchOffsets(context.Context) ([]Offset, bool, error) {
	c.enter("fetch")
	if c.w.chance(5) {
		return nil, false, errors.New("timeout")
	}
	for _, id := range []string{"a", "b"} {
		if p := c.w.producers[id]; p != nil && p.txn != nil && p.txn.decided {
			return nil, false, nil
		}
	}
	var offs []Offset
	for p := range int32(2) {
		if o, ok := c.w.offsets[p]; ok {
			offs = append(offs, o)
		}
	}
	return offs, true, nil
}

func (c *simClient) Bounds(_ context.Context, p Partition) (first, next int64, err error) {
	return 0, int64(len(c.w.inputs[p.ID])), nil
}

func (c *simClient) Seek(_ context.Context, offs []Offset) error {
	c.enter("seek")
	if c.w.chance(3) {
		return errors.New("timeout")
	}
	c.positions = [2]int64{}
	for _, o := range offs {
		c.positions[o.ID] = o.Offset
	}
	return nil
}

func (c *simClient) Begin(context.Context) (Member, error) {
	c.enter("begin")
	if c.txn != nil {
		c.w.violate("I8: a second transaction is begun by %s", c.n.id)
	}
	if c.w.chance(3) {
		return Member{}, errors.New("timeout")
	}
	if p := c.w.producers[c.n.id]; p.epoch == c.epoch {
		if p.txn != nil && p.txn.decided {
			c.w.complete(c.n.id) // the coordinator lets the next one wait until the markers are written
		}
		p.txn = &simTxn{}
		c.txn = p.txn
	} else {
		c.txn = &simTxn{} // fenced: found out later, as with a real client
	}
	c.began = Member{ID: c.n.id, Generation: c.joined}
	return c.began, nil
}

func (c *simClient) Send(_ context.Context, recs []Record) error {
	c.enter("send")
	if c.w.chance(3) {
		return errors.New("timeout")
	}
	for _, r := range recs {
		out := string(r.Value)
		p := out[0] - '0'
		c.txn.outs[p] = append(c.txn.outs[p], out)
	}
	return nil
}

func (c *simClient) Flush(context.Context) error {
	c.enter("flush")
	if c.w.chance(3) || c.w.producers[c.n.id].epoch != c.epoch {
		return errors.New("timeout")
	}
	return nil
}

func (c *simClient) End(_ context.Context, m Member, offs []Offset) (Outcome, error) {
	c.n.checkEnd(m, offs)
	c.enter("end")
	e := simEnd{c.n.id, c.epoch, m, c.txn, offs}
	switch {
	case c.w.chance(8):
		c.w.log("%s: the commit is under way", c.n.id)
		c.w.flight = append(c.w.flight, e)
		return Unknown, errLost
	case c.w.chance(5):
		return Unknown, errLost
	}
	err := c.w.end(e)
	c.w.log("%s ends its transaction: %v", c.n.id, err)
	c.n.mayDie("ended")
	c.w.interleave()
	switch {
	case c.w.chance(10):
		return Unknown, errLost
	case c.w.chance(5) || errors.Is(err, errRefused):
		return Unknown, nil // franz-go's (false, nil)
	case err != nil:
		return Unknown, err
	}
	c.txn = nil
	return Committed, nil
}

func (c *simClient) Abort(context.Context) error {
	c.enter("abort")
	if c.w.chance(10) {
		return errLost
	}
	p := c.w.producers[c.n.id]
	if p.epoch != c.epoch {
		return errFenced
	}
	if p.txn == c.txn {
		p.txn = nil
	}
	c.txn = nil
	c.w.log("%s aborts", c.n.id)
	if c.w.chance(10) {
		return errLost
	}
	return nil
}

func (c *simClient) CommitOffsets(_ context.Context, offs []Offset) error {
	c.enter("commit offsets")
	if c.w.chance(5) {
		return errLost
	}
	for _, o := range offs {
		c.w.offsets[o.ID] = o
		if wit, err := commit.DecodeWitness(o.Metadata); err == nil {
			c.w.lastToken = wit.Token
		}
	}
	return nil
}

func (c *simClient) Revoked() bool { c.learn(); return c.lost }

func (c *simClient) Rebuild(context.Context) error {
	c.enter("rebuild")
	c.txn = nil
	return nil
}

func (c *simClient) MaxRecordBytes(context.Context, string) (int, error) { return 1 << 20, nil }
