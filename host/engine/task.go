package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/windowing"
)

// Config is what a task is made of. All ports belong to the task while it runs; who made them closes them.
type Config struct {
	Plan        *plan.Plan
	Inputs      []Input
	Topic       func(source, topic uint16) string // the name of Origin.Topic of a source
	Broker      Broker                            // nil: nothing is written in transactions
	Outputs     map[string]Output                 // by the sink's name; sinks that are not in it go into the transaction
	DeadLetters Output                            // nil: they go into the transaction
	Store       statestore.Reader                 // the committed rows
	Operators   map[string]uint16                 // number of every stateful block in the store
	Committer   *Committer
	Invoker     func(*config.Plugin) (Invoker, error) // a fresh instance, owned by the task until CloseInvokers
	Fresh       func()                                // drops all plugin instances: their memory is state outside the transaction
	Clock       Clock
	Log         *slog.Logger
	OnReady     func() // called once, when recovery is through

	// What follows is for scenarios.
	Tap      Tap  // sees the rows of Plan.Pipeline.Taps; nil if there are none
	Scripted bool // Inputs give event times: Times is what they say, or MinTime where the source's event_time counts
	Marked   bool // the sources' watermarks move by Mark and Idle, and at the end of the inputs, alone
}

// Task runs one pipeline. Run is its only goroutine's body; Stats and Do may be used by others.
type Task struct {
	cfg   Config
	ctx   context.Context
	stats *Stats

	stages   []stage
	sources  []*sourceStage
	groups   []*groupStage
	breakers map[int]*breaker
	seats    []*seat
	trial    *trial // of new versions of plugins; nil: there is none

	reading []*expr.Program // those that read the topic's name or the arrival

	resident *statestore.Resident
	overlay  *statestore.Overlay
	view     statestore.View
	heap     event.Heap
	bundle   event.Bundle
	texts    texts // of records for the outputs

	now       event.Time
	epochEnd  event.Time // when the running epoch is to end; MinTime: none has begun
	epoch     uint64     // number of the running epoch
	positions map[Partition]position
	topics    map[[2]uint16]string
	parts     []PartitionState
	measured  event.Time // when the state was last counted
	looked    event.Time // when the partitions were last looked at
	limits    map[string]int
	retries   int   // of an epoch that failed, since the last commit
	retriedAt int64 // epochs committed when it was last counted
	ended     bool
	calls     chan func() error
	done      chan struct{} // closed when Run has returned
}

// position is where a partition's reading stands, as the running epoch will commit it.
type position struct {
	next  int64
	moved bool // since the last commit
}

// The intervals of a task's own duties, in milliseconds.
const (
	idleWait  = 20 * event.Millisecond  // longest wait for records: commands and timers are looked at in between
	lookEvery = 100 * event.Millisecond // how often idle clocks and alignment are looked at
)

// overlayLimit is the size in bytes of state changes at which an epoch ends early (recovery.md, commit step 1).
const overlayLimit = 64 << 20

// errRecovered tells the loop that the committer had to recover: the state, the positions and the instances are new.
var errRecovered = errors.New("recovered")

// residentBytes is how much committed state is kept in memory; what does not fit is read from the store.
const residentBytes = 256 << 20

// errEpoch marks an error that costs the epoch and not the pipeline: the broker refused what was sent in it.
var errEpoch = errors.New("the epoch failed")

// NewTask returns a task that has not begun and counts in stats, which NewStats made for the same plan.
func NewTask(cfg Config, stats *Stats) *Task {
	return &Task{
		cfg: cfg, stats: stats, breakers: map[int]*breaker{}, topics: map[[2]uint16]string{},
		limits: map[string]int{}, calls: make(chan func() error), done: make(chan struct{}),
	}
}

// Stats returns the task's counters.
func (t *Task) Stats() *Stats { return t.stats }

// Do runs f between two bundles, on the task's goroutine, and returns what f returns. It fails when ctx or the task ends
// first.
func (t *Task) Do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case t.calls <- func() error { done <- f(); return nil }:
	case <-t.done:
		return ErrEnded
	case <-ctx.Done():
		return ctx.Err()
	}
	// It has been taken, and is run at once.
	select {
	case err := <-done:
		return err
	case <-t.done:
	}
	select {
	case err := <-done:
		return err
	default:
		return ErrEnded
	}
}

