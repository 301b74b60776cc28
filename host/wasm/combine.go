package wasm

import (
	"context"
	"fmt"

	"github.com/wgate/wgate/abi"
	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/host/engine"
)

var _ engine.Combiner = (*Instance)(nil)

// pairsPerCall is how many elements one call folds at most, so that a call stays short.
const pairsPerCall = 8192

// combining is what an Instance needs for combiners.
type combining struct {
	in    abi.Combining
	out   abi.Combined
	accOf []int32 // by group: row of ACCS, -1 if it has none yet
	rowOf []int32 // by row of the bundle: row of ARGS, -1 if it has none yet
	used  []int32 // groups with a row in ACCS, in order
	seen  []int32 // rows with a row in ARGS, in order
	count []uint32
	start []uint32
	order []int32
	todo  []run
}

// combiner finds combiner fn.
func (in *Instance) combiner(fn string) (*abi.Function, error) {
	f := in.m.manifest.Function(fn)
	switch {
	case f == nil:
		return nil, fmt.Errorf("plugin %q: it has no function %q", in.m.opt.Name, fn)
	case f.Kind != abi.KindCombiner:
		return nil, fmt.Errorf("plugin %q: function %s is a %s, not a combiner", in.m.opt.Name, fn, f.Kind)
	}
	return f, nil
}

// Describe implements engine.Combiner.
func (in *Instance) Describe(fn string) (engine.CombinerInfo, error) {
	f, err := in.combiner(fn)
	if err != nil {
		return engine.CombinerInfo{}, err
	}
	return engine.CombinerInfo{Args: f.Args, Total: f.Total, Invertible: f.Uncombine}, nil
}

// row adds row i of cols to the frame's arguments, unless it is there, and returns its place.
func (c *combining) row(cols [][]event.Value, i int32, h *event.Heap) uint32 {
	for int(i) >= len(c.rowOf) {
		c.rowOf = append(c.rowOf, -1)
	}
	if c.rowOf[i] < 0 {
		c.rowOf[i] = int32(len(c.seen))
		c.seen = append(c.seen, i)
		for _, col := range cols {
			c.in.Value(h, col[i])
		}
	}
	return uint32(c.rowOf[i])
}

// reset begins a frame for a function of width arguments.
func (c *combining) reset(width int) {
	for _, i := range c.seen {
		c.rowOf[i] = -1
	}
	for _, g := range c.used {
		c.accOf[g] = -1
	}
	c.seen, c.used = c.seen[:0], c.used[:0]
	c.in.Reset(width)
}

// call has f run the steps of the frame. A fault leaves everything as it was. An error means that the plugin cannot go on.
func (in *Instance) call(ctx context.Context, f *abi.Function) (*fault, error) {
	c := &in.comb
	for range maxRetries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if in.g == nil {
			g, err := in.m.take(ctx)
			if err != nil {
				return nil, err
			}
			in.g = g
		}
		// Nothing but the arguments may count: time stands still, and random numbers are always the same.
		in.g.random.seed(0)
		in.g.clock.now = 0
		in.calls++
		status, flt := in.g.process(ctx, &c.in, c.in.Size(), abi.Call{Fn: f.ID, Op: abi.OpRun, Bundle: in.calls})
		switch {
		case flt != nil:
		case status == abi.StatusRetry:
			continue
		case status == abi.StatusPluginError:
			return nil, fmt.Errorf("plugin %q: combiner %s gave up: %s", in.m.opt.Name, f.Name, in.g.words("no reason was given"))
		default:
			flt = in.combined(status)
		}
		if flt != nil && flt.broken {
			in.discard(ctx)
		}
		if flt == nil {
			in.say(&c.out.Output)
		}
		in.set()
		if in.strict && flt != nil && flt.broken {
			return nil, in.m.fatal(f.Name, flt)
		}
		return flt, nil
	}
	return &fault{code: codeFail, text: in.g.words("the combiner asked for another try too often"), cursor: abi.None}, nil
}

