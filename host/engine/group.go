package engine

import (
	"fmt"
	"slices"

	"github.com/wgate/wgate/codec"
	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/expr"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/windowing/gbkw"
)

// fireBudget is how many panes one step of firing makes before the epoch may end in between (recovery.md: firing is
// resumable).
const fireBudget = 4096

// groupStage is GroupByKeyAndWindow and the combine behind it. The grouping itself is gbkw's; the stage evaluates keys and
// arguments before it and the compute expressions after it.
type groupStage struct {
	base
	machine *gbkw.Machine
	outWM   event.Time // of the output

	key     []*expr.Program
	args    []*expr.Program // of all functions, one after the other
	first   []int           // by function: its first one in args; one more at the end
	remotes []*remote       // by function; nil: it is native
	wheres  []*expr.Program
	results []*expr.Program // per slot of the output; nil: no such field
	fields  []*expr.Program // all of compute, when the value is needed as a whole
	value   []*expr.Program // of a combiner: the value as a whole, when it is needed
	keyOf   keyMaker

	keys    [][]event.Value
	argCols [][]event.Value
	whCols  [][]event.Value
	rows    gbkw.Rows
	in      event.Bundle
	keep    []int32
	out     gbkw.Output
	panes   event.Bundle
	good    []int32
	kept    event.Bundle
	late    event.Bundle
	cols    [][]event.Value
	all     [][]event.Value
}

func newGroup(b base) (*groupStage, error) {
	n := b.node
	g := &groupStage{base: b, outWM: event.MinTime, keyOf: keyMaker{n.Agg.Key.Form, n.Agg.Key.Parts}}
	slot := n.In.Slot
	g.key, g.wheres = b.task.bindAll(n.Key, slot), b.task.bindAll(n.Wheres, slot)
	for _, a := range n.Args {
		g.first = append(g.first, len(g.args))
		g.args = append(g.args, b.task.bindAll(a, slot)...)
	}
	g.first = append(g.first, len(g.args))
	none := func(expr.Path) int { return -1 } // compute reads results of functions, not fields
	for _, s := range n.Slots {
		g.results = append(g.results, b.task.bind(s.Expr, none))
	}
	if n.Out[0].Whole {
		g.fields = b.task.bindAll(n.Exprs, none)
		if n.Value != nil {
			g.value = b.task.bindAll([]*expr.Expr{n.Value}, none)
		}
	}
	id, ok := b.task.cfg.Operators[n.Block]
	if !ok {
		return nil, fmt.Errorf("%s has no number in the state store", n.Block)
	}
	var err error
	cfg := plan.Grouping(n.Agg)
	cfg.Op = id
	if cfg.Funcs, err = g.functions(); err != nil {
		return nil, fmt.Errorf("%s: %w", n.Block, err)
	}
	if g.machine, err = gbkw.New(cfg); err != nil {
		return nil, fmt.Errorf("%s: %w", n.Block, err)
	}
	return g, nil
}

// functions makes the aggregate functions for the types of their arguments.
func (g *groupStage) functions() ([]combine.Func, error) {
	a := g.node.Agg
	var fs []combine.Func
	for _, agg := range a.Aggs {
		var r *remote
		var f combine.Func
		var err error
		if agg.Call != nil {
			// Where results are compared with earlier ones they are needed at once.
			r, err = newRemote(g.task, agg, a.Unchanged != "suppress" && a.Panes != "retracting")
			if err == nil && a.Retracted && !r.info.Invertible {
				err = fmt.Errorf("%s cannot take back what the input takes back: use other panes there", r.text)
			}
			f = r
		} else {
			f, err = native(agg)
		}
		if err != nil {
			return nil, err
		}
		fs, g.remotes = append(fs, f), append(g.remotes, r)
	}
	return fs, nil
}

func native(agg config.Agg) (combine.Func, error) {
	sig, ok := combine.Lookup(agg.Func)
	if !ok {
		return nil, fmt.Errorf("there is no aggregate function %s", agg.Func)
	}
	var args []event.Type
	for _, e := range agg.Args {
		args = append(args, e.Type())
	}
	f, err := sig.New(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", agg.Func, err)
	}
	return f, nil
}

func (g *groupStage) process(b *event.Bundle) error {
	g.stats.In.Add(int64(b.Len()))
	g.task.breaker(g.node).passed(b.Len())
	if err := g.evaluate(b); err != nil {
		return err
	}
	g.out.Reset(len(g.remotes))
	if err := g.machine.Elements(&g.rows, g.task.now, g.task.view, &g.out); err != nil {
		return fmt.Errorf("%s: %w", g.node.Block, err)
	}
	for _, f := range g.out.Failed {
		text := g.node.Agg.Aggs[f.Func].Func + " cannot take " + f.Kind.String()
		if err := g.task.deadLetter(g.node, g.rows.B, int(f.Row), codeWrongType, text); err != nil {
			return err
		}
	}
	if err := g.emitLate(); err != nil {
		return err
	}
	return g.emitPanes()
}

