package plan

import (
	"fmt"

	"github.com/wgate/wgate/expr"
)

// require walks from the sinks to the sources and notes on every collection which fields of it are read, and whether the
// value is needed as a whole. Then it tells every node where the columns of its output come from.
func (b *builder) require() error {
	for i := len(b.plan.Nodes) - 1; i >= 0; i-- {
		if err := b.plan.Nodes[i].require(); err != nil {
			return err
		}
	}
	return nil
}

// read notes that e is evaluated over c.
func (c *Collection) read(es ...*expr.Expr) {
	for _, e := range es {
		if e == nil {
			continue
		}
		for _, p := range e.Paths() {
			c.want(p)
		}
		c.Whole = c.Whole || e.Whole()
	}
}

func (c *Collection) want(p expr.Path) int {
	if s := c.Slot(p); s >= 0 {
		return s
	}
	c.Paths = append(c.Paths, p)
	return len(c.Paths) - 1
}

func (n *Node) require() error {
	switch n.Kind {
	case Source:
		n.Out[0].read(n.Value)
		return nil
	case Sink:
		n.requireSink()
		return nil
	case Tap:
		n.In.Whole = true
		return nil
	case Do:
		// The guest reads rows: the whole value. What it makes is decoded again.
		n.In.Whole = true
		for _, c := range n.Out {
			c.Whole = true
		}
		return nil
	case Aggregate:
		return n.requireAggregate()
	}
	return n.requireParDo()
}

func (n *Node) requireSink() {
	n.In.read(n.Key...)
	n.In.read(n.Heads...)
	n.In.read(n.Value)
	if n.Value == nil {
		n.In.Whole = true
	}
}

func (n *Node) requireAggregate() error {
	n.In.read(n.Key...)
	n.In.read(n.Wheres...)
	for _, a := range n.Args {
		n.In.read(a...)
	}
	if len(n.Out) > 1 { // late rows are rows of the input
		for _, p := range n.Out[1].Paths {
			n.In.want(p)
		}
		n.In.Whole = n.In.Whole || n.Out[1].Whole
	}
	out := n.Out[0]
	n.Slots = nil
	for _, p := range out.Paths {
		s := OutSlot{In: -1}
		for i, name := range n.Names {
			if name == p[0] {
				e, err := below(n.Exprs[i], p[1:], expr.Scope{NoValue: true, Windowed: true, Key: out.KeyType})
				if err != nil {
					return fmt.Errorf("%s: field %v: %w", n.Block, p, err)
				}
				s.Expr = e
			}
		}
		if n.Value != nil {
			e, err := below(n.Value, p, expr.Scope{NoValue: true, Windowed: true, Key: out.KeyType})
			if err != nil {
				return fmt.Errorf("%s: field %v: %w", n.Block, p, err)
			}
			s.Expr = e
		}
		n.Slots = append(n.Slots, s)
	}
	return nil
}

// requireParDo handles the nodes that turn one row into at most one row, and explode: each column of the output is a
// column of the input or an expression over it.
func (n *Node) requireParDo() error {
	in, out := n.In, n.Out[0]
	in.read(n.Value)
	if out.Whole && n.Kind != Map {
		in.Whole = true
	}
	if n.Kind == Set && out.Whole {
		in.read(n.Exprs...)
	}
	for _, p := range out.Paths {
		s, err := n.slot(p)
		if err != nil {
			return fmt.Errorf("%s: field %v: %w", n.Block, p, err)
		}
		n.Slots = append(n.Slots, s)
	}
	return nil
}

// slot finds where column p of the output comes from, and asks the input for what that takes.
func (n *Node) slot(p expr.Path) (OutSlot, error) {
	switch n.Kind {
	case Set:
		for i, name := range n.Names {
			if name == p[0] {
				return n.computed(n.Exprs[i], p[1:])
			}
		}
	case Map:
		return n.computed(n.Value, p)
	case Shape:
		named := false
		for _, name := range n.Names {
			named = named || name == p[0]
		}
		if named != n.Keep {
			return OutSlot{In: -1}, nil
		}
	case Explode:
		if p[0] == n.Name {
			return OutSlot{In: -1, Sub: p[1:]}, nil
		}
	}
	return OutSlot{In: n.In.want(p)}, nil
}

func (n *Node) computed(e *expr.Expr, p expr.Path) (OutSlot, error) {
	sub, err := below(e, p, n.In.scope())
	if err != nil {
		return OutSlot{}, err
	}
	n.In.read(sub)
	return OutSlot{In: -1, Expr: sub}, nil
}

// below returns the expression for path p below the result of e, which was checked in scope sc. The members of an object
// that is written out are taken as they stand, so that a field costs nothing but itself.
func below(e *expr.Expr, p expr.Path, sc expr.Scope) (*expr.Expr, error) {
	if len(p) == 0 {
		return e, nil
	}
	node := e.Node()
	for _, name := range p {
		node = member(node, name)
	}
	sub, problems := expr.Check(node, sc)
	if len(problems) > 0 {
		return nil, problems[0]
	}
	return sub, nil
}

func member(n *expr.Node, name string) *expr.Node {
	if n.Op == expr.OpObject {
		for i, k := range n.Keys {
			if k == name {
				return n.Args[i]
			}
		}
	}
	return &expr.Node{Op: expr.OpField, Name: name, Args: []*expr.Node{n}, Pos: n.Pos}
}

// scope is what expressions over rows of c may name.
func (c *Collection) scope() expr.Scope {
	return expr.Scope{Value: c.Type, Key: c.KeyType, Source: c.Source, Windowed: c.Windowed}
}
