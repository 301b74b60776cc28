package expr

import (
	"github.com/wgate/wgate/event"
)

// Expr is a checked expression. It is immutable and may be shared.
type Expr struct {
	node  *Node
	scope Scope
	root  *typed
	paths []Path
	uses  Uses
}

// Check gives every node of n a type. An expression with problems is nil; all problems are reported, in the order in
// which they stand. What depends on values of unknown type is checked row by row at run time.
func Check(n *Node, sc Scope) (*Expr, []Problem) {
	c := &checker{scope: sc, expr: &Expr{node: n, scope: sc}}
	root := c.check(n)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	c.expr.root = fold(root)
	return c.expr, nil
}

// Type returns the type of the result.
func (e *Expr) Type() event.Type { return e.root.typ }

// Node returns the expression as it was written.
func (e *Expr) Node() *Node { return e.node }

// String writes the expression on one line.
func (e *Expr) String() string { return e.node.String() }

// Paths returns the fields of value that the expression reads: each the longest chain of fields that is known before a
// row is. No path occurs twice. The caller must not change them.
func (e *Expr) Paths() []Path { return e.paths }

// Whole reports whether the expression reads value as a whole.
func (e *Expr) Whole() bool { return e.uses.Value }

// Uses returns what else of a row the expression reads.
func (e *Expr) Uses() Uses { return e.uses }

// As returns e as an expression whose result is of kind k on every row: what is of another kind at run time is an error
// of the row, null too. It fails when the types are known not to fit. An int passes where a decimal or float is wanted
// and is converted.
func (e *Expr) As(k event.Kind) (*Expr, []Problem) {
	t := e.root.typ
	if !fits(t, k) {
		return nil, []Problem{{
			Pos:     e.node.Pos,
			Summary: "a " + k.String() + " is needed here",
			Detail:  "the expression gives " + article(t) + ".",
		}}
	}
	if t.Kind == k && !t.Optional {
		return e, nil
	}
	c := *e
	c.root = &typed{op: tAs, node: e.node, typ: event.Of(k), kind: k, args: []*typed{e.root}}
	return &c, nil
}

// Constant evaluates an expression that reads nothing of a row. ok is false if it does read something, has a problem or
// fails.
func Constant(n *Node) (lit event.Literal, ok bool) {
	e, problems := Check(n, Scope{NoRow: true})
	if len(problems) > 0 || e.root.op != tLiteral {
		return event.Literal{}, false
	}
	return e.root.lit, true
}
