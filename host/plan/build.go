package plan

import (
	"fmt"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// Build makes a plan of a checked pipeline. The error says which block cannot run and what to change.
func Build(p *config.Pipeline) (*Plan, error) {
	b := &builder{plan: &Plan{Pipeline: p}, made: map[string]*Collection{}}
	for i, s := range p.Sources {
		b.source(i, s)
	}
	if err := b.middle(p); err != nil {
		return nil, err
	}
	for _, s := range p.Sinks {
		if err := b.sink(s); err != nil {
			return nil, err
		}
	}
	for _, r := range p.Taps {
		b.tap(r)
	}
	b.prune()
	if err := b.require(); err != nil {
		return nil, err
	}
	b.plan.Hash = hash(b.plan)
	return b.plan, nil
}

type builder struct {
	plan *Plan
	made map[string]*Collection // by the name that a reference has
}

// middle adds transforms and aggregates in an order in which inputs come first. config has refused cycles, so every round
// adds at least one block.
func (b *builder) middle(p *config.Pipeline) error {
	doneT, doneA := make([]bool, len(p.Transforms)), make([]bool, len(p.Aggregates))
	for left := len(p.Transforms) + len(p.Aggregates); left > 0; {
		before := left
		for i, t := range p.Transforms {
			if !doneT[i] && b.has(t.Inputs[0]) {
				b.transform(t)
				doneT[i] = true
				left--
			}
		}
		for i, a := range p.Aggregates {
			if !doneA[i] && b.has(a.Input) {
				if err := b.aggregate(a); err != nil {
					return err
				}
				doneA[i] = true
				left--
			}
		}
		if left == before {
			return fmt.Errorf("pipeline %q: blocks refer to one another in a circle", p.Name)
		}
	}
	return nil
}

func (b *builder) has(r config.Ref) bool { return b.made[r.ID()] != nil }

// node adds a node that reads in and gives one collection of the given name and type.
func (b *builder) node(k Kind, block string, in *Collection, t event.Type) *Node {
	n := &Node{ID: len(b.plan.Nodes), Kind: k, Block: block, In: in}
	if in != nil {
		in.To = append(in.To, n)
	}
	b.plan.Nodes = append(b.plan.Nodes, n)
	if k != Sink && k != Tap {
		b.out(n, block, t)
	}
	return n
}

// out gives n one more output collection. It inherits what rows carry beside their value.
func (b *builder) out(n *Node, name string, t event.Type) *Collection {
	c := &Collection{Name: name, Type: t, From: n}
	if n.In != nil {
		c.KeyType, c.Source, c.Windowed = n.In.KeyType, n.In.Source, n.In.Windowed
	}
	n.Out = append(n.Out, c)
	b.plan.Collections = append(b.plan.Collections, c)
	return c
}

func (b *builder) source(i int, s *config.Source) {
	block := "source." + s.Name
	n := b.node(Source, block, nil, s.Type)
	n.SourceBlock, n.Index, n.Errors = s, i, s.Errors
	n.Value = s.EventTime
	n.Out[0].Source = true
	b.made[block] = n.Out[0]
}

// transform lowers a transform block to a chain of nodes.
func (b *builder) transform(t *config.Transform) {
	block := "transform." + t.Name
	c := b.made[t.Inputs[0].ID()]
	add := func(k Kind, ty event.Type) *Node {
		n := b.node(k, block, c, ty)
		n.Errors = t.Errors
		c = n.Out[0]
		return n
	}
	if t.Do != nil {
		n := add(Do, t.Type)
		n.Plugin, n.Func, n.Tags = t.Do.Plugin, t.Do.Function, t.Tags
		for _, tag := range t.Tags {
			b.made[block+"."+tag] = b.out(n, block+"."+tag, event.Any)
		}
		b.use(n.Plugin)
	}
	if t.Explode != nil {
		n := add(Explode, with(c.Type, t.Explode.Name, elem(t.Explode.Expr.Type())))
		n.Name, n.Value = t.Explode.Name, t.Explode.Expr
	}
	if t.Where != nil {
		add(Filter, c.Type).Value = t.Where
	}
	if len(t.Set) > 0 {
		ty := c.Type
		for _, a := range t.Set {
			ty = with(ty, a.Name, a.Expr.Type())
		}
		n := add(Set, ty)
		for _, a := range t.Set {
			n.Names, n.Exprs = append(n.Names, a.Name), append(n.Exprs, a.Expr)
		}
	}
	if len(t.Drop) > 0 || len(t.Keep) > 0 {
		n := add(Shape, t.Type)
		n.Names, n.Keep = t.Drop, false
		if len(t.Keep) > 0 {
			n.Names, n.Keep = t.Keep, true
		}
	}
	if t.Value != nil {
		add(Map, t.Value.Type()).Value = t.Value
	}
	if t.EventTime != nil {
		add(Retime, c.Type).Value = t.EventTime
	}
	b.made[block] = c
}

func (b *builder) use(p *config.Plugin) {
	for _, q := range b.plan.Plugins {
		if q == p {
			return
		}
	}
	b.plan.Plugins = append(b.plan.Plugins, p)
}

func (b *builder) aggregate(a *config.Aggregate) error {
	block := "aggregate." + a.Name
	in := b.made[a.Input.ID()]
	n := b.node(Aggregate, block, in, a.Type)
	n.Agg, n.Errors, n.Value = a, a.Errors, a.Value
	n.Key = exprsOf(a.Key.Parts)
	for _, g := range a.Aggs {
		n.Args, n.Wheres = append(n.Args, g.Args), append(n.Wheres, g.Where)
		if g.Call != nil {
			b.use(g.Call.Plugin)
		}
	}
	for _, c := range a.Compute {
		n.Names, n.Exprs = append(n.Names, c.Name), append(n.Exprs, c.Expr)
	}
	n.Out[0].KeyType, n.Out[0].Source, n.Out[0].Windowed = a.Key.Type, false, true
	b.made[block] = n.Out[0]
	late := b.out(n, block+".late", in.Type)
	late.KeyType, late.Windowed = a.Key.Type, true
	b.made[block+".late"] = late
	return nil
}

func (b *builder) sink(s *config.Sink) error {
	in := b.made[s.Input.ID()]
	n := b.node(Sink, "sink."+s.Name, in, event.Any)
	n.SinkBlock, n.Errors = s, s.Errors
	n.Key, n.Value = exprsOf(s.Key.Parts), s.Value
	for _, h := range s.Headers {
		n.Names, n.Heads = append(n.Names, h.Name), append(n.Heads, h.Expr)
	}
	return nil
}

// tap lets a scenario look at a collection. Its rows are shown whole.
func (b *builder) tap(r config.Ref) {
	n := b.node(Tap, r.ID(), b.made[r.ID()], event.Any)
	n.Errors = config.ErrorPolicy{OnError: config.Fail, MaxErrors: 1}
}

// prune forgets late collections that nothing reads: their rows go to the dead letters.
func (b *builder) prune() {
	kept := b.plan.Collections[:0]
	for _, c := range b.plan.Collections {
		if c.From.Kind == Aggregate && c != c.From.Out[0] && len(c.To) == 0 {
			c.From.Out = c.From.Out[:1]
			continue
		}
		kept = append(kept, c)
	}
	b.plan.Collections = kept
}

func exprsOf(as []config.Assign) []*expr.Expr {
	var es []*expr.Expr
	for _, a := range as {
		es = append(es, a.Expr)
	}
	return es
}

// with returns object type t with field name set to ft.
func with(t event.Type, name string, ft event.Type) event.Type {
	if t.Kind != event.Object {
		return event.Any
	}
	out := t
	out.Fields = append([]event.Field(nil), t.Fields...)
	for i := range out.Fields {
		if out.Fields[i].Name == name {
			out.Fields[i] = event.Field{Name: name, Type: ft}
			return out
		}
	}
	out.Fields = append(out.Fields, event.Field{Name: name, Type: ft})
	return out
}

func elem(t event.Type) event.Type {
	if t.Kind == event.List && t.Elem != nil {
		return *t.Elem
	}
	return event.Any
}