// evaluate fills g.rows with the rows of b, their keys and the arguments of the functions. Rows on which one of them fails
// are dead letters.
func (g *groupStage) evaluate(b *event.Bundle) error {
	g.keys = evalAll(g.key, b, g.keys)
	g.argCols, g.whCols = evalSome(g.args, b, g.argCols), evalSome(g.wheres, b, g.whCols)
	g.keep = g.keep[:0]
	for i := range b.Len() {
		ok, err := g.admit(b, i)
		if err != nil {
			return err
		}
		if ok {
			g.keep = append(g.keep, int32(i))
		}
	}
	if err := g.refuse(b); err != nil {
		return err
	}
	in := b
	if len(g.keep) < b.Len() {
		in = pick(b, g.keep, &g.in)
		for _, cols := range [3][][]event.Value{g.keys, g.argCols, g.whCols} {
			for c, col := range cols {
				for k, i := range g.keep {
					if col != nil {
						col[k] = col[i]
					}
				}
				if col != nil {
					cols[c] = col[:len(g.keep)]
				}
			}
		}
	}
	g.rows.B, g.rows.Where = in, g.whCols
	g.rows.Args = g.rows.Args[:0]
	for f, r := range g.remotes {
		cols := g.columns(f)
		if r != nil {
			r.cols = cols
		}
		g.rows.Args = append(g.rows.Args, nil)
		if len(cols) > 0 {
			g.rows.Args[f] = cols[0]
		}
	}
	g.rows.KeyBytes = g.rows.KeyBytes[:0]
	for i := range in.Len() {
		v := g.keyOf.make(in.Heap, g.keys, i)
		g.rows.KeyBytes = append(g.rows.KeyBytes, in.Heap.End(codec.AppendKey(in.Heap.Begin(), in.Heap, v)))
	}
	return nil
}

// columns returns the arguments of function f.
func (g *groupStage) columns(f int) [][]event.Value { return g.argCols[g.first[f]:g.first[f+1]] }

// refuse takes the rows out of g.keep that a combiner of a plugin refuses. They count nowhere.
func (g *groupStage) refuse(b *event.Bundle) error {
	for f, r := range g.remotes {
		if r == nil {
			continue
		}
		r.cols = g.columns(f)
		rows := g.keep
		if where := g.whCols[f]; where != nil {
			rows = nil
			for _, i := range g.keep {
				if where[i].Kind == event.Bool && where[i].Bool() {
					rows = append(rows, i)
				}
			}
		}
		failed, err := r.check(rows, b.Heap)
		if err != nil {
			return fmt.Errorf("%s: %w", g.node.Block, err)
		}
		for _, x := range failed {
			if err := g.task.deadLetterDigest(g.node, b, int(x.Row), x.Code, r.text+": "+x.Text, x.Digest); err != nil {
				return err
			}
			g.keep = slices.DeleteFunc(g.keep, func(i int32) bool { return i == x.Row })
		}
	}
	return nil
}

// evalSome is evalAll for a list in which programs may be missing.
func evalSome(ps []*expr.Program, b *event.Bundle, cols [][]event.Value) [][]event.Value {
	for len(cols) < len(ps) {
		cols = append(cols, nil)
	}
	for i, p := range ps {
		if p != nil {
			cols[i] = p.Eval(b, cols[i][:0])
		}
	}
	return cols[:len(ps)]
}

// admit reports whether row i goes into the grouping. One that does not has been dealt with.
func (g *groupStage) admit(b *event.Bundle, i int) (bool, error) {
	null := len(g.keys) > 0
	for _, cols := range [3][][]event.Value{g.keys, g.argCols, g.whCols} {
		for _, c := range cols {
			if c != nil && c[i].Kind == event.Error {
				return false, g.fail(b, i, c[i])
			}
		}
	}
	for _, c := range g.keys {
		null = null && c[i].IsNull()
	}
	if !null || g.node.Agg.Key.Null == "keep" || g.node.Agg.Key.Null == "" {
		return true, nil
	}
	if g.node.Agg.Key.Null == "skip" {
		g.stats.Skipped.Add(1)
		return false, nil
	}
	return false, g.task.deadLetter(g.node, b, i, codeNullKey, "the key is null")
}

// emitLate passes on the rows that a closed window would have taken.
func (g *groupStage) emitLate() error {
	g.stats.NoWindow.Add(int64(g.out.NoWindow))
	late := g.out.Late
	if len(late) == 0 {
		return nil
	}
	g.stats.Late.Add(int64(len(late)))
	if g.node.Agg.Late == "drop" {
		return nil
	}
	in := g.rows.B
	if len(g.outs) < 2 { // nothing reads them
		for _, l := range late {
			text := fmt.Sprintf("window %s is closed; event time %s, watermark %s", l.Window, in.Times[l.Row], in.Marks[l.Row])
			if err := g.task.deadLetter(g.node, in, int(l.Row), codeLate, text); err != nil {
				return err
			}
		}
		return nil
	}
	c := g.node.Out[1]
	g.late.Reset(len(c.Paths))
	g.late.Heap = in.Heap
	for _, l := range late {
		i := int(l.Row)
		key, err := codec.DecodeKey(in.Heap.Get(g.rows.KeyBytes[i]), in.Heap)
		if err != nil {
			return fmt.Errorf("%s: %w", g.node.Block, err)
		}
		win := len(g.late.Windows)
		g.late.AppendMeta(in, i)
		g.late.Keys[len(g.late.Keys)-1] = codec.RestoreKey(in.Heap, key, g.node.Agg.Key.Type)
		g.late.Windows = append(g.late.Windows[:win], l.Window)
		for s, p := range c.Paths {
			g.late.Fields[s] = append(g.late.Fields[s], in.Fields[g.node.In.Slot(p)][i])
		}
	}
	g.late.Panes = g.late.Panes[:0]
	return g.emit(1, &g.late)
}

