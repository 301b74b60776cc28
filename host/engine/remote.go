package engine

import (
	"context"
	"fmt"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
)

// remote is an aggregate function that a combiner of a plugin computes. Unlike the native functions it has state, so that
// it serves one machine: the columns of the bundle at hand, the results that are still to be computed, and the error that
// it cannot return from where it happens.
//
// An accumulator of no bytes is one over nothing: the plugin makes those that it needs.
type remote struct {
	task   *Task
	plugin *config.Plugin
	call   Combiner
	fn     string // in the plugin
	text   string // as the pipeline has it
	args   int
	info   CombinerInfo
	ctx    context.Context

	cols   [][]event.Value // the arguments of the bundle at hand
	defers bool            // results are computed all at once, after the machine's call: see Extract
	held   []byte          // accumulators whose results are due
	ends   []int
	accs   [][]byte
	done   []event.Value
	failed []FailedRow
	err    error // the first
}

var _ combine.Func = (*remote)(nil)

// newRemote makes the function for g. defers says that nobody looks at results before finish.
func newRemote(task *Task, g config.Agg, defers bool) (*remote, error) {
	r := &remote{
		task: task, plugin: g.Call.Plugin, fn: g.Call.Function, text: "plugin." + g.Call.Plugin.Name + "." + g.Call.Function,
		args: len(g.Args), ctx: task.ctx, defers: defers,
	}
	return r, task.seated(r.plugin, r.take)
}

// take makes in the instance that is called.
func (r *remote) take(in Invoker) error {
	call, ok := in.(Combiner)
	if !ok {
		return fmt.Errorf("%s: the plugin host has no combiners", r.text)
	}
	info, err := call.Describe(r.fn)
	switch {
	case err != nil:
		return err
	case info.Args != r.args:
		return fmt.Errorf("%s takes %d arguments, the pipeline gives it %d", r.text, info.Args, r.args)
	case r.call != nil && r.info.Invertible && !info.Invertible:
		return fmt.Errorf("%s can no longer take elements back, as the version before could", r.text)
	}
	r.call, r.info = call, info
	return nil
}

// combiner returns what is called, now.
func (r *remote) combiner() Combiner {
	r.task.calling(r.plugin)
	return r.call
}

// Name implements combine.Func.
func (r *remote) Name() string { return r.text }

// Takes implements combine.Func: what the plugin refuses it has refused when it was asked by check.
func (r *remote) Takes(event.Kind) bool { return true }

// Init implements combine.Func.
func (r *remote) Init(dst []byte) []byte { return dst }

// Add implements combine.Func.
func (r *remote) Add(accs [][]byte, p *combine.Batch) { r.fold(accs, p, false) }

// Uncombine implements combine.Func.
func (r *remote) Uncombine(accs [][]byte, p *combine.Batch) bool {
	if !r.info.Invertible {
		return false
	}
	r.fold(accs, p, true)
	return true
}

func (r *remote) fold(accs [][]byte, p *combine.Batch, take bool) {
	if r.err == nil {
		r.err = r.combiner().Fold(r.ctx, r.fn, accs, r.cols, p, take)
	}
}

// Merge implements combine.Func.
func (r *remote) Merge(acc, other []byte) []byte {
	if r.err == nil {
		acc, r.err = r.combiner().Merge(r.ctx, r.fn, acc, other)
	}
	return acc
}

// Extract implements combine.Func. If r defers, it returns the number of the result, which finish replaces.
func (r *remote) Extract(acc []byte, h *event.Heap) event.Value {
	if r.defers {
		r.held = append(r.held, acc...)
		r.ends = append(r.ends, len(r.held))
		return event.IntValue(int64(len(r.ends) - 1))
	}
	if r.err != nil {
		return event.NullValue()
	}
	one := [1][]byte{acc}
	if r.done, r.err = r.combiner().Extract(r.ctx, r.fn, one[:], h, r.done[:0]); r.err != nil {
		return event.NullValue()
	}
	return r.done[0]
}

// finish replaces the numbers in col, the results of r in the panes that a call of the machine made, by the results.
// It returns what went wrong since the last call.
func (r *remote) finish(col []event.Value, h *event.Heap) error {
	if len(r.ends) > 0 && r.err == nil {
		r.accs = r.accs[:0]
		from := 0
		for _, to := range r.ends {
			r.accs = append(r.accs, r.held[from:to])
			from = to
		}
		if r.done, r.err = r.combiner().Extract(r.ctx, r.fn, r.accs, h, r.done[:0]); r.err == nil {
			for i := range col {
				col[i] = r.done[col[i].Int()]
			}
		}
	}
	r.held, r.ends = r.held[:0], r.ends[:0]
	return r.err
}

// check returns the rows, out of rows, that the plugin refuses.
func (r *remote) check(rows []int32, h *event.Heap) ([]FailedRow, error) {
	if r.info.Total || len(rows) == 0 {
		return nil, nil
	}
	var err error
	r.failed, err = r.combiner().Check(r.ctx, r.fn, r.cols, rows, h, r.failed[:0])
	return r.failed, err
}