// combined judges a status and checks the output frame.
func (in *Instance) combined(status int32) *fault {
	g, c := in.g, &in.comb
	switch {
	case status == abi.StatusBatchError:
		return &fault{code: codeFail, text: g.words("the combiner failed the call"), cursor: abi.None}
	case status != abi.StatusOK:
		return bad(g.words(fmt.Sprintf("wgate_call returned %d, which a combiner must not", status)))
	case len(g.ends) != 1:
		return bad(g.words(fmt.Sprintf("the combiner gave out %d frames, it must be one", len(g.ends))))
	}
	if err := c.out.Check(g.staged, c.in.Accs(), c.in.Rows(), c.in.Extracts()); err != nil {
		return bad(g.words(err.Error()))
	}
	return nil
}

// Check implements engine.Combiner.
func (in *Instance) Check(ctx context.Context, fn string, cols [][]event.Value, rows []int32, h *event.Heap, failed []engine.FailedRow) ([]engine.FailedRow, error) {
	f, err := in.combiner(fn)
	if err != nil {
		return failed, err
	}
	c := &in.comb
	in.trust = true
	c.todo = c.todo[:0]
	for hi := len(rows); hi > 0; hi -= min(hi, pairsPerCall) {
		c.todo = append(c.todo, run{max(0, hi-pairsPerCall), hi, false})
	}
	for len(c.todo) > 0 {
		r := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		if r.lo == r.hi {
			continue
		}
		c.reset(f.Args)
		for _, i := range rows[r.lo:r.hi] {
			c.in.Pair(c.row(cols, i, h))
		}
		c.in.Step(abi.StepCheck, 0, 0, uint32(r.hi-r.lo))
		flt, err := in.call(ctx, f)
		switch {
		case err != nil:
			return failed, err
		case flt == nil:
			for i := range c.out.Fails() {
				x := c.out.Fail(i)
				failed = append(failed, engine.FailedRow{
					Row: c.seen[x.Row], Code: string(x.Code), Text: cut(string(x.Text), messageBytes), Digest: in.m.key.digest,
				})
			}
			if r.hinted {
				in.trust = false
			}
		case r.hi-r.lo == 1:
			failed = append(failed, engine.FailedRow{Row: rows[r.lo], Code: flt.code, Text: flt.text, Digest: in.m.key.digest})
		default:
			c.todo = in.split(c.todo, r, flt)
		}
	}
	return failed, in.fatalRow(f.Name, failed)
}

// Fold implements engine.Combiner. A call that fails is tried again in halves: what is too large or takes too long is not
// when it is less. What then fails alone is an error.
func (in *Instance) Fold(ctx context.Context, fn string, accs [][]byte, cols [][]event.Value, p *combine.Batch, take bool) error {
	f, err := in.combiner(fn)
	if err != nil {
		return err
	}
	op := abi.StepAdd
	if take {
		op = abi.StepUncombine
	}
	c := &in.comb
	c.todo = c.todo[:0]
	for hi := len(p.Rows); hi > 0; hi -= min(hi, pairsPerCall) {
		c.todo = append(c.todo, run{max(0, hi-pairsPerCall), hi, false})
	}
	// The last chunk was put first, so that they come off in order; but for the first they have pairsPerCall pairs.
	for len(c.todo) > 0 {
		r := c.todo[len(c.todo)-1]
		c.todo = c.todo[:len(c.todo)-1]
		c.reset(f.Args)
		in.steps(op, accs, cols, p.Groups[r.lo:r.hi], p.Rows[r.lo:r.hi], p.Heap)
		flt, err := in.call(ctx, f)
		switch {
		case err != nil:
			return err
		case flt == nil && c.out.Fails() > 0:
			x := c.out.Fail(0)
			return in.spoiled(f, string(x.Code), cut(string(x.Text), messageBytes))
		case flt == nil:
			for i := range c.out.Grown() {
				acc, b := c.out.GrownAcc(i)
				g := c.used[acc]
				accs[g] = append(accs[g][:0], b...)
			}
		case r.hi-r.lo == 1:
			return in.spoiled(f, flt.code, flt.text)
		default:
			mid := r.lo + (r.hi-r.lo)/2
			c.todo = append(c.todo, run{mid, r.hi, false}, run{r.lo, mid, false})
		}
	}
	return nil
}

