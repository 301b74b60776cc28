package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// graph holds the collections of a pipeline and what each is made of.
type graph struct {
	nodes []*vertex // in written order
	order []*vertex // every one after its inputs
}

// vertex is a block that makes a collection, or a sink, which makes none.
type vertex struct {
	ref    Ref
	b      *topBlock
	inputs []Ref // as written; those that do not exist are taken out by resolve
	sides  bool  // has side outputs: a transform with do
	mark   mark
	out    flow
	late   flow // of an aggregate
	read   func(v *vertex, in flow)
}

type mark uint8

const (
	unseen mark = iota
	entered
	done
)

func (g *graph) add(ref Ref, b *topBlock, inputs []Ref, read func(v *vertex, in flow)) *vertex {
	ref.Pos = posOf(b.head)
	v := &vertex{ref: ref, b: b, inputs: inputs, read: read}
	g.nodes = append(g.nodes, v)
	return v
}

// find returns the vertex that makes a collection, whatever its tag.
func (g *graph) find(r Ref) *vertex {
	for _, v := range g.nodes {
		if v.ref.Kind == r.Kind && v.ref.Name == r.Name {
			return v
		}
	}
	return nil
}

// collections are the kinds of blocks that make one.
var collections = []string{"source", "transform", "aggregate"}

// input reads the attribute input of a block, which must be there.
func (b *topBlock) input() []Ref {
	a := b.attr("input")
	if a == nil {
		if b.attr("inputs") == nil {
			b.required("input", "source.NAME")
		}
		return nil
	}
	if r, ok := b.ld.refOf(a.Expr); ok {
		return []Ref{r}
	}
	return nil
}

// refOf reads a reference to a collection. Whether it exists is seen by resolve.
func (ld *loader) refOf(e hclsyntax.Expression) (Ref, bool) {
	const form = "Write source.NAME, transform.NAME or aggregate.NAME."
	steps := dotted(e)
	if len(steps) == 0 {
		hint := ""
		if t, ok := e.(*hclsyntax.TemplateExpr); ok && t.IsStringLiteral() {
			hint = " A reference has no quotes."
		}
		ld.fail(e.Range(), "Invalid reference", "%s%s", form, hint)
		return Ref{}, false
	}
	kind := steps[0]
	switch {
	case slices.Contains(collections, kind) && (len(steps) == 2 || len(steps) == 3):
		r := Ref{Kind: kind, Name: steps[1], Pos: posOf(e.Range())}
		if len(steps) == 3 {
			r.Tag = steps[2]
		}
		return r, true
	case slices.Contains(collections, kind):
		ld.fail(e.Range(), "Invalid reference", "%s", form)
	case kind == "sink":
		ld.fail(e.Range(), "Invalid reference", "A sink has no output to read. Read what the sink reads.")
	case kind == "plugin":
		ld.fail(e.Range(), "Invalid reference", "A plugin is not a collection: a transform with do = plugin.NAME.FUNCTION makes one of it.")
	case slices.Contains(laterKinds, kind):
		ld.later(e.Range(), fmt.Sprintf("A block of kind %q", kind))
	default:
		ld.fail(e.Range(), "Invalid reference", "There are no collections of kind %q.%s %s", kind, didYouMean(kind, collections), form)
	}
	return Ref{}, false
}

// resolve checks that every reference leads somewhere, and puts the vertices in an order in which inputs come first.
func (ld *loader) resolve() {
	for _, v := range ld.graph.nodes {
		v.inputs = slices.DeleteFunc(v.inputs, func(r Ref) bool { return !ld.exists(r) })
	}
	var path []*vertex
	for _, v := range ld.graph.nodes {
		ld.visit(v, path)
	}
}

func (ld *loader) exists(r Ref) bool {
	rng := rangeOf(r.Pos)
	v := ld.graph.find(r)
	if v == nil && len(ld.diags) > 2*maxDiags {
		return false // what is found now is not shown
	}
	if v == nil {
		var ids []string
		for _, n := range ld.graph.nodes {
			if n.ref.Kind != "sink" {
				ids = append(ids, n.ref.ID())
			}
		}
		hint := didYouMean(r.Kind+"."+r.Name, ids)
		if hint == "" && len(ids) > 0 {
			hint = " There are: " + enumerate(ids) + "."
		}
		ld.fail(rng, "Unknown reference", "There is no %s %q.%s", r.Kind, r.Name, hint)
		return false
	}
	switch {
	case r.Tag == "":
	case r.Kind == "source":
		ld.fail(rng, "Unknown reference", "A source has one output: source.%s.", r.Name)
		return false
	case r.Kind == "aggregate" && r.Tag != "late":
		ld.fail(rng, "Unknown reference", "An aggregate has two outputs: aggregate.%s and aggregate.%s.late.", r.Name, r.Name)
		return false
	case r.Kind == "transform" && !v.sides:
		ld.fail(rng, "Unknown reference", "transform.%s has no side outputs: only a transform with do has some.", r.Name)
		return false
	}
	return true
}

// visit appends v to the order after all that it needs. path are the vertices that led here; one of them again is a cycle.
func (ld *loader) visit(v *vertex, path []*vertex) {
	switch v.mark {
	case done:
		return
	case entered:
		i := slices.Index(path, v)
		names := []string{v.ref.ID()} // in the direction of the records, which is against that of the references
		for j := len(path) - 1; j >= i; j-- {
			names = append(names, path[j].ref.ID())
		}
		var rng hcl.Range
		for _, in := range path[len(path)-1].inputs {
			if in.Kind == v.ref.Kind && in.Name == v.ref.Name {
				rng = rangeOf(in.Pos)
			}
		}
		ld.fail(rng, "Cycle", "Records would go round for ever: %s. Let one of them read something else.", strings.Join(names, " -> "))
		return
	case unseen:
	}
	v.mark = entered
	path = append(path, v)
	for _, in := range v.inputs {
		ld.visit(ld.graph.find(in), path)
	}
	v.mark = done
	ld.graph.order = append(ld.graph.order, v)
}
