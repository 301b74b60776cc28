package config

import (
	"math"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// maxTree is how deep the tree of one expression may be. A chain of operators is as deep as it is long.
const maxTree = 1000

// converter makes a tree of package expr from an HCL expression. Variables and locals are replaced by their values.
type converter struct {
	ld     *loader
	bound  []string // names that enclosing [for ...] expressions bind
	depth  int
	failed bool

	// call, if set, may take a function call over: compute uses it to take aggregate functions out.
	call func(*converter, *hclsyntax.FunctionCallExpr) (n *expr.Node, taken bool)
}

// node converts e; ok is false if something was reported.
func (ld *loader) node(e hclsyntax.Expression) (n *expr.Node, ok bool) {
	c := converter{ld: ld}
	n = c.convert(e)
	return n, !c.failed
}

func (c *converter) fail(rng hcl.Range, summary, format string, args ...any) *expr.Node {
	c.failed = true
	c.ld.fail(rng, summary, format, args...)
	return &expr.Node{Op: expr.OpLiteral, Lit: event.Literal{Kind: event.Null, Value: event.NullValue()}, Pos: posOf(rng)}
}

// convert never returns nil: what cannot be converted is reported and becomes null.
func (c *converter) convert(e hclsyntax.Expression) *expr.Node {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > maxTree {
		return c.fail(e.Range(), "Expression too deep", "An expression may chain %d operators. Give parts of it names in a local block, or set fields first.", maxTree)
	}
	pos := posOf(e.Range())
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return c.convert(e.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return c.convert(e.Wrapped)
	case *hclsyntax.ObjectConsKeyExpr:
		return c.convert(e.Wrapped)
	case *hclsyntax.LiteralValueExpr:
		return c.literal(e)
	case *hclsyntax.ScopeTraversalExpr:
		return c.traversal(e)
	case *hclsyntax.RelativeTraversalExpr:
		return c.steps(c.convert(e.Source), e.Traversal)
	case *hclsyntax.FunctionCallExpr:
		return c.function(e)
	case *hclsyntax.ConditionalExpr:
		return &expr.Node{Op: expr.OpCond, Pos: pos, Args: c.all(e.Condition, e.TrueResult, e.FalseResult)}
	case *hclsyntax.IndexExpr:
		return c.index(e)
	case *hclsyntax.TupleConsExpr:
		return &expr.Node{Op: expr.OpList, Pos: pos, Args: c.all(e.Exprs...)}
	case *hclsyntax.ObjectConsExpr:
		return c.object(e)
	case *hclsyntax.ForExpr:
		return c.forExpr(e)
	case *hclsyntax.TemplateExpr:
		return c.template(e)
	case *hclsyntax.UnaryOpExpr:
		return c.unary(e)
	case *hclsyntax.BinaryOpExpr:
		return &expr.Node{Op: expr.OpBinary, Name: binaryOps[e.Op], Pos: pos, Args: c.all(e.LHS, e.RHS)}
	case *hclsyntax.SplatExpr:
		return c.fail(e.MarkerRange, "Splat not supported", "Write [for x in LIST : x.field] instead of LIST[*].field.")
	case *hclsyntax.TemplateJoinExpr:
		return c.fail(e.Range(), "Template loop not supported", `Write join("", [for x in LIST : ...]) instead of %%{for}.`)
	}
	return c.fail(e.Range(), "Expression not supported", "wgate does not have this kind of expression.")
}

func (c *converter) all(es ...hclsyntax.Expression) []*expr.Node {
	out := make([]*expr.Node, len(es))
	for i, e := range es {
		out[i] = c.convert(e)
	}
	return out
}

var binaryOps = map[*hclsyntax.Operation]string{
	hclsyntax.OpLogicalOr:          "||",
	hclsyntax.OpLogicalAnd:         "&&",
	hclsyntax.OpEqual:              "==",
	hclsyntax.OpNotEqual:           "!=",
	hclsyntax.OpGreaterThan:        ">",
	hclsyntax.OpGreaterThanOrEqual: ">=",
	hclsyntax.OpLessThan:           "<",
	hclsyntax.OpLessThanOrEqual:    "<=",
	hclsyntax.OpAdd:                "+",
	hclsyntax.OpSubtract:           "-",
	hclsyntax.OpMultiply:           "*",
	hclsyntax.OpDivide:             "/",
	hclsyntax.OpModulo:             "%",
}

// literal converts a constant. Numbers are read from the source text, since HCL's own would round decimals.
func (c *converter) literal(e *hclsyntax.LiteralValueExpr) *expr.Node {
	v, rng := e.Val, e.SrcRange
	switch {
	case v.IsNull():
		return literalNode(event.Literal{Kind: event.Null, Value: event.NullValue()}, rng)
	case v.Type() == cty.Bool:
		return literalNode(event.Literal{Kind: event.Bool, Value: event.BoolValue(v.True())}, rng)
	case v.Type() == cty.String:
		return literalNode(event.Literal{Kind: event.String, Text: v.AsString()}, rng)
	case v.Type() == cty.Number:
		text := v.AsBigFloat().Text('g', -1)
		if src := c.ld.texts[rng.Filename]; rng.End.Byte <= len(src) && rng.Start.Byte < rng.End.Byte {
			text = string(src[rng.Start.Byte:rng.End.Byte])
		}
		if lit, ok := number(text); ok {
			return literalNode(lit, rng)
		}
		return c.fail(rng, "Number out of range", "%s is beyond what an int, decimal or float can be.", text)
	}
	return c.fail(rng, "Expression not supported", "wgate does not have this kind of constant.")
}

func literalNode(lit event.Literal, rng hcl.Range) *expr.Node {
	return &expr.Node{Op: expr.OpLiteral, Lit: lit, Pos: posOf(rng)}
}

// number reads a numeral by the rule for JSON numbers: an int if it has neither fraction nor exponent and fits, else a
// decimal if it is one exactly, else a float; with an exponent a float.
func number(text string) (event.Literal, bool) {
	if !strings.ContainsAny(text, ".eE") {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return event.Literal{Kind: event.Int, Value: event.IntValue(i)}, true
		}
	}
	if !strings.ContainsAny(text, "eE") {
		if d, ok := event.ParseDecimal(text); ok {
			return event.Literal{Kind: event.Decimal128, Value: event.DecimalValue(d)}, true
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return event.Literal{}, false
	}
	return event.Literal{Kind: event.Float, Value: event.FloatValue(f)}, true
}

// unary converts ! and -. A minus in front of a numeral becomes part of it.
func (c *converter) unary(e *hclsyntax.UnaryOpExpr) *expr.Node {
	name := "!"
	if e.Op == hclsyntax.OpNegate {
		name = "-"
	}
	return &expr.Node{Op: expr.OpUnary, Name: name, Pos: posOf(e.SrcRange), Args: []*expr.Node{c.convert(e.Val)}}
}

func (c *converter) template(e *hclsyntax.TemplateExpr) *expr.Node {
	switch {
	case len(e.Parts) == 0:
		return literalNode(event.Literal{Kind: event.String}, e.SrcRange)
	case e.IsStringLiteral():
		n := *c.convert(e.Parts[0])
		n.Pos = posOf(e.SrcRange)
		return &n
	}
	return &expr.Node{Op: expr.OpTemplate, Pos: posOf(e.SrcRange), Args: c.all(e.Parts...)}
}

func (c *converter) function(e *hclsyntax.FunctionCallExpr) *expr.Node {
	if e.ExpandFinal {
		return c.fail(e.Range(), "Argument expansion not supported", "wgate does not have ... in a function call. Write the arguments one by one.")
	}
	if c.call != nil {
		if n, taken := c.call(c, e); taken {
			return n
		}
	} else if _, _, ok := c.ld.combinerOf(e); ok {
		return c.fail(e.NameRange, "Combiner outside of compute", "A function of a plugin that is called combines many rows, and here there is one. "+
			"It can stand in the compute of an aggregate block; a function of one row is called by do in a transform block.")
	} else if aggregateOnly(e.Name) {
		return c.fail(e.NameRange, "Aggregate function outside of compute", "%s needs many rows, and here there is one. It can stand in the compute of an aggregate block.", e.Name)
	}
	return &expr.Node{Op: expr.OpCall, Name: e.Name, Pos: posOf(e.Range()), Args: c.all(e.Args...)}
}

func (c *converter) object(e *hclsyntax.ObjectConsExpr) *expr.Node {
	n := &expr.Node{Op: expr.OpObject, Pos: posOf(e.SrcRange)}
	for _, it := range c.ld.items(e) {
		n.Keys = append(n.Keys, it.name)
		n.Args = append(n.Args, c.convert(it.value))
	}
	return n
}

func (c *converter) forExpr(e *hclsyntax.ForExpr) *expr.Node {
	if e.KeyExpr != nil || e.Group {
		return c.fail(e.SrcRange, "Object for not supported", "wgate has [for x in LIST : ...], which makes a list, but not {for ...}.")
	}
	n := &expr.Node{Op: expr.OpFor, Pos: posOf(e.SrcRange)}
	if e.KeyVar != "" {
		n.Keys = append(n.Keys, e.KeyVar)
	}
	n.Keys = append(n.Keys, e.ValVar)
	n.Args = append(n.Args, c.convert(e.CollExpr))
	c.bound = append(c.bound, n.Keys...)
	n.Args = append(n.Args, c.convert(e.ValExpr))
	if e.CondExpr != nil {
		n.Args = append(n.Args, c.convert(e.CondExpr))
	}
	c.bound = c.bound[:len(c.bound)-len(n.Keys)]
	return n
}
