package config

import (
	"github.com/wgate/wgate/event"
)

// retracting says whether this version can take results back.
const retracting = false

// declareAggregate reads what of an aggregate needs no types.
func (ld *loader) declareAggregate(b *topBlock) {
	b.check(aggregateSchema)
	a := &Aggregate{Name: b.name, Pos: posOf(b.head), Errors: b.policy(ld.policy)}
	a.Window = b.readWindow()
	a.Trigger = b.readTrigger()
	if retracting {
		a.Panes = b.choice("panes", "accumulating", []string{"discarding", "accumulating", "retracting"})
	} else {
		a.Panes = b.choice("panes", "accumulating", []string{"discarding", "accumulating"}, "retracting")
	}
	a.Lateness = b.duration("allowed_lateness", 0, true)
	a.Timestamp = b.choice("timestamp", "end", []string{"end", "earliest", "latest"})
	a.Unchanged = b.choice("unchanged", "emit", []string{"emit", "suppress"})
	a.Late = b.choice("late", "refine", []string{"refine", "drop"}, "separate")
	ld.p.Aggregates = append(ld.p.Aggregates, a)
	ld.graph.add(Ref{Kind: "aggregate", Name: b.name}, b, b.input(), func(v *vertex, in flow) { b.readAggregate(a, v, in) })
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
	ok := b.readCompute(a, in)
	a.Type = objectOf(a.Compute)
	v.out = flow{value: a.Type, key: a.Key.Type, windowed: true, declared: true, agg: a}
	if !ok {
		v.out.value = event.Any
	}
	v.late = flow{value: in.value, key: a.Key.Type, source: in.source, windowed: true, declared: in.declared}
}