// emitPanes finishes the panes that the machine made, and passes them on.
func (g *groupStage) emitPanes() error {
	p := &g.out.Panes
	for f, r := range g.remotes {
		if r == nil {
			continue
		}
		if err := r.finish(p.Fields[f], p.Heap); err != nil {
			return fmt.Errorf("%s: %w", g.node.Block, err)
		}
	}
	if p.Len() == 0 {
		return nil
	}
	h := p.Heap
	for i, k := range p.Keys {
		key, err := codec.DecodeKey(k.Bytes(h), h)
		if err != nil {
			return fmt.Errorf("%s: %w", g.node.Block, err)
		}
		p.Keys[i] = codec.RestoreKey(h, key, g.node.Agg.Key.Type)
	}
	g.cols = evalSome(g.results, p, g.cols)
	g.all = evalAll(append(g.fields, g.value...), p, g.all)
	p.Values = g.values(p)
	g.good = g.good[:0]
	for i := range p.Len() {
		if bad, ok := g.badResult(p, i); ok {
			if err := g.fail(p, i, bad); err != nil {
				return err
			}
			continue
		}
		g.good = append(g.good, int32(i))
	}
	fields := g.panes.Fields[:0]
	p.Slice(0, p.Len(), &g.panes)
	g.panes.Fields = fields
	for s, prog := range g.results {
		if prog == nil {
			g.cols[s] = missing(g.cols[s][:0], p.Len())
		}
		g.panes.Fields = append(g.panes.Fields, g.cols[s])
	}
	return g.emit(0, pick(&g.panes, g.good, &g.kept))
}

func (g *groupStage) badResult(p *event.Bundle, i int) (event.Value, bool) {
	for _, cols := range [3][][]event.Value{g.cols, g.all, p.Fields} {
		for _, c := range cols {
			if c != nil && c[i].Kind == event.Error {
				return c[i], true
			}
		}
	}
	return event.Value{}, false
}

// values writes the results as objects, attributes in written order.
func (g *groupStage) values(p *event.Bundle) []event.Value {
	vals := p.Values[:0]
	if g.value != nil {
		return append(vals, g.all[0]...)
	}
	if g.fields == nil {
		return missing(vals, p.Len())
	}
	for i := range p.Len() {
		var buf [256]byte
		text := append(buf[:0], '{')
		for k, name := range g.node.Names {
			if k > 0 {
				text = append(text, ',')
			}
			text = jsontext.AppendString(text, name)
			text = append(text, ':')
			text = jsontext.Append(text, p.Heap, g.all[k][i])
		}
		vals = append(vals, event.HeapValue(event.Object, p.Heap.Put(append(text, '}'))))
	}
	return vals
}

// advance lets the windows fire that the watermark has passed. The epoch may end between two parts of a large firing.
func (g *groupStage) advance(w event.Time) error {
	if w <= g.wm {
		return nil
	}
	g.wm = w
	g.stats.Watermark.Store(int64(w))
	for done := false; !done; {
		var err error
		g.out.Reset(len(g.remotes))
		if done, err = g.machine.Watermark(w, g.task.view, &g.out, fireBudget); err != nil {
			return fmt.Errorf("%s: %w", g.node.Block, err)
		}
		if err := g.emitPanes(); err != nil {
			return err
		}
		if !done {
			if err := g.task.between(); err != nil {
				return err
			}
		}
	}
	return g.forwardOut()
}

// forwardOut passes on the output's watermark, which stays behind the results that the machine still owes.
func (g *groupStage) forwardOut() error {
	if w := g.machine.OutputWatermark(g.wm); w > g.outWM {
		g.outWM = w
		return g.forward(w)
	}
	return nil
}

// tick lets the timers of processing time fire that are due.
func (g *groupStage) tick(now event.Time) error {
	if g.machine.NextClock() > now {
		return nil
	}
	for done := false; !done; {
		var err error
		g.out.Reset(len(g.remotes))
		if done, err = g.machine.Clock(now, g.task.view, &g.out, fireBudget); err != nil {
			return fmt.Errorf("%s: %w", g.node.Block, err)
		}
		if err := g.emitPanes(); err != nil {
			return err
		}
	}
	return g.forwardOut()
}

func (g *groupStage) boundary(oldest event.Time) event.Time {
	return min(g.machine.Boundary(g.wm, oldest), g.base.boundary(min(oldest, g.wm)))
}
