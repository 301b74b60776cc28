package expr

import (
	"github.com/wgate/wgate/event"
)

// want reports an operand that cannot be of kind k.
func (c *checker) want(t *typed, k event.Kind, what string) bool {
	if fits(t.typ, k) && (t.typ.Kind != event.Null || k == event.Null) {
		return true
	}
	c.problem(t.node, what+" needs "+kindArticle(k), t.node.String()+" is "+article(t.typ)+".")
	return false
}

func (c *checker) unary(n *Node) *typed {
	a := c.check(n.Args[0])
	if n.Name == "!" {
		if !c.want(a, event.Bool, "!") {
			return bad(n)
		}
		return &typed{op: tNot, node: n, typ: event.Of(event.Bool), args: []*typed{a}}
	}
	if !maybeNumber(a.typ) && a.typ.Kind != event.Span {
		c.problem(a.node, "- needs a number", a.node.String()+" is "+article(a.typ)+".")
		return bad(n)
	}
	return &typed{op: tNeg, node: n, typ: event.Of(a.typ.Kind), args: []*typed{a}}
}

func (c *checker) binary(n *Node) *typed {
	a, b := c.check(n.Args[0]), c.check(n.Args[1])
	args := []*typed{a, b}
	boolean := event.Of(event.Bool)
	switch n.Name {
	case "&&", "||":
		okA, okB := c.want(a, event.Bool, n.Name), c.want(b, event.Bool, n.Name)
		if !okA || !okB {
			return bad(n)
		}
		if n.Name == "&&" {
			return &typed{op: tAnd, node: n, typ: boolean, args: args}
		}
		return &typed{op: tOr, node: n, typ: boolean, args: args}
	case "==", "!=":
		return &typed{op: tCompare, node: n, typ: boolean, name: n.Name, args: args}
	case "<", "<=", ">", ">=":
		if !c.ordered(n, a, b) {
			return bad(n)
		}
		return &typed{op: tCompare, node: n, typ: boolean, name: n.Name, args: args}
	}
	k, ok := arithKind(n.Name, a.typ, b.typ)
	if !ok {
		c.problem(n, n.Name+" cannot be applied", n.Name+" "+arithHint(n, a, b))
		return bad(n)
	}
	return &typed{op: tArith, node: n, typ: event.Of(k), name: n.Name, args: args}
}

// ordered reports operands that < cannot compare.
func (c *checker) ordered(n *Node, a, b *typed) bool {
	for _, t := range []*typed{a, b} {
		switch t.typ.Kind {
		case event.Null, event.List, event.Object:
			c.problem(t.node, n.Name+" cannot be applied", t.node.String()+" is "+article(t.typ)+", which has no order.")
			return false
		}
	}
	if unknown(a.typ) || unknown(b.typ) || a.typ.Kind == b.typ.Kind || maybeNumber(a.typ) && maybeNumber(b.typ) {
		return true
	}
	detail := a.node.String() + " is " + article(a.typ) + ", " + b.node.String() + " is " + article(b.typ) + "."
	switch {
	case a.typ.Kind == event.Instant || b.typ.Kind == event.Instant:
		detail += ` Write a time as timestamp("2026-01-01T00:00:00Z").`
	case a.typ.Kind == event.Span || b.typ.Kind == event.Span:
		detail += ` Write a duration as duration("90s").`
	}
	c.problem(n, n.Name+" compares values of one kind", detail)
	return false
}

// arithKind returns the kind of a op b; Missing if it depends on the row.
func arithKind(op string, a, b event.Type) (k event.Kind, ok bool) {
	x, y := a.Kind, b.Kind
	if unknown(a) {
		x = event.Missing
	}
	if unknown(b) {
		y = event.Missing
	}
	for _, k := range []event.Kind{x, y} {
		switch k {
		case event.Missing, event.Int, event.Decimal128, event.Float:
		case event.Instant, event.Span:
			if k, ok := timeKind(op, x, y); ok || x != event.Missing && y != event.Missing {
				return k, ok
			}
		default:
			return event.Missing, false
		}
	}
	switch {
	case x == event.Float && y != event.Missing || y == event.Float && x != event.Missing:
		return event.Float, true
	case x == event.Missing || y == event.Missing:
		return event.Missing, true
	case x == event.Decimal128 || y == event.Decimal128 || op == "/":
		return event.Decimal128, true
	}
	return event.Int, true
}

// timeKind is arithKind where at least one operand is a time or a duration.
func timeKind(op string, x, y event.Kind) (event.Kind, bool) {
	type pair struct {
		op   string
		x, y event.Kind
	}
	switch (pair{op, x, y}) {
	case pair{"+", event.Instant, event.Span}, pair{"+", event.Span, event.Instant}, pair{"-", event.Instant, event.Span}:
		return event.Instant, true
	case pair{"-", event.Instant, event.Instant}, pair{"+", event.Span, event.Span}, pair{"-", event.Span, event.Span},
		pair{"*", event.Span, event.Int}, pair{"*", event.Int, event.Span}:
		return event.Span, true
	}
	if x == event.Missing || y == event.Missing {
		return event.Missing, op == "+" || op == "-" || op == "*"
	}
	return event.Missing, false
}

