package config

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// roots are the names that an expression can start with, beside those that a for binds.
var roots = []string{"value", "key", "record", "event", "window", "pane", "left", "right", "var", "local"}

// traversal converts a name with what follows it: value.user.name, var.topic, x[0].
func (c *converter) traversal(e *hclsyntax.ScopeTraversalExpr) *expr.Node {
	root := e.Traversal[0].(hcl.TraverseRoot)
	rest := e.Traversal[1:]
	name := root.Name
	if slices.Contains(c.bound, name) {
		return c.steps(&expr.Node{Op: expr.OpVar, Name: name, Pos: posOf(root.SrcRange)}, rest)
	}
	switch {
	case name == "var" || name == "local":
		return c.constant(name, e, rest)
	case slices.Contains(roots, name):
		return c.steps(&expr.Node{Op: expr.OpVar, Name: name, Pos: posOf(root.SrcRange)}, rest)
	case kindOf(name) != nil || slices.Contains(laterKinds, name):
		return c.fail(e.SrcRange, "Block in an expression", "%s is a block of the pipeline, not a value. Values of a record are value.FIELD.", sourceOf(c.ld, e.SrcRange))
	case strings.Contains(name, "-"):
		return c.fail(root.SrcRange, "Unknown name", "%q is one name: a name may contain dashes. If a minus is meant, put blanks around it: %s.",
			name, strings.ReplaceAll(name, "-", " - "))
	}
	hint := didYouMean(name, append(slices.Clone(roots), c.bound...))
	if hint == "" && len(rest) == 0 {
		hint = ` If a text is meant, write it in quotes: "` + name + `".`
	}
	if hint == "" {
		hint = " A field of the record is value." + name + "."
	}
	return c.fail(root.SrcRange, "Unknown name", "There is nothing called %q here.%s", name, hint)
}

// constant replaces var.NAME and local.NAME by the value.
func (c *converter) constant(kind string, e *hclsyntax.ScopeTraversalExpr, rest hcl.Traversal) *expr.Node {
	attr, ok := hcl.TraverseAttr{}, false
	if len(rest) > 0 {
		attr, ok = rest[0].(hcl.TraverseAttr)
	}
	if !ok {
		return c.fail(e.SrcRange, "Incomplete reference", "Name which one: %s.NAME.", kind)
	}
	lit, ok := c.ld.constantNamed(kind, attr.Name, hcl.RangeBetween(e.Traversal[0].SourceRange(), attr.SrcRange))
	if !ok {
		c.failed = true
	}
	return c.steps(literalNode(lit, hcl.RangeBetween(e.Traversal[0].SourceRange(), attr.SrcRange)), rest[1:])
}

// steps adds field accesses and indexes to n.
func (c *converter) steps(n *expr.Node, steps hcl.Traversal) *expr.Node {
	if len(steps) > maxDepth {
		return c.fail(steps.SourceRange(), "Expression too deep", "A value may be entered %d levels deep.", maxDepth)
	}
	start := n.Pos
	for _, s := range steps {
		rng := s.SourceRange()
		pos := posOf(hcl.RangeBetween(rangeOf(start), rng))
		switch s := s.(type) {
		case hcl.TraverseAttr:
			n = &expr.Node{Op: expr.OpField, Name: s.Name, Pos: pos, Args: []*expr.Node{n}}
		case hcl.TraverseIndex:
			n = c.indexBy(n, s.Key, rng, pos)
		default:
			return c.fail(rng, "Expression not supported", "wgate does not have this kind of access.")
		}
	}
	return n
}

// indexBy enters n by a constant: value["user-id"] is a field, value[0] a member.
func (c *converter) indexBy(n *expr.Node, key cty.Value, rng hcl.Range, pos expr.Pos) *expr.Node {
	switch {
	case key.IsNull() || !key.IsKnown():
	case key.Type() == cty.String:
		return &expr.Node{Op: expr.OpField, Name: key.AsString(), Quoted: true, Pos: pos, Args: []*expr.Node{n}}
	case key.Type() == cty.Number:
		if i, acc := key.AsBigFloat().Int64(); acc == 0 {
			lit := event.Literal{Kind: event.Int, Value: event.IntValue(i)}
			return &expr.Node{Op: expr.OpIndex, Pos: pos, Args: []*expr.Node{n, literalNode(lit, rng)}}
		}
	}
	return c.fail(rng, "Invalid index", "An index is a whole number, or the name of a field in quotes.")
}

// index converts LIST[EXPR]; a constant text as the index makes it a field access.
func (c *converter) index(e *hclsyntax.IndexExpr) *expr.Node {
	args := c.all(e.Collection, e.Key)
	if k := args[1]; k.Op == expr.OpLiteral && k.Lit.Kind == event.String {
		return &expr.Node{Op: expr.OpField, Name: k.Lit.Text, Quoted: true, Pos: posOf(e.SrcRange), Args: args[:1]}
	}
	return &expr.Node{Op: expr.OpIndex, Pos: posOf(e.SrcRange), Args: args}
}

// item is one entry of an object expression.
type item struct {
	name  string
	rng   hcl.Range // of the name
	value hclsyntax.Expression
}

// items reads the entries of { a = ..., "b-c" = ... } in written order. Repeated names are reported with both places.
func (ld *loader) items(e *hclsyntax.ObjectConsExpr) []item {
	if len(e.Items) > maxNames {
		ld.fail(e.SrcRange, "Too many names", "An object may have %d names; this has %d.", maxNames, len(e.Items))
		return nil
	}
	var out []item
	first := map[string]hcl.Range{}
	for _, it := range e.Items {
		name, ok := ld.itemName(it.KeyExpr)
		if !ok {
			continue
		}
		rng := it.KeyExpr.Range()
		if prev, dup := first[name]; dup {
			ld.fail(rng, "Duplicate name", "%q is in this object already, at %s. Remove one of the two.", name, at(prev))
			continue
		}
		first[name] = rng
		out = append(out, item{name, rng, it.ValueExpr})
	}
	return out
}

func (ld *loader) itemName(e hclsyntax.Expression) (string, bool) {
	if k, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok && !k.ForceNonLiteral {
		if name := hcl.ExprAsKeyword(k.Wrapped); name != "" {
			return name, true
		}
	}
	n, ok := ld.node(e)
	if !ok {
		return "", false
	}
	if lit, ok := expr.Constant(n); ok && lit.Kind == event.String {
		return lit.Text, true
	}
	ld.fail(e.Range(), "Invalid name in an object", `The left side is a name: name = ..., or a text: "user-id" = ....`)
	return "", false
}

// sourceOf returns the source text of a range.
func sourceOf(ld *loader, r hcl.Range) string {
	src := ld.texts[r.Filename]
	if r.Start.Byte > r.End.Byte || r.End.Byte > len(src) {
		return ""
	}
	return string(src[r.Start.Byte:r.End.Byte])
}
