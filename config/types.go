package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// typeWords are the types that need no argument.
var typeWords = map[string]event.Type{
	"string": event.Of(event.String), "int": event.Of(event.Int), "decimal": event.Of(event.Decimal128), "float": event.Of(event.Float),
	"bool": event.Of(event.Bool), "bytes": event.Of(event.Bytes), "time": event.Of(event.Instant), "duration": event.Of(event.Span),
	"any": event.Any,
}

// typeNames are all words that a type can start with, for messages and suggestions.
var typeNames = []string{"string", "int", "decimal", "float", "bool", "bytes", "time", "duration", "any", "list", "object", "optional"}

// readSchema reads a source's schema { } and sets the type of its value.
func (b body) readSchema(s *Source) {
	switch s.Decode {
	case "text":
		s.Type = event.Of(event.String)
	case "bytes":
		s.Type = event.Of(event.Bytes)
	default:
		s.Type = event.Any
	}
	sc, ok := b.block("schema")
	if !ok {
		return
	}
	if !s.Type.IsAny() {
		b.ld.fail(sc.head, "Schema without fields", "decode = %q gives one %s, which has no fields. Remove the schema, or decode json.", s.Decode, s.Type)
		return
	}
	for _, in := range sc.hb.Blocks {
		b.ld.fail(in.TypeRange, "Unknown block", "A schema has attributes only: write %s = { ... }.", in.Type)
	}
	if len(sc.hb.Attributes) > maxNames {
		b.ld.fail(sc.head, "Too many names", "A schema may have %d fields; this has %d.", maxNames, len(sc.hb.Attributes))
		return
	}
	t := event.Type{Kind: event.Object, Open: true} // what is not declared is known by use
	for _, a := range sorted(sc.hb.Attributes) {
		if f, ok := b.ld.field(a.Name, a.Expr, 0); ok {
			t.Fields = append(t.Fields, f)
		}
	}
	s.Type, s.Schema = t, &t
}

// field reads NAME = TYPE, where TYPE may be optional(TYPE) or optional(TYPE, DEFAULT).
func (ld *loader) field(name string, e hclsyntax.Expression, depth int) (event.Field, bool) {
	f := event.Field{Name: name}
	call, ok := e.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "optional" {
		t, ok := ld.typeOf(e, depth)
		f.Type = t
		return f, ok
	}
	if len(call.Args) < 1 || len(call.Args) > 2 {
		ld.fail(e.Range(), "Invalid type", "Write optional(TYPE) or optional(TYPE, DEFAULT).")
		return f, false
	}
	t, ok := ld.typeOf(call.Args[0], depth+1)
	if !ok {
		return f, false
	}
	f.Type = t
	f.Type.Optional = true
	if len(call.Args) == 1 {
		return f, true
	}
	lit, ok := ld.constantOf(call.Args[1], "A default")
	if !ok {
		return f, false
	}
	lit, ok = literalAs(lit, t)
	if !ok {
		ld.fail(call.Args[1].Range(), "Invalid default", "The field is of type %s, and this is not.", t)
		return f, false
	}
	f.Default = &lit
	f.Type.Optional = lit.Kind == event.Null // with a default the field is always there
	return f, true
}

// typeOf reads a type expression.
func (ld *loader) typeOf(e hclsyntax.Expression, depth int) (event.Type, bool) {
	switch x := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if word := hcl.ExprAsKeyword(x); word != "" {
			return ld.typeWord(word, e.Range())
		}
	case *hclsyntax.TemplateExpr:
		if x.IsStringLiteral() {
			ld.fail(e.Range(), "Invalid type", "A type is written without quotes: int, list(string).")
			return event.Any, false
		}
	case *hclsyntax.ObjectConsExpr:
		return ld.objectType(x, depth)
	case *hclsyntax.FunctionCallExpr:
		return ld.typeCall(x, depth)
	}
	ld.fail(e.Range(), "Invalid type", "A type is string, int, decimal, float, bool, bytes, time, duration, list(TYPE) or { name = TYPE }.")
	return event.Any, false
}

func (ld *loader) typeWord(word string, rng hcl.Range) (event.Type, bool) {
	if t, ok := typeWords[word]; ok {
		return t, true
	}
	switch word {
	case "list":
		ld.fail(rng, "Invalid type", "Say of what the list is: list(string), list({ sku = string }), list(any).")
	case "object":
		return event.Type{Kind: event.Object, Open: true}, true
	case "optional":
		ld.fail(rng, "Invalid type", "Write optional(TYPE) or optional(TYPE, DEFAULT).")
	default:
		ld.fail(rng, "Invalid type", "There is no type %q.%s", word, didYouMean(word, typeNames))
	}
	return event.Any, false
}

func (ld *loader) typeCall(x *hclsyntax.FunctionCallExpr, depth int) (event.Type, bool) {
	if len(x.Args) != 1 || x.ExpandFinal {
		ld.fail(x.Range(), "Invalid type", "%s takes one argument here.", x.Name)
		return event.Any, false
	}
	switch x.Name {
	case "list":
		t, ok := ld.typeOf(x.Args[0], depth+1)
		return event.Type{Kind: event.List, Elem: &t}, ok
	case "object":
		if o, ok := x.Args[0].(*hclsyntax.ObjectConsExpr); ok {
			return ld.objectType(o, depth)
		}
		ld.fail(x.Args[0].Range(), "Invalid type", "Write object({ name = TYPE }).")
		return event.Any, false
	case "optional":
		ld.fail(x.Range(), "Invalid type", "optional(...) stands for a whole field: name = optional(TYPE).")
		return event.Any, false
	}
	hint := didYouMean(x.Name, typeNames)
	if slices.Contains(typeNames, x.Name) {
		hint = " Write it without parentheses."
	}
	ld.fail(x.NameRange, "Invalid type", "There is no type %s(...).%s", x.Name, hint)
	return event.Any, false
}

func (ld *loader) objectType(x *hclsyntax.ObjectConsExpr, depth int) (event.Type, bool) {
	t := event.Type{Kind: event.Object, Open: true}
	all := true
	for _, it := range ld.items(x) {
		f, ok := ld.field(it.name, it.value, depth+1)
		t.Fields = append(t.Fields, f)
		all = all && ok
	}
	return t, all
}

// literalAs converts a default to the type of its field; an int may stand for a decimal or float, null for what is optional.
func literalAs(l event.Literal, t event.Type) (event.Literal, bool) {
	switch {
	case t.IsAny() || l.Kind == t.Kind || l.Kind == event.Null:
		return l, true
	case t.Kind == event.Decimal128 && l.Kind == event.Int:
		return renumber(event.Decimal128, l)
	case t.Kind == event.Float && (l.Kind == event.Int || l.Kind == event.Decimal128):
		return renumber(event.Float, l)
	case t.Kind == event.Span && l.Kind == event.String:
		d, err := event.ParseDuration(l.Text)
		return event.Literal{Kind: event.Span, Value: event.DurationValue(d)}, err == nil
	}
	return l, false
}

// renumber writes a number out and reads it again as another kind.
func renumber(k event.Kind, l event.Literal) (event.Literal, bool) {
	n := expr.Node{Op: expr.OpLiteral, Lit: l}
	if k == event.Decimal128 {
		d, ok := event.ParseDecimal(n.String())
		return event.Literal{Kind: k, Value: event.DecimalValue(d)}, ok
	}
	lit, ok := number(n.String() + "e0")
	return lit, ok
}
