package wasm

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/wgate/wgate/abi"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

// Instance is what one worker calls. It is used by one goroutine at a time.
type Instance struct {
	m      *Module
	g      *guest // nil after its loss
	writer abi.Writer
	reader abi.Reader
	view   event.Bundle // the run at hand
	todo   []run        // runs that are still to be processed, the next one last
	frames []abi.Output
	kept   []int32
	comb   combining

	epoch uint64
	now   event.Time
	calls uint64
	trust bool // the guest's cursor was right so far

	strict bool // see Strict
}

var _ engine.Invoker = (*Instance)(nil)

// run is rows [lo, hi) of a bundle.
type run struct {
	lo, hi int
	hinted bool // one row that a guest's cursor named
}

// maxRetries is how often a call that answers StatusRetry is made again.
const maxRetries = 3

// At tells the guest the epoch, which seeds its random numbers, and the processing time, which is its clock.
func (in *Instance) At(epoch uint64, now event.Time) {
	in.epoch, in.now = epoch, now
	in.set()
}

// set hands epoch and time to the guest.
func (in *Instance) set() {
	if in.g != nil {
		in.g.random.seed(in.epoch)
		in.g.clock.now = int64(in.now)
	}
}

// Process implements engine.Invoker. When a call fails the rows are tried again in smaller runs on a fresh guest: if the
// guest had noted the row that it worked on, that one alone, else halves. Rows that fail alone are in out.Failed. A call
// that runs is not cut short by ctx: it ends by itself or at the limit of time.
func (in *Instance) Process(ctx context.Context, fn string, b *event.Bundle, out *engine.Processed) error {
	f := in.m.manifest.Function(fn)
	if f == nil {
		return fmt.Errorf("plugin %q: it has no function %q", in.m.opt.Name, fn)
	}
	if f.Kind != abi.KindDoFn {
		return fmt.Errorf("plugin %q: function %s is a %s, not a DoFn", in.m.opt.Name, fn, f.Kind)
	}
	out.Rows, out.Failed = out.Rows[:0], out.Failed[:0]
	out.New.Reset(0)
	out.New.Heap = b.Heap
	in.trust = true
	in.todo = append(in.todo[:0], run{0, b.Len(), false})
	for len(in.todo) > 0 {
		r := in.todo[len(in.todo)-1]
		in.todo = in.todo[:len(in.todo)-1]
		if r.lo == r.hi {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		done, flt, err := in.attempt(ctx, f, b, r, out)
		switch {
		case err != nil:
			return err
		case flt == nil:
			if r.hinted {
				in.trust = false
			}
			in.todo = append(in.todo, run{r.lo + done, r.hi, false})
		case in.strict && flt.broken:
			return in.m.fatal(f.Name, flt)
		case r.hi-r.lo == 1:
			out.Failed = append(out.Failed, engine.FailedRow{
				Row: int32(r.lo), Code: flt.code, Text: flt.text, Digest: in.m.key.digest,
			})
		default:
			in.todo = in.split(in.todo, r, flt)
		}
	}
	return in.fatalRow(f.Name, out.Failed)
}

// split puts the parts of a run that failed on the list.
func (in *Instance) split(todo []run, r run, flt *fault) []run {
	n := r.hi - r.lo
	if in.trust && flt.broken && uint64(flt.cursor) < uint64(n) {
		c := r.lo + int(flt.cursor)
		return append(todo, run{c + 1, r.hi, false}, run{c, c + 1, true}, run{r.lo, c, false})
	}
	mid := r.lo + n/2
	return append(todo, run{mid, r.hi, false}, run{r.lo, mid, false})
}

// attempt calls the guest once (more often if it asks for it) over a run and takes over what it made. done is the number
// of rows that are through. An error means that the plugin cannot go on.
func (in *Instance) attempt(ctx context.Context, f *abi.Function, b *event.Bundle, r run, out *engine.Processed) (done int, flt *fault, err error) {
	for range maxRetries {
		if in.g == nil {
			if in.g, err = in.m.take(ctx); err != nil {
				return 0, nil, err
			}
			in.set()
		}
		b.Slice(r.lo, r.hi, &in.view)
		size := in.writer.Prepare(&in.view)
		in.calls++
		status, flt := in.g.process(ctx, &in.writer, size, abi.Call{
			Fn: f.ID, Op: abi.OpProcess, Epoch: in.epoch, Bundle: in.calls, Now: in.now,
		})
		if flt == nil {
			done, flt = in.accept(status, r.hi-r.lo, len(f.Tags))
		}
		switch {
		case flt != nil:
			if flt.broken {
				in.discard(ctx)
			}
			return 0, flt, nil
		case status == abi.StatusRetry:
			continue
		case status == abi.StatusPluginError:
			return 0, nil, fmt.Errorf("plugin %q: function %s gave up: %s", in.m.opt.Name, f.Name, in.g.words("no reason was given"))
		}
		return done, nil, in.apply(b, r, out)
	}
	return 0, &fault{code: codeFail, text: in.g.words("the function asked for another try too often"), cursor: abi.None}, nil
}

// accept judges a status and checks the staged frames.
func (in *Instance) accept(status int32, rows, tags int) (done int, flt *fault) {
	g := in.g
	switch status {
	case abi.StatusOK, abi.StatusPartial:
	case abi.StatusRetry, abi.StatusPluginError:
		return 0, nil
	case abi.StatusBatchError:
		return 0, &fault{code: codeFail, text: g.words("the function failed the whole bundle"), cursor: abi.None}
	case abi.StatusNeedState:
		return 0, bad(g.words("the function asked for state, which is not available in this version"))
	default:
		return 0, bad(g.words(fmt.Sprintf("wgate_call returned %d, which is no status", status)))
	}
	in.reader.Begin(rows, tags)
	in.frames = in.frames[:0]
	done = rows
	from := 0
	for _, to := range g.ends {
		o, err := in.reader.Check(g.staged[from:to])
		if err != nil {
			return 0, bad(g.words(err.Error()))
		}
		in.frames = append(in.frames, o)
		from = to
	}
	if status == abi.StatusPartial {
		if done = 0; len(in.frames) > 0 {
			done = int(in.frames[len(in.frames)-1].Done)
		}
		if done == 0 {
			return 0, &fault{code: codeOutput, text: g.words("the output is larger than limits.output"), cursor: abi.None}
		}
		if !in.reader.Within(done) {
			return 0, bad(g.words(fmt.Sprintf("%d rows are said to be done, and later ones are named", done)))
		}
	}
	return done, nil
}

func bad(text string) *fault {
	return &fault{code: codeFrame, text: text, broken: true, cursor: abi.None}
}

// discard throws the guest away.
func (in *Instance) discard(ctx context.Context) {
	g := in.g
	in.g = nil
	if err := g.close(ctx, broken); err != nil && in.m.opt.Log != nil {
		in.m.opt.Log(slog.LevelWarn, "an instance did not close: "+err.Error())
	}
}

// Close frees the instance.
func (in *Instance) Close(ctx context.Context) error {
	if in.g == nil {
		return nil
	}
	g := in.g
	in.g = nil
	return g.close(ctx, orderly)
}
