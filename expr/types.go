package expr

import (
	"strings"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// unknown reports whether values of type t may be of any kind.
func unknown(t event.Type) bool { return t.IsAny() || t.Kind == event.JSON }

// maybe reports whether a value of type t may be a number, as far as is known.
func maybeNumber(t event.Type) bool { return unknown(t) || jsontext.IsNumber(t.Kind) }

// fits reports whether a value of type t may be used where kind k is wanted.
func fits(t event.Type, k event.Kind) bool {
	switch {
	case unknown(t) || t.Kind == k:
		return true
	case k == event.Float:
		return t.Kind == event.Int || t.Kind == event.Decimal128
	case k == event.Decimal128:
		return t.Kind == event.Int
	}
	return false
}

// unify returns the type of a value that is of type a or b. same is false when it is neither and the value may be of any
// kind.
func unify(a, b event.Type) (t event.Type, same bool) {
	optional := a.Optional || b.Optional
	switch {
	case a.Kind == event.Null:
		t, optional = b, true
	case b.Kind == event.Null:
		t, optional = a, true
	case unknown(a) || unknown(b):
		return event.Any, false
	case a.Kind != b.Kind:
		return event.Any, false
	case a.Kind == event.List:
		t = event.Of(event.List)
		if a.Elem != nil && b.Elem != nil {
			if e, ok := unify(*a.Elem, *b.Elem); ok {
				t.Elem = &e
			}
		}
	case a.Kind == event.Object && !sameFields(a, b):
		t = event.Type{Kind: event.Object, Open: true}
	default:
		t = a
	}
	t.Optional = optional && !t.IsAny()
	return t, true
}

func sameFields(a, b event.Type) bool {
	a.Optional, b.Optional = false, false
	return a.String() == b.String() && a.Open == b.Open
}

// unifyAll returns the element type of a list whose elements are args, nil if it is not known.
func unifyAll(args []*typed) *event.Type {
	if len(args) == 0 {
		return nil
	}
	t := args[0].typ
	for _, a := range args[1:] {
		u, ok := unify(t, a.typ)
		if !ok {
			return nil
		}
		t = u
	}
	if unknown(t) {
		return nil
	}
	return &t
}

// elem returns the type of the elements of a list.
func elem(t event.Type) event.Type {
	if t.Kind == event.List && t.Elem != nil {
		return *t.Elem
	}
	return event.Any
}

func listOf(e event.Type) event.Type {
	if unknown(e) {
		return event.Of(event.List)
	}
	return event.Type{Kind: event.List, Elem: &e}
}

// optional returns t as a type whose value may be null.
func optional(t event.Type) event.Type {
	if !t.IsAny() {
		t.Optional = true
	}
	return t
}

// article writes a type for a message: "an int", "a list(string)", "null".
func article(t event.Type) string {
	switch {
	case t.Kind == event.Null:
		return "null"
	case unknown(t):
		return "a value of any type"
	}
	t.Optional = false
	return withArticle(t.String())
}

func kindArticle(k event.Kind) string {
	if k == event.Null || k == event.Missing {
		return k.String()
	}
	return withArticle(k.String())
}

func withArticle(s string) string {
	if strings.HasPrefix(s, "{") {
		return "an object " + s
	}
	if strings.ContainsRune("aeiou", rune(s[0])) {
		return "an " + s
	}
	return "a " + s
}
