package event

import "strings"

// Type is what is known of a value before the first record: its kind and, for compound values, the types inside. The zero
// Type knows nothing (Any).
type Type struct {
	Kind     Kind // Missing means any kind
	Optional bool // the value may be null or missing
	Elem     *Type
	Fields   []Field // of an Object; nil with Open set means that nothing is known of its fields
	Open     bool    // an Object may have fields that are not listed; they are of any type
}

// Field is one named part of an object type.
type Field struct {
	Name    string
	Type    Type
	Default *Literal // of optional(type, default); nil if there is none
}

// Literal is a constant of the pipeline language, outside of any heap.
type Literal struct {
	Kind  Kind   // Null, Bool, Int, Decimal128, Float, String, Instant, Span, List or Object
	Value Value  // of the kinds that need no heap
	Text  string // String: the text; List and Object: JSON text
}

// Any is the type of which nothing is known.
var Any = Type{}

// Of returns the plain type of a kind.
func Of(k Kind) Type { return Type{Kind: k} }

// IsAny reports whether nothing is known of t.
func (t Type) IsAny() bool { return t.Kind == Missing }

// Field returns the type of field name of an object type. ok is false when the object is closed and has no such field.
func (t Type) Field(name string) (ft Type, ok bool) {
	if t.IsAny() || t.Kind == JSON {
		return Any, true
	}
	if t.Kind != Object {
		return Any, false
	}
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return t.Fields[i].Type, true
		}
	}
	return Any, t.Open
}

// String writes t as the pipeline language does: "int", "list(string)", "{ a = int, b = optional(string) }", "any".
func (t Type) String() string {
	s := t.bare()
	if t.Optional {
		return "optional(" + s + ")"
	}
	return s
}

func (t Type) bare() string {
	switch {
	case t.IsAny():
		return "any"
	case t.Kind == List && t.Elem != nil:
		return "list(" + t.Elem.String() + ")"
	case t.Kind == Object && len(t.Fields) > 0:
		var b strings.Builder
		b.WriteString("{ ")
		for i, f := range t.Fields {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Name + " = " + f.Type.String())
		}
		b.WriteString(" }")
		return b.String()
	}
	return t.Kind.String()
}
