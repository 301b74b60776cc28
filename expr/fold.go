package expr

import "github.com/wgate/wgate/event"

// fold evaluates what does not depend on a row. What fails is left as it is: it may stand in a branch that is never taken.
func fold(t *typed) *typed {
	constant := t.op.pure()
	for i, a := range t.args {
		t.args[i] = fold(a)
		constant = constant && t.args[i].op == tLiteral
	}
	if !constant {
		return t
	}
	b := event.Bundle{Heap: &event.Heap{}, Times: make([]event.Time, 1)}
	p := Program{root: (&binder{}).bind(t, 0)}
	lit, ok := literal(b.Heap, p.Column(&b)[0])
	if !ok {
		return t
	}
	typ := t.typ
	if unknown(typ) || typ.Kind != lit.Kind {
		typ = literalType(lit)
	}
	return &typed{op: tLiteral, node: t.node, typ: typ, lit: lit}
}

// pure reports whether a node's result depends on its arguments alone.
func (o top) pure() bool {
	switch o {
	case tField, tIndex, tCall, tCoalesce, tNot, tNeg, tArith, tCompare, tAnd, tOr, tCond, tList, tObject, tTemplate, tAs:
		return true
	}
	return false
}
