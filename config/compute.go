package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// ofOneRow reports whether there is a function of one row called name, as min is in min(value.a, value.b).
func ofOneRow(name string) bool { return slices.Contains(expr.FunctionNames(), name) }

// aggregateOnly reports whether name is an aggregate function and nothing else.
func aggregateOnly(name string) bool {
	_, ok := combine.Lookup(name)
	return (ok || combine.Later(name)) && !ofOneRow(name)
}

// computer reads the expressions of a compute. Every call of an aggregate function becomes a slot, so that what is left
// is an expression over results.
type computer struct {
	ld   *loader
	agg  *Aggregate
	rows flow           // of the rows that are aggregated: inside of a call key is the row's, outside the group's
	seen map[string]int // slots by the text of the call: what is written twice is computed once
}

// maxAggs is how many different aggregate functions one aggregate may have.
const maxAggs = 1 << 10

// readCompute reads compute. ok is false if something was reported.
func (b *topBlock) readCompute(a *Aggregate, in flow) bool {
	if b.attr("combiner") != nil {
		return b.readCombiner(a, in)
	}
	attr := b.attr("compute")
	if attr == nil {
		b.required("compute", "{ n = count() }")
		return false
	}
	c := computer{ld: b.ld, agg: a, rows: in, seen: map[string]int{}}
	items := b.entries(attr)
	for _, it := range items {
		if x := c.compile(it.value); x != nil {
			a.Compute = append(a.Compute, Assign{Name: it.name, Expr: x, Pos: posOf(it.rng)})
		}
	}
	return len(items) > 0 && len(items) == len(a.Compute)
}

func (c *computer) compile(e hclsyntax.Expression) *expr.Expr {
	conv := converter{ld: c.ld, call: c.call}
	n := conv.convert(e)
	if conv.failed {
		return nil
	}
	return c.ld.checked(n, expr.Scope{Key: c.agg.Key.Type, Windowed: true, NoValue: true}, false)
}

// call takes the call of an aggregate function out. min and max of several arguments are the functions of one row.
func (c *computer) call(conv *converter, e *hclsyntax.FunctionCallExpr) (*expr.Node, bool) {
	failed := func() (*expr.Node, bool) {
		conv.failed = true
		return literalNode(nullLiteral, e.Range()), true
	}
	if plugin, function, ok := c.ld.combinerOf(e); ok {
		if n, ok := c.remote(e, plugin, function); ok {
			return n, true
		}
		return failed()
	}
	sig, ok := combine.Lookup(e.Name)
	if !ok {
		switch {
		case combine.Later(e.Name):
			c.ld.later(e.NameRange, "The aggregate function "+e.Name)
		case ofOneRow(e.Name):
			return nil, false
		default:
			c.ld.fail(e.NameRange, "Unknown function", "There is no function %q.%s", e.Name, didYouMean(e.Name, append(combine.Names(), expr.FunctionNames()...)))
		}
		return failed()
	}
	args, where, ok := c.filter(e)
	if !ok {
		return failed()
	}
	if where == nil && len(args) > sig.MaxArgs && ofOneRow(e.Name) {
		return nil, false
	}
	n, ok := c.slot(e, func() (Agg, bool) { return c.aggOf(sig, e, args, where) })
	if !ok {
		return failed()
	}
	return n, true
}

// slot returns the node that reads the result of call e, which made describes if it was not seen before.
func (c *computer) slot(e *hclsyntax.FunctionCallExpr, made func() (Agg, bool)) (*expr.Node, bool) {
	text := sourceOf(c.ld, e.Range())
	slot, seen := c.seen[text]
	if !seen {
		agg, ok := made()
		if !ok {
			return nil, false
		}
		if slot = len(c.agg.Aggs); slot == maxAggs {
			c.ld.fail(e.Range(), "Too many aggregate functions", "An aggregate has %d at most. Make two of it.", maxAggs)
		}
		c.agg.Aggs = append(c.agg.Aggs, agg)
		c.seen[text] = slot
	}
	return &expr.Node{Op: expr.OpSlot, Name: text, Slot: slot, Type: c.agg.Aggs[slot].Type, Pos: posOf(e.Range())}, true
}

// filter splits the last argument off if it is { where = EXPR }.
func (c *computer) filter(e *hclsyntax.FunctionCallExpr) (args []hclsyntax.Expression, where hclsyntax.Expression, ok bool) {
	args = e.Args
	if len(args) == 0 {
		return args, nil, true
	}
	o, isObject := args[len(args)-1].(*hclsyntax.ObjectConsExpr)
	if !isObject {
		return args, nil, true
	}
	for _, it := range c.ld.items(o) {
		if it.name != "where" {
			if len(o.Items) == 1 && didYouMean(it.name, []string{"where"}) == "" {
				return args, nil, true // an object to aggregate
			}
			c.ld.fail(it.rng, "Unknown option", `An aggregate function has one option: { where = CONDITION }.%s`, didYouMean(it.name, []string{"where"}))
			return nil, nil, false
		}
		where = it.value
	}
	if where == nil {
		return args, nil, true
	}
	return args[:len(args)-1], where, true
}

func (c *computer) aggOf(sig combine.Sig, e *hclsyntax.FunctionCallExpr, args []hclsyntax.Expression, where hclsyntax.Expression) (Agg, bool) {
	a, types, ok := c.argsOf(e, args, where)
	if !ok {
		return a, false
	}
	t, err := sig.Result(types)
	if err != nil {
		c.ld.fail(e.Range(), "Wrong argument", "%s", period(err.Error()))
		return a, false
	}
	a.Type = t
	return a, true
}

// argsOf compiles the arguments and the filter of a call.
func (c *computer) argsOf(e *hclsyntax.FunctionCallExpr, args []hclsyntax.Expression, where hclsyntax.Expression) (a Agg, types []event.Type, ok bool) {
	a = Agg{Func: e.Name, Pos: posOf(e.Range())}
	ok = true
	for _, arg := range args {
		x := c.row(arg)
		if x == nil {
			ok = false
			continue
		}
		a.Args = append(a.Args, x)
		types = append(types, x.Type())
	}
	if where != nil {
		a.Where = c.ld.as(c.row(where), event.Bool)
		ok = ok && a.Where != nil
	}
	return a, types, ok
}

// row compiles an expression over one row. An aggregate function cannot stand in there.
func (c *computer) row(e hclsyntax.Expression) *expr.Expr {
	conv := converter{ld: c.ld, call: c.nested}
	n := conv.convert(e)
	if conv.failed {
		return nil
	}
	return c.ld.checked(n, c.rows.scope(), c.rows.declared)
}

func (c *computer) nested(conv *converter, e *hclsyntax.FunctionCallExpr) (*expr.Node, bool) {
	_, _, remote := c.ld.combinerOf(e)
	if !remote && !aggregateOnly(e.Name) {
		return nil, false
	}
	conv.failed = true
	c.ld.fail(e.NameRange, "Aggregate function in an aggregate function",
		"%s needs all rows, and here there is one. Compute it in an aggregate of its own and let this one read that.", sourceOf(c.ld, e.NameRange))
	return literalNode(nullLiteral, e.Range()), true
}
