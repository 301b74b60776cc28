package scenario

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"math"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/host/wasm"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
)

// bench is an engine with a scenario's ports.
type bench struct {
	plan    *plan.Plan
	script  *script
	rec     *recorder
	store   *memstore.Store
	meta    statestore.Meta
	modules map[*config.Plugin]*wasm.Module

	task      *engine.Task
	outputs   map[string]engine.Output
	instances []engine.Invoker
}

// newBench plans p and makes its ports. It takes the modules over.
func newBench(p *config.Pipeline, s *config.Scenario, pl *plan.Plan, modules map[*config.Plugin]*wasm.Module) (*bench, error) {
	b := &bench{
		plan: pl, script: newScript(p, s), rec: newRecorder(), store: memstore.New(), modules: modules,
		outputs: map[string]engine.Output{},
	}
	for _, r := range p.Taps {
		b.rec.keep(r.ID())
	}
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Kind == config.Expect || st.Kind == config.ExpectNone {
			b.rec.keep(st.Name)
		}
	}
	for _, k := range p.Sinks {
		b.outputs[k.Name] = &sinkOutput{rec: b.rec, name: "sink." + k.Name, encode: k.Encode}
	}
	if err := b.identify(p); err != nil {
		return nil, err
	}
	return b, nil
}

// longest is an epoch that no clock ends: epochs end where the script says so.
const longest = event.Duration(math.MaxInt64)

// scripted returns a copy of p whose epochs only the script ends.
func scripted(p *config.Pipeline) *config.Pipeline {
	q := *p
	q.Epoch = longest
	return &q
}

// identify says in the store whose state it holds.
func (b *bench) identify(p *config.Pipeline) error {
	id, err := engine.InstanceID(b.store, rand.Reader)
	if err != nil {
		return err
	}
	var names []string
	for _, n := range b.plan.Nodes {
		if n.Kind == plan.Aggregate {
			names = append(names, n.Block)
		}
	}
	if b.meta, _, err = b.meta.AssignOperators(names); err != nil {
		return err
	}
	b.meta.Instance, b.meta.Pipeline, b.meta.PlanHash = id, p.Name, b.plan.Hash
	return nil
}

// open starts a task on what the store holds.
func (b *bench) open(ctx context.Context, marked bool) error {
	dead := &deadOutput{rec: b.rec}
	c := engine.Config{
		Plan: b.plan, Inputs: []engine.Input{b.script}, Topic: b.script.topicOf, Outputs: b.outputs, DeadLetters: dead,
		Store: b.store, Operators: map[string]uint16{}, Invoker: b.instance, Fresh: b.fresh, Clock: b.script,
		Log: slog.New(slog.DiscardHandler), Tap: b.rec, Scripted: true, Marked: marked,
	}
	for _, op := range b.meta.Ops {
		c.Operators[op.Name] = op.ID
	}
	c.Committer = engine.NewCommitter(nil, b.store, engine.CommitterOptions{
		Config:  commit.Config{Delivery: commit.StoreOnly, Mode: commit.Local, Meta: b.meta, InGroup: func(int) bool { return false }},
		Outputs: []engine.Output{dead},
	})
	b.task = engine.NewTask(c, engine.NewStats(b.plan))
	return b.task.Open(ctx)
}

func (b *bench) instance(p *config.Plugin) (engine.Invoker, error) {
	in, err := b.modules[p].NewInstance(context.Background())
	if err != nil {
		return nil, err
	}
	b.instances = append(b.instances, in)
	return in, nil
}

// fresh closes all plugin instances: their memory is lost with the task.
func (b *bench) fresh() {
	for _, in := range b.instances {
		_ = in.Close(context.Background())
	}
	b.instances = b.instances[:0]
}

func (b *bench) close() error {
	b.fresh()
	errs := []error{b.store.Close()}
	for _, m := range b.modules { // order does not matter: they do not know one another
		errs = append(errs, m.Close(context.Background()))
	}
	return errors.Join(errs...)
}

// play gives the task an entry of the log.
func (b *bench) play(e *entry) error {
	switch e.kind {
	case mark:
		return b.task.Mark(e.parts, e.at)
	case idle:
		return b.task.Idle(e.parts)
	case end:
		b.script.ended = true
	case record:
		b.script.next = e
	}
	return b.task.Turn()
}

// moveClock moves the clock to a time, by way of everything that is due before.
func (b *bench) moveClock(to event.Time) error {
	for due := b.task.Due(); due < to; due = b.task.Due() {
		b.script.now = due
		if err := b.task.Turn(); err != nil {
			return err
		}
	}
	b.script.now = to
	return b.task.Turn()
}

// commit ends the epoch.
func (b *bench) commit() error {
	if err := b.task.Commit(); err != nil {
		return err
	}
	b.script.kept = len(b.script.log)
	b.rec.committed()
	return nil
}

// crash loses the task with everything that is not committed, starts another one, and lets it read again what the first one
// read in vain.
func (b *bench) crash(ctx context.Context, marked bool) error {
	b.rec.crashed()
	b.script.ended = false
	for i := range b.script.log[:b.script.kept] {
		b.script.ended = b.script.ended || b.script.log[i].kind == end
	}
	if err := b.open(ctx, marked); err != nil {
		return err
	}
	for _, e := range b.script.lost() {
		if err := b.play(e); err != nil {
			return err
		}
	}
	return nil
}