// Run drives the task until its bounded inputs are through (nil), ctx ends (nil, after a last commit), or something stops
// it (an error that says what and why).
func (t *Task) Run(ctx context.Context) error {
	defer close(t.done)
	t.ctx = context.WithoutCancel(ctx) // a commit that has begun is carried through
	t.now = t.cfg.Clock.Now()
	if err := t.recover(); err != nil {
		return err
	}
	if t.cfg.OnReady != nil {
		t.cfg.OnReady()
	}
	for {
		err := t.loop(ctx)
		if err == nil {
			return nil
		}
		if err := t.again(ctx, err); err != nil {
			return err
		}
	}
}

// The pauses between runs of an epoch that fails again and again without a commit in between, and how many are enough.
const (
	firstRetry = 50 * event.Millisecond
	lastRetry  = 5 * event.Second
	maxRetries = 20
)

// retryLater waits before an epoch that failed with err is run again, longer each time. It gives err back when nothing has
// committed in many tries, or when the pipeline is to stop.
func (t *Task) retryLater(ctx context.Context, err error) error {
	if n := t.stats.Epochs.Load(); n != t.retriedAt {
		t.retriedAt, t.retries = n, 0
	}
	t.retries++
	if t.retries > maxRetries {
		return err
	}
	pause := min(lastRetry, firstRetry<<min(t.retries-1, 10))
	t.cfg.Log.Warn("the epoch was given up and is run again", "cause", err.Error(), "after", pause.String())
	timer := time.NewTimer(pause.Std())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return err
	}
}

// again brings the task back to what is committed after err has ended the loop, unless err is to end the pipeline.
func (t *Task) again(ctx context.Context, err error) error {
	for {
		blamed := t.blamed(err)
		if !errors.Is(err, errRecovered) {
			// What failed is not committed. The next start goes on where the last epoch ended.
			if aborted := t.cfg.Committer.Abort(t.ctx); aborted != nil || !blamed && !errors.Is(err, errEpoch) {
				return errors.Join(err, aborted)
			}
			if !blamed {
				if late := t.retryLater(ctx, err); late != nil {
					return late
				}
			}
		}
		if blamed {
			t.takeBack(err)
		}
		if err = t.recover(); err == nil || !t.blamed(err) {
			return err
		}
	}
}

func (t *Task) loop(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return t.commit()
		}
		if err := t.turn(); err != nil {
			return err
		}
		if t.ended {
			return t.commit()
		}
	}
}

// turn is one round of the loop: records, or what time brings.
func (t *Task) turn() error {
	select {
	case f := <-t.calls:
		if err := f(); err != nil {
			return err
		}
	default:
	}
	t.now = t.cfg.Clock.Now()
	if err := t.advanceTrial(); err != nil {
		return err
	}
	got, err := t.poll()
	if err != nil {
		return err
	}
	t.now = t.cfg.Clock.Now()
	if !got || t.now >= t.looked.Add(lookEvery) {
		if err := t.look(); err != nil {
			return err
		}
	}
	for _, g := range t.groups {
		if err := g.tick(t.now); err != nil {
			return err
		}
	}
	return t.between()
}

// poll takes one bundle from each input that has one. With nothing anywhere it waits a little.
func (t *Task) poll() (bool, error) {
	some := false
	for round := 0; round < 2 && !some; round++ {
		wait := time.Duration(0)
		if round == 1 {
			wait = t.wait() / time.Duration(max(1, len(t.cfg.Inputs)))
		}
		for _, in := range t.cfg.Inputs {
			t.heap.Reset()
			t.bundle.Reset(0)
			t.bundle.Heap = &t.heap
			got, err := in.Poll(t.ctx, wait, &t.bundle)
			if err != nil {
				return false, err
			}
			if !got {
				continue
			}
			some = true
			if err := t.take(&t.bundle); err != nil {
				return false, err
			}
		}
	}
	return some, nil
}