// spoiled is the error about an element that a combiner took when it came alone and refuses now.
func (in *Instance) spoiled(f *abi.Function, code, text string) error {
	return fmt.Errorf("plugin %q (%s): combiner %s failed on what its accumulator holds, so that no single record is to blame: %s: %s; "+
		"correct the plugin and start again: nothing of this epoch was committed", in.m.opt.Name, in.m.key.digest[:12], f.Name, code, text)
}

// steps writes one step for each group that occurs, with its rows in order.
func (in *Instance) steps(op uint32, accs [][]byte, cols [][]event.Value, groups, rows []int32, h *event.Heap) {
	c := &in.comb
	for len(c.accOf) < len(accs) {
		c.accOf = append(c.accOf, -1)
	}
	c.count = c.count[:0]
	for _, g := range groups {
		if c.accOf[g] < 0 {
			c.accOf[g] = int32(c.in.Acc(accs[g]))
			c.used = append(c.used, g)
			c.count = append(c.count, 0)
		}
		c.count[c.accOf[g]]++
	}
	at := uint32(0)
	c.start = c.start[:0]
	for acc, n := range c.count {
		c.in.Step(op, uint32(acc), at, n)
		c.start = append(c.start, at)
		at += n
	}
	c.order = append(c.order[:0], rows...)
	for i, g := range groups {
		acc := c.accOf[g]
		c.order[c.start[acc]] = rows[i]
		c.start[acc]++
	}
	for _, i := range c.order {
		c.in.Pair(c.row(cols, i, h))
	}
}

// Merge implements engine.Combiner.
func (in *Instance) Merge(ctx context.Context, fn string, acc, other []byte) ([]byte, error) {
	switch {
	case len(other) == 0:
		return acc, nil
	case len(acc) == 0:
		return append(acc, other...), nil
	}
	f, err := in.combiner(fn)
	if err != nil {
		return acc, err
	}
	c := &in.comb
	c.reset(f.Args)
	c.in.Step(abi.StepMerge, c.in.Acc(acc), c.in.Acc(other), 0)
	flt, err := in.call(ctx, f)
	switch {
	case err != nil:
		return acc, err
	case flt != nil:
		return acc, in.spoiled(f, flt.code, flt.text)
	}
	for i := range c.out.Grown() {
		if at, b := c.out.GrownAcc(i); at == 0 {
			acc = append(acc[:0], b...)
		}
	}
	return acc, nil
}

// Extract implements engine.Combiner. A result on which the guest traps is of kind Error.
func (in *Instance) Extract(ctx context.Context, fn string, accs [][]byte, h *event.Heap, dst []event.Value) ([]event.Value, error) {
	f, err := in.combiner(fn)
	if err != nil {
		return dst, err
	}
	c := &in.comb
	todo := []run{{0, len(accs), false}}
	for len(todo) > 0 {
		r := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if r.lo == r.hi {
			continue
		}
		if n := r.lo + pairsPerCall; r.hi > n {
			todo = append(todo, run{n, r.hi, false})
			r.hi = n
		}
		c.reset(f.Args)
		for _, acc := range accs[r.lo:r.hi] {
			c.in.Step(abi.StepExtract, c.in.Acc(acc), 0, 0)
		}
		flt, err := in.call(ctx, f)
		switch {
		case err != nil:
			return dst, err
		case flt == nil:
			for i := range r.hi - r.lo {
				dst = append(dst, resolved(c.out.Result(i, h), h))
			}
		case r.hi-r.lo == 1:
			dst = append(dst, failedResult(h, flt.code, flt.text))
		default:
			mid := r.lo + (r.hi-r.lo)/2
			todo = append(todo, run{mid, r.hi, false}, run{r.lo, mid, false})
		}
	}
	return dst, nil
}

// resolved looks into JSON text.
func resolved(v event.Value, h *event.Heap) event.Value {
	r, ok := jsontext.Resolve(h, v)
	if !ok {
		return failedResult(h, codeFrame, "the combiner's result is not JSON")
	}
	return r
}

func failedResult(h *event.Heap, code, text string) event.Value {
	return event.HeapValue(event.Error, h.PutString(code+" "+text))
}
