package config

import (
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// What this version can do of what the language has.
const (
	retracting = false // panes = "retracting"
	separate   = false // late = "separate"
)

// available splits the words of a choice: those after the first n only if this version has them.
func available(has bool, n int, words ...string) (now, later []string) {
	if has {
		return words, nil
	}
	return words[:n], words[n:]
}

// declareAggregate reads what of an aggregate needs no types.
func (ld *loader) declareAggregate(b *topBlock) {
	b.check(aggregateSchema)
	a := &Aggregate{Name: b.name, Pos: posOf(b.head), Errors: b.policy(ld.policy)}
	a.Window = b.readWindow()
	a.Trigger = b.readTrigger()
	b.checkSteps(a)
	now, later := available(retracting, 2, "discarding", "accumulating", "retracting")
	a.Panes = b.choice("panes", "accumulating", now, later...)
	a.Lateness = b.duration("allowed_lateness", 0, true)
	a.Timestamp = b.choice("timestamp", "end", []string{"end", "earliest", "latest"})
	a.Unchanged = b.choice("unchanged", "emit", []string{"emit", "suppress"})
	now, later = available(separate, 2, "refine", "drop", "separate")
	a.Late = b.choice("late", "refine", now, later...)
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
	a.Type = objectOf(a.Compute)
	v.out = flow{value: a.Type, key: a.Key.Type, windowed: true, declared: true, agg: a}
	if !ok {
		v.out.value = event.Any
	}
	v.late = flow{value: in.value, key: a.Key.Type, source: in.source, windowed: true, declared: in.declared}
}
