package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/triggers"
)

// trigger is a Spec that is being read, with the place of every node.
type trigger struct {
	spec triggers.Spec
	rngs []hcl.Range // of its nodes, in the order in which they print
}

// readTrigger reads the attribute trigger.
func (b body) readTrigger() triggers.Spec {
	a := b.attr("trigger")
	if a == nil {
		return triggers.Default()
	}
	t, ok := b.ld.triggerOf(a.Expr)
	if !ok {
		return triggers.Default()
	}
	for _, p := range t.spec.Validate() {
		rng := a.Expr.Range()
		if p.Node < len(t.rngs) {
			rng = t.rngs[p.Node]
		}
		b.ld.fail(rng, upper(p.Summary), "%s", period(upper(p.Detail)))
	}
	return t.spec
}

// triggerOf reads a trigger expression. What Validate finds is not reported here.
func (ld *loader) triggerOf(e hclsyntax.Expression) (trigger, bool) {
	for {
		p, ok := e.(*hclsyntax.ParenthesesExpr)
		if !ok {
			break
		}
		e = p.Expression
	}
	call, ok := e.(*hclsyntax.FunctionCallExpr)
	if steps := dotted(e); len(steps) > 0 && steps[0] == "plugin" {
		ld.later(e.Range(), "A trigger of a plugin")
		return trigger{}, false
	}
	if !ok || call.ExpandFinal {
		ld.fail(e.Range(), "Invalid trigger", "A trigger is written like %s or %s.", triggers.Default(), `after_count(100)`)
		return trigger{}, false
	}
	kind, ok := triggers.Lookup(call.Name)
	if !ok {
		ld.fail(call.NameRange, "Unknown trigger", "There is no trigger %q.%s", call.Name, didYouMean(call.Name, triggers.Names()))
		return trigger{}, false
	}
	t := trigger{spec: triggers.Spec{Kind: kind}, rngs: []hcl.Range{call.Range()}}
	if !kind.Available() {
		return t, true
	}
	if lo, hi := kind.Arity(); len(call.Args) < lo || hi >= 0 && len(call.Args) > hi {
		ld.fail(call.Range(), "Wrong number of arguments", "%s takes %s.", call.Name, amount(lo, hi))
		return trigger{}, false
	}
	switch kind {
	case triggers.AfterCount:
		return t, ld.triggerCount(&t, call.Args[0])
	case triggers.AfterDelay, triggers.Every:
		return t, ld.triggerDelay(&t, call.Args[0])
	case triggers.AfterWatermark:
		if len(call.Args) == 1 {
			return t, ld.triggerPhases(&t, call.Args[0])
		}
		return t, true
	default:
	}
	all := true
	for _, arg := range call.Args {
		all = ld.part(&t, &t.spec.Parts, arg) && all
	}
	return t, all
}

func amount(lo, hi int) string {
	switch {
	case hi < 0:
		return fmt.Sprintf("%d or more", lo)
	case lo != hi:
		return fmt.Sprintf("%d to %d", lo, hi)
	}
	return fmt.Sprint(lo)
}

// part reads a trigger into one of t's lists.
func (ld *loader) part(t *trigger, list *[]triggers.Spec, e hclsyntax.Expression) bool {
	p, ok := ld.triggerOf(e)
	*list = append(*list, p.spec)
	t.rngs = append(t.rngs, p.rngs...)
	return ok
}

func (ld *loader) triggerCount(t *trigger, e hclsyntax.Expression) bool {
	lit, ok := ld.constantOf(e, "The count")
	if ok && lit.Kind != event.Int {
		ld.fail(e.Range(), "Invalid count", "A whole number above zero is needed here.")
		return false
	}
	t.spec.Count = lit.Value.Int()
	return ok
}

func (ld *loader) triggerDelay(t *trigger, e hclsyntax.Expression) bool {
	lit, ok := ld.constantOf(e, "The time")
	if !ok {
		return false
	}
	d, why := durationLiteral(lit)
	if why != "" {
		ld.fail(e.Range(), "Invalid duration", "%s", why)
		return false
	}
	t.spec.Delay = d
	return true
}

// triggerPhases reads { early = T, late = T }. Early prints first, so its places come first, too.
func (ld *loader) triggerPhases(t *trigger, e hclsyntax.Expression) bool {
	o, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		ld.fail(e.Range(), "Invalid trigger", "after_watermark takes an object: after_watermark({ early = every(\"1m\"), late = after_count(1) }).")
		return false
	}
	var early, late hclsyntax.Expression
	all := true
	for _, it := range ld.items(o) {
		switch it.name {
		case "early":
			early = it.value
		case "late":
			late = it.value
		default:
			ld.fail(it.rng, "Unknown phase", "after_watermark has early and late, not %q.%s", it.name, didYouMean(it.name, []string{"early", "late"}))
			all = false
		}
	}
	if early != nil {
		all = ld.part(t, &t.spec.Early, early) && all
	}
	if late != nil {
		all = ld.part(t, &t.spec.Late, late) && all
	}
	return all
}
