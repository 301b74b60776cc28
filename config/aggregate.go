package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// declareAggregate reads what of an aggregate needs no types.
func (ld *loader) declareAggregate(b *topBlock) {
	b.check(aggregateSchema)
	a := &Aggregate{Name: b.name, Pos: posOf(b.head), Errors: b.policy(ld.policy)}
	a.Window = b.readWindow()
	a.Trigger = b.readTrigger()
	b.checkSteps(a)
	a.Panes = b.choice("panes", "accumulating", []string{"discarding", "accumulating", "retracting"})
	a.Lateness = b.duration("allowed_lateness", 0, true)
	a.Timestamp = b.choice("timestamp", "end", []string{"end", "earliest", "latest"})
	a.Unchanged = b.choice("unchanged", "emit", []string{"emit", "suppress"})
	a.Late = b.choice("late", "refine", []string{"refine", "drop", "separate"})
	b.checkSeparate(a)
	ld.p.Aggregates = append(ld.p.Aggregates, a)
	ld.graph.add(Ref{Kind: "aggregate", Name: b.name}, b, b.input(), func(v *vertex, in flow) { b.readAggregate(a, v, in) })
}

// checkSteps: a cumulative window sends a pane at each of its steps, so that its trigger must have nothing to say before
// the window's end.
func (b *topBlock) checkSteps(a *Aggregate) {
	attr := b.attr("trigger")
	if a.Window.Kind != windowing.Cumulative || attr == nil {
		return
	}
	if m, err := triggers.Compile(a.Trigger); err == nil && !m.Quiet() {
		b.ld.fail(attr.Expr.Range(), "Trigger does not fit the window",
			"A cumulative window sends its panes at its steps; the trigger may only speak after the window's end. Use %s, or after_watermark with late alone.",
			triggers.Default())
	}
}

// readAggregate compiles key and compute.
func (b *topBlock) readAggregate(a *Aggregate, v *vertex, in flow) {
	if len(v.inputs) > 0 {
		a.Input = v.inputs[0]
	}
	for _, u := range b.ld.graph.nodes {
		for _, r := range u.inputs {
			if r.Kind == "aggregate" && r.Name == a.Name && r.Tag == "late" {
				a.LateRead = true
				if a.Late == "drop" {
					b.ld.fail(rangeOf(r.Pos), "Nothing to read", `%s has late = "drop", so that nothing ever arrives here. Remove one of the two.`, b.what)
				}
			}
		}
	}
	a.Key = b.readKey(in)
	if n := b.attr("null_key"); n != nil && a.Key.Form == NoKey {
		b.ld.fail(n.NameRange, "No key", "%q says what becomes of null keys, and %s has no key.", n.Name, b.what)
	}
	ok := b.readCompute(a, in)
	if a.Type = objectOf(a.Compute); a.Value != nil {
		a.Type = event.Any
	}
	v.out = flow{value: a.Type, key: a.Key.Type, windowed: true, declared: true, agg: a}
	if !ok {
		v.out.value = event.Any
	}
	v.late = flow{value: in.value, key: a.Key.Type, source: in.source, windowed: true, declared: in.declared}
	if in.retracts() {
		a.Retracted, v.late.agg = true, in.agg
		b.checkRetracted(a, in.agg)
	}
}

// checkSeparate: the panes of late rows come one window size after the first of them, so there has to be a size, and
// nothing else may fire after the window's end.
func (b *topBlock) checkSeparate(a *Aggregate) {
	if a.Late != "separate" {
		return
	}
	rng := b.attr("late").Expr.Range()
	switch a.Window.Kind {
	case windowing.Fixed, windowing.Sliding, windowing.Cumulative:
	default:
		b.ld.fail(rng, "Window without a size", `late = "separate" gathers late rows for as long as the window is, and a %s window has no length of its own. Use a fixed, sliding or cumulative window, or leave it out.`, a.Window.Kind)
		return
	}
	t := a.Trigger
	if !t.Equal(triggers.Default()) && (t.Kind != triggers.AfterWatermark || len(t.Late) > 0) {
		b.ld.fail(rng, "Trigger does not fit late rows", `With late = "separate" late rows have panes and a time of their own; the trigger may only be %s, or after_watermark with early alone.`, triggers.Default())
	}
}

// alternatives writes names as one has a choice of them: "a, b or c".
func alternatives(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// checkRetracted refuses an aggregate that cannot take back what its input takes back.
func (b *topBlock) checkRetracted(a, from *Aggregate) {
	fail := func(rng hcl.Range, what, next string) {
		b.ld.fail(rng, "Rows that are taken back", `aggregate.%s takes rows back (panes = "retracting"): %s. %s`, from.Name, what, next)
	}
	for _, g := range a.Aggs {
		if sig, ok := combine.Lookup(g.Func); ok && !sig.Invertible {
			fail(rangeOf(g.Pos), g.Func+" cannot forget one of its rows in this version", "Use "+alternatives(combine.InvertibleNames())+", or other panes there.")
		}
	}
	switch {
	case a.Panes == "discarding":
		fail(b.head, "what is new since the last pane can then be less than nothing", `Use panes = "accumulating" or "retracting" here.`)
	case a.Window.Kind.Merging():
		fail(b.head, "a session does not shrink in this version", "Use another window here, or other panes there.")
	case a.Window.Kind == windowing.Cumulative:
		fail(b.head, "a cumulative window over such rows is not available in this version", "Use another window here, or other panes there.")
	case a.Late == "separate":
		fail(b.head, `late = "separate" over such rows is not available in this version`, "Leave it out, or use other panes there.")
	}
}