// wait is how long the task may sleep: until the epoch ends or a timer is due, and not for long.
func (t *Task) wait() time.Duration {
	d := idleWait
	if t.epochEnd != event.MinTime {
		d = min(d, t.epochEnd.Sub(t.now))
	}
	for _, g := range t.groups {
		if next := g.machine.NextClock(); next != event.MaxTime {
			d = min(d, next.Sub(t.now))
		}
	}
	return max(0, d).Std()
}

// take runs a bundle of source records down the stages.
func (t *Task) take(b *event.Bundle) error {
	src := t.sources[b.Origins[0].Source]
	for _, p := range t.reading {
		p.SetEnv(expr.Env{Topic: t.cfg.Topic, Arrival: t.now})
	}
	b.Times, b.Marks, b.Ops = grow(b.Times, b.Len()), grow(b.Marks, len(b.Origins)), growOps(b.Ops, len(b.Origins))
	if err := t.begin(); err != nil {
		return err
	}
	return src.process(b)
}

func grow(s []event.Time, n int) []event.Time {
	for len(s) < n {
		s = append(s, 0)
	}
	return s
}

func growOps(s []event.Op, n int) []event.Op {
	for len(s) < n {
		s = append(s, event.Insert)
	}
	return s
}

// look brings idle clocks, alignment and ends up to date.
func (t *Task) look() error {
	t.looked = t.now
	t.parts = t.parts[:0]
	for _, in := range t.cfg.Inputs {
		t.parts = in.Partitions(t.parts)
	}
	open := len(t.cfg.Inputs) == 0
	for _, s := range t.sources {
		if s == nil {
			continue
		}
		if err := s.look(t.parts); err != nil {
			return err
		}
		open = open || !s.ended()
	}
	t.ended = !open
	t.publish()
	t.measure()
	return nil
}

// measure counts the state of every block from time to time: the larger it is, the less often.
func (t *Task) measure() {
	every := 5*event.Second + event.Duration(t.resident.Size()>>20)*event.Second
	if t.measured != event.MinTime && t.now < t.measured.Add(every) {
		return
	}
	t.measured = t.now
	sizes, ok := t.resident.Sizes(0)
	for _, g := range t.groups {
		n := int64(-1)
		if ok {
			n = sizes[t.cfg.Operators[g.node.Block]]
		}
		g.stats.StateBytes.Store(n)
	}
}

// topic returns the name of a record's topic.
func (t *Task) topic(o event.Origin) string {
	at := [2]uint16{o.Source, o.Topic}
	name, ok := t.topics[at]
	if !ok {
		name = t.cfg.Topic(o.Source, o.Topic)
		t.topics[at] = name
	}
	return name
}

// pause holds a partition back, or lets it go on.
func (t *Task) pause(p Partition, paused bool) {
	for _, in := range t.cfg.Inputs {
		in.Pause(p, paused)
	}
}

// publish makes the state of the partitions known to whoever looks at the counters.
func (t *Task) publish() {
	all := make([]SourceStats, 0, len(t.parts))
	for _, p := range t.parts {
		s := t.sources[p.Source]
		mark, idle := s.tracker.State(s.tracker.Part(windowing.Partition{Topic: p.Topic, ID: p.ID}, t.now))
		all = append(all, SourceStats{PartitionState: p, Watermark: mark, Idle: idle, Held: s.held[p.Partition]})
	}
	t.stats.setPartitions(all)
}

// reached notes that row i of b and everything before it is done with.
func (t *Task) reached(b *event.Bundle, i int) {
	o := &b.Origins[i]
	p := Partition{Source: int(o.Source), Topic: t.topic(*o), ID: o.Partition}
	t.positions[p] = position{next: o.Offset + 1, moved: true}
}

// maxRecord returns the largest record that a topic takes. Files and standard output take all.
func (t *Task) maxRecord(to Output, topic string) (int, error) {
	if n, ok := t.limits[topic]; ok {
		return n, nil
	}
	type limited interface {
		MaxRecordBytes(ctx context.Context, topic string) (int, error)
	}
	var of limited
	if l, ok := to.(limited); ok {
		of = l
	} else if to == nil {
		of = t.cfg.Broker
	}
	n := 1 << 30
	if of != nil {
		var err error
		if n, err = of.MaxRecordBytes(t.ctx, topic); err != nil {
			return 0, epochError(err)
		}
	}
	t.limits[topic] = n
	return n, nil
}
