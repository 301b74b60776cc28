package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
)

// declareTransform reads what of a transform needs no types.
func (ld *loader) declareTransform(b *topBlock) {
	b.check(transformSchema)
	t := &Transform{Name: b.name, Pos: posOf(b.head), Errors: b.policy(ld.policy), Key: Key{Type: event.Of(event.Null)}}
	if a := b.attr("do"); a != nil {
		t.Do = b.callOf(a)
		for _, other := range []string{"explode", "where", "set", "drop", "keep", "value", "event_time"} {
			if o := b.attr(other); o != nil {
				ld.fail(o.NameRange, "Attributes exclude each other",
					"A transform with do (at %s) does nothing else. Put %q into a transform of its own, before or after.", at(a.NameRange), other)
			}
		}
	}
	var shape []string
	for _, name := range []string{"drop", "keep", "value"} {
		if a := b.attr(name); a != nil {
			shape = append(shape, name)
			if len(shape) == 2 {
				ld.fail(a.NameRange, "Attributes exclude each other", "%q is at %s already. drop, keep and value say each what the output has: use one.",
					shape[0], at(b.attr(shape[0]).NameRange))
			}
		}
	}
	t.Drop = b.texts("drop", `["card_number"]`)
	t.Keep = b.texts("keep", `["user", "amount"]`)
	ld.p.Transforms = append(ld.p.Transforms, t)
	v := ld.graph.add(Ref{Kind: "transform", Name: b.name}, b, b.input(), func(v *vertex, in flow) { b.readTransform(t, v, in) })
	v.sides = b.attr("do") != nil
}

// readTransform compiles the expressions of a transform in the order in which they run.
func (b *topBlock) readTransform(t *Transform, v *vertex, in flow) {
	t.Inputs = v.inputs
	for _, u := range b.ld.graph.nodes {
		for _, r := range u.inputs {
			if r.Kind == "transform" && r.Name == t.Name && r.Tag != "" && !slices.Contains(t.Tags, r.Tag) {
				t.Tags = append(t.Tags, r.Tag)
			}
		}
	}
	if a := b.attr("do"); a != nil {
		if in.retracts() {
			b.ld.fail(a.Expr.Range(), "Rows that are taken back",
				`aggregate.%s takes rows back (panes = "retracting"), and a function of a plugin over such rows is not available in this version. Use other panes there.`, in.agg.Name)
		}
		v.out = flow{source: in.source, windowed: in.windowed, agg: in.agg}
		return
	}
	cur := in
	for _, name := range []string{"explode", "set"} {
		if a := b.attr(name); a != nil && !b.hasFields(a, in) {
			break
		}
	}
	if a := b.attr("explode"); a != nil {
		b.readExplode(t, &cur)
	}
	if a := b.attr("where"); a != nil {
		t.Where = b.ld.condition(a.Expr, cur)
	}
	if a := b.attr("set"); a != nil {
		t.Set = b.assigns(a, cur)
		for _, s := range t.Set {
			cur.value = withField(cur.value, s.Name, s.Expr.Type())
		}
	}
	b.readShape(t, &cur)
	if a := b.attr("event_time"); a != nil {
		t.EventTime = b.ld.instantExpr(a.Expr, cur)
	}
	t.Type = cur.value
	v.out = cur
}

// hasFields reports whether a field can be added to the value, as far as is known; if not, it says so at a.
func (b *topBlock) hasFields(a *hclsyntax.Attribute, in flow) bool {
	switch in.value.Kind {
	case event.Object, event.JSON, event.Missing:
		return true
	default:
		b.ld.fail(a.NameRange, "Value without fields",
			"%s adds a field to the value, and the value is of type %s. Make it an object first, in a transform before this one: value = { text = value }.", a.Name, in.value)
		return false
	}
}

func (b *topBlock) readExplode(t *Transform, cur *flow) {
	a := b.attr("explode")
	items := b.entries(a)
	if len(items) > 1 {
		b.ld.fail(items[1].rng, "More than one list", "A transform takes one list apart. Put the second into a transform after this one.")
	}
	if len(items) == 0 {
		return
	}
	x := b.ld.compile(items[0].value, *cur)
	if x == nil {
		return
	}
	elem := event.Any
	switch typ := x.Type(); {
	case typ.Kind == event.List && typ.Elem != nil:
		elem = *typ.Elem
	case typ.Kind == event.List, typ.IsAny(), typ.Kind == event.JSON:
	default:
		b.ld.fail(items[0].value.Range(), "Not a list", "explode takes a list apart, and this is of type %s.", typ)
		return
	}
	t.Explode = &Assign{Name: items[0].name, Expr: x, Pos: posOf(items[0].rng)}
	cur.value = withField(cur.value, items[0].name, elem)
}

// readShape applies drop, keep or value to the type.
func (b *topBlock) readShape(t *Transform, cur *flow) {
	for _, name := range append(slices.Clone(t.Drop), t.Keep...) {
		b.checkFieldName(name, *cur)
	}
	switch {
	case t.Drop != nil && cur.value.Kind == event.Object:
		out := cur.value
		out.Fields = slices.DeleteFunc(slices.Clone(out.Fields), func(f event.Field) bool { return slices.Contains(t.Drop, f.Name) })
		cur.value = out
	case t.Keep != nil:
		out := event.Type{Kind: event.Object}
		for _, name := range t.Keep {
			ft, _ := cur.value.Field(name)
			ft.Optional = ft.Optional || !ft.IsAny() && cur.value.Open
			out.Fields = append(out.Fields, event.Field{Name: name, Type: ft})
		}
		cur.value, cur.declared = out, true
	case b.attr("value") != nil:
		t.Value = b.ld.compile(b.attr("value").Expr, *cur)
		if t.Value == nil {
			*cur = unknown
			return
		}
		cur.value, cur.declared = t.Value.Type(), true
	}
}

// checkFieldName reports a name in drop or keep that the value is known not to have.
func (b *topBlock) checkFieldName(name string, cur flow) {
	a := b.attr("drop")
	if a == nil {
		a = b.attr("keep")
	}
	switch {
	case cur.value.Kind == event.Object:
		var names []string
		for _, f := range cur.value.Fields {
			names = append(names, f.Name)
		}
		near := didYouMean(name, names)
		if !slices.Contains(names, name) && (!cur.value.Open || cur.declared && near != "") {
			b.ld.fail(a.Expr.Range(), "Unknown field", "The value has no field %q.%s", name, near)
		}
	case !cur.value.IsAny() && cur.value.Kind != event.JSON:
		b.ld.fail(a.Expr.Range(), "Value without fields", "The value is of type %s and has no fields.", cur.value)
	}
}