func arithHint(n *Node, a, b *typed) string {
	if n.Name == "+" && (a.typ.Kind == event.String || b.typ.Kind == event.String) {
		return `does not join texts: write "` + inTemplate(a.node) + inTemplate(b.node) + `".`
	}
	needs := "needs numbers: "
	if timeOperand(a.typ.Kind) || timeOperand(b.typ.Kind) {
		needs = "does not go with these (time - time, time + duration, time - duration, duration + duration, duration * int do): "
	}
	return needs + a.node.String() + " is " + article(a.typ) + ", " + b.node.String() + " is " + article(b.typ) + "."
}

func inTemplate(n *Node) string {
	if n.Op == OpLiteral && n.Lit.Kind == event.String {
		return n.Lit.Text
	}
	return "${" + n.String() + "}"
}

func (c *checker) cond(n *Node) *typed {
	t := &typed{op: tCond, node: n, args: []*typed{c.check(n.Args[0]), c.check(n.Args[1]), c.check(n.Args[2])}}
	if !c.want(t.args[0], event.Bool, "? :") {
		return bad(n)
	}
	t.typ, _ = unify(t.args[1].typ, t.args[2].typ)
	return t
}

func (c *checker) index(n *Node) *typed {
	a, i := c.check(n.Args[0]), c.check(n.Args[1])
	t := &typed{op: tIndex, node: n, args: []*typed{a, i}}
	if i.op == tLiteral && i.lit.Kind == event.String && !(a.typ.Kind == event.List) {
		return c.fieldOf(&Node{Op: OpField, Name: i.lit.Text, Quoted: true, Args: n.Args[:1], Pos: n.Pos}, a)
	}
	switch {
	case unknown(a.typ):
		if !fits(i.typ, event.Int) && !fits(i.typ, event.String) {
			c.problem(i.node, "an index is an int or a string", i.node.String()+" is "+article(i.typ)+".")
			return bad(n)
		}
	case a.typ.Kind == event.List:
		if !c.want(i, event.Int, "the index of a list") {
			return bad(n)
		}
		t.typ = elem(a.typ)
	case a.typ.Kind == event.Object:
		if !c.want(i, event.String, "the index of an object") {
			return bad(n)
		}
	default:
		c.problem(n, "[ ] cannot be applied", a.node.String()+" is "+article(a.typ)+"; only lists and objects have an index.")
		return bad(n)
	}
	return t
}

func (c *checker) list(n *Node) *typed {
	t := &typed{op: tList, node: n, args: c.all(n.Args)}
	t.typ = event.Type{Kind: event.List, Elem: unifyAll(t.args)}
	return t
}

func (c *checker) all(nodes []*Node) []*typed {
	args := make([]*typed, len(nodes))
	for i, a := range nodes {
		args[i] = c.check(a)
	}
	return args
}

func (c *checker) object(n *Node) *typed {
	t := &typed{op: tObject, node: n, typ: event.Of(event.Object), args: c.all(n.Args)}
	for i, k := range n.Keys {
		for _, o := range n.Keys[:i] {
			if o == k {
				c.problem(n.Args[i], "repeated field "+k, "An object has one value for each name.")
			}
		}
		t.typ.Fields = append(t.typ.Fields, event.Field{Name: k, Type: t.args[i].typ})
	}
	return t
}

func (c *checker) template(n *Node) *typed {
	return &typed{op: tTemplate, node: n, typ: event.Of(event.String), args: c.all(n.Args)}
}

// loop checks [for x in list : body if cond].
func (c *checker) loop(n *Node) *typed {
	list := c.check(n.Args[0])
	t := &typed{op: tFor, node: n, typ: event.Of(event.List)}
	if k := list.typ.Kind; !unknown(list.typ) && k != event.List && k != event.Object {
		c.problem(n.Args[0], "for needs a list", n.Args[0].String()+" is "+article(list.typ)+".")
		return bad(n)
	}
	depth := 1
	if len(c.fors) > 0 {
		depth += c.fors[len(c.fors)-1].depth
	}
	t.slot = depth - 1
	before := len(c.fors)
	member := n.Keys[len(n.Keys)-1]
	c.fors = append(c.fors, binding{name: member, typ: elem(list.typ), depth: depth})
	if len(n.Keys) > 1 {
		it := event.Any
		switch list.typ.Kind {
		case event.List:
			it = event.Of(event.Int)
		case event.Object:
			it = event.Of(event.String)
		}
		c.fors = append(c.fors, binding{name: n.Keys[0], typ: it, slot: 1, depth: depth})
	}
	body := c.check(n.Args[1])
	t.args = []*typed{list, body}
	if len(n.Args) > 2 {
		cond := c.check(n.Args[2])
		c.want(cond, event.Bool, "if")
		t.args = append(t.args, cond)
	}
	c.fors = c.fors[:before]
	t.typ = listOf(body.typ)
	return t
}
