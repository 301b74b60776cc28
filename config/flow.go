package config

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// flow is what is known of the rows of a collection.
type flow struct {
	value    event.Type
	key      event.Type
	source   bool       // rows still know the record that they came from
	windowed bool       // rows have a window and a pane
	declared bool       // a schema says what the fields are called
	agg      *Aggregate // whose panes the rows are, through any transforms; nil if of none
}

// unknown is the flow of a collection about which a mistake was reported: nothing more is found wrong with its users.
var unknown = flow{source: true, windowed: true}

// retracts reports whether rows may be taken back.
func (f flow) retracts() bool { return f.agg != nil && f.agg.Panes == "retracting" }

func (f flow) scope() expr.Scope {
	return expr.Scope{Value: f.value, Key: f.key, Source: f.source, Windowed: f.windowed}
}

// flow reads what needs the types of inputs, inputs first.
func (ld *loader) flow() {
	for _, v := range ld.graph.order {
		in := unknown
		if len(v.inputs) > 0 {
			in = ld.flowOf(v.inputs[0])
		}
		v.read(v, in)
	}
}

func (ld *loader) flowOf(r Ref) flow {
	v := ld.graph.find(r)
	switch {
	case v.mark != done:
		return unknown
	case r.Kind == "aggregate" && r.Tag == "late":
		return v.late
	}
	return v.out
}

// compile checks an expression of a block in the scope of its input. It returns nil after a mistake.
func (ld *loader) compile(e hclsyntax.Expression, in flow) *expr.Expr {
	c := converter{ld: ld}
	n := c.convert(e)
	if c.failed {
		return nil
	}
	return ld.checked(n, in.scope(), in.declared)
}

// checked is compile for an expression that was converted already.
func (ld *loader) checked(n *expr.Node, sc expr.Scope, declared bool) *expr.Expr {
	if len(ld.diags) > 2*maxDiags {
		return nil // what is found now is not shown
	}
	x, ps := expr.Check(n, sc)
	ld.problems(ps)
	if x != nil && declared && !ld.knownFields(x, sc.Value) {
		return nil
	}
	return x
}

// knownFields reports fields that the schema does not declare and that are called almost as one that it does. Other fields
// beside the declared ones are known by use.
func (ld *loader) knownFields(x *expr.Expr, value event.Type) bool {
	for _, p := range x.Paths() {
		t := value
		for i, name := range p {
			if near := almost(name, t); near != "" {
				ld.fail(rangeOf(x.Node().Pos), "Unknown field", "The schema has no field %q in %s. Did you mean %q? If not, declare %q in the schema, too.",
					name, p[:i], near, name)
				return false
			}
			t, _ = t.Field(name)
		}
	}
	return true
}

// almost returns the field of t that name is a misspelling of, as it seems.
func almost(name string, t event.Type) string {
	var names []string
	for _, f := range t.Fields {
		if f.Name == name {
			return ""
		}
		names = append(names, f.Name)
	}
	if len(name) <= 3 || !t.Open {
		return ""
	}
	return expr.Suggest(name, names)
}

// condition compiles an expression that must be true or false.
func (ld *loader) condition(e hclsyntax.Expression, in flow) *expr.Expr {
	return ld.as(ld.compile(e, in), event.Bool)
}

func (ld *loader) as(x *expr.Expr, k event.Kind) *expr.Expr {
	if x == nil {
		return nil
	}
	y, ps := x.As(k)
	ld.problems(ps)
	return y
}

// instantExpr compiles an event_time: a time, a number, or a text of RFC 3339.
func (ld *loader) instantExpr(e hclsyntax.Expression, in flow) *expr.Expr {
	x := ld.compile(e, in)
	if x == nil {
		return nil
	}
	switch x.Type().Kind {
	case event.Missing, event.JSON, event.Instant, event.Int, event.Decimal128, event.Float, event.String:
		return x
	default:
	}
	ld.fail(e.Range(), "Invalid event time", "An event time is a time, a number or a text such as \"2026-01-31T12:00:00Z\"; this is of type %s.", x.Type())
	return nil
}

// entries reads an attribute that must be an object written out: { name = EXPR, ... }.
func (b body) entries(a *hclsyntax.Attribute) []item {
	o, ok := a.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		b.wrong(a, "Write an object: %s = { name = EXPR }.", a.Name)
		return nil
	}
	items := b.ld.items(o)
	if len(items) == 0 && len(o.Items) == 0 {
		b.wrong(a, "The object is empty. Leave %q out, or name something in it.", a.Name)
	}
	return items
}

// assigns compiles { name = EXPR, ... }. What is wrong is left out.
func (b body) assigns(a *hclsyntax.Attribute, in flow) []Assign {
	var out []Assign
	for _, it := range b.entries(a) {
		if x := b.ld.compile(it.value, in); x != nil {
			out = append(out, Assign{Name: it.name, Expr: x, Pos: posOf(it.rng)})
		}
	}
	return out
}

// readKey reads key and null_key.
func (b body) readKey(in flow) Key {
	k := Key{Null: b.choice("null_key", "keep", []string{"keep", "skip", "dead_letter"}), Type: event.Of(event.Null)}
	a := b.attr("key")
	if a == nil {
		return k
	}
	switch e := a.Expr.(type) {
	case *hclsyntax.TupleConsExpr:
		k.Form, k.Type = ListKey, event.Of(event.List)
		for _, part := range e.Exprs {
			if x := b.ld.compile(part, in); x != nil {
				k.Parts = append(k.Parts, Assign{Expr: x, Pos: posOf(part.Range())})
			}
		}
		if len(e.Exprs) == 0 {
			b.wrong(a, "The list is empty. Leave %q out for one group of everything.", "key")
		}
	case *hclsyntax.ObjectConsExpr:
		k.Form, k.Parts = NamedKey, b.assigns(a, in)
		k.Type = objectOf(k.Parts)
	default:
		k.Form = PlainKey
		if x := b.ld.compile(a.Expr, in); x != nil {
			k.Parts = []Assign{{Expr: x, Pos: posOf(a.Expr.Range())}}
			k.Type = x.Type()
		} else {
			k.Type = event.Any
		}
	}
	return k
}

// objectOf is the type of an object with these fields and no others.
func objectOf(parts []Assign) event.Type {
	t := event.Type{Kind: event.Object}
	for _, p := range parts {
		t.Fields = append(t.Fields, event.Field{Name: p.Name, Type: p.Expr.Type()})
	}
	return t
}

// withField returns t with a field added or replaced. What t is not an object of becomes an object with other fields, too.
func withField(t event.Type, name string, ft event.Type) event.Type {
	out := event.Type{Kind: event.Object, Open: t.Open || t.Kind != event.Object}
	found := false
	if t.Kind == event.Object {
		for _, f := range t.Fields {
			if f.Name == name {
				f.Type, f.Default, found = ft, nil, true
			}
			out.Fields = append(out.Fields, f)
		}
	}
	if !found {
		out.Fields = append(out.Fields, event.Field{Name: name, Type: ft})
	}
	return out
}
