package expr

import "github.com/wgate/wgate/event"

// top says what a typed node does. Names are resolved: where a Node has a variable, a typed node has the column to read.
type top uint8

const (
	tLiteral  top = iota // lit
	tPath                // a field of value: path
	tValue               // value as a whole
	tKey                 // key
	tTime                // event.time
	tHeader              // the last header called name
	tArrival             // arrival()
	tRecord              // record.name
	tWindow              // window.name
	tPane                // pane.name
	tSlot                // Bundle.Fields[slot]
	tVar                 // a variable of the innermost for of the frame at depth
	tField               // args[0].name
	tIndex               // args[0][args[1]]
	tCall                // fn(args...)
	tHas                 // has(args[0])
	tCoalesce            // the first of args that is not null
	tNot
	tNeg
	tArith   // name of args[0], args[1]
	tCompare // name of args[0], args[1]
	tAnd
	tOr
	tCond
	tList
	tObject // keys, args
	tFor
	tTemplate
	tAs // args[0] as kind
)

// typed is a checked node.
type typed struct {
	op    top
	node  *Node
	typ   event.Type
	args  []*typed
	name  string
	path  Path
	slot  int // of a tSlot: which; of a tVar: 0 element, 1 index; of a tFor: how many fors it stands in
	kind  event.Kind
	lit   event.Literal
	fn    *function
	aux   any            // what fn made of its constant arguments at check time
	dflt  *event.Literal // of a tField: the declared default
	soft  bool           // of a tIndex: what is out of range is missing, not an error
	depth int            // how many fors deep the node must run: 0 needs no variable of any
}

// checker walks a Node and builds the typed tree.
type checker struct {
	scope    Scope
	expr     *Expr
	problems []Problem
	fors     []binding
}

// binding is a variable of a for that is being checked.
type binding struct {
	name  string
	typ   event.Type
	slot  int
	depth int
}

func (c *checker) problem(n *Node, summary, detail string) {
	c.problems = append(c.problems, Problem{Pos: n.Pos, Summary: summary, Detail: detail})
}

// bad stands for a node that has a problem: of any type, so that one mistake is reported once.
func bad(n *Node) *typed { return &typed{op: tLiteral, node: n} }

func (c *checker) check(n *Node) *typed {
	t := c.node(n)
	for _, a := range t.args {
		t.depth = max(t.depth, a.depth)
	}
	if t.op == tFor {
		t.depth = t.slot
	}
	return t
}

func (c *checker) node(n *Node) *typed {
	switch n.Op {
	case OpLiteral:
		return &typed{op: tLiteral, node: n, typ: literalType(n.Lit), lit: n.Lit}
	case OpVar:
		return c.variable(n)
	case OpField:
		return c.field(n)
	case OpIndex:
		return c.index(n)
	case OpCall:
		return c.call(n)
	case OpUnary:
		return c.unary(n)
	case OpBinary:
		return c.binary(n)
	case OpCond:
		return c.cond(n)
	case OpList:
		return c.list(n)
	case OpObject:
		return c.object(n)
	case OpFor:
		return c.loop(n)
	case OpTemplate:
		return c.template(n)
	case OpSlot:
		c.expr.uses.Slots = true
		return &typed{op: tSlot, node: n, typ: n.Type, slot: n.Slot}
	}
	c.problem(n, "not an expression", "This cannot be evaluated.")
	return bad(n)
}

func literalType(l event.Literal) event.Type {
	if l.Kind == event.Missing {
		return event.Of(event.Null)
	}
	return event.Of(l.Kind)
}
