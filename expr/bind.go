package expr

import (
	"strings"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// binder makes steps of typed nodes.
type binder struct {
	slot  func(Path) int
	value event.Type
}

// bind makes the step of t for a frame that is depth fors deep. What does not depend on the variables of the inner fors
// runs in an outer frame, and its values are handed down.
func (b *binder) bind(t *typed, depth int) step {
	if t.depth < depth && t.op != tLiteral {
		return &gather{of: b.bind(t, t.depth), levels: depth - t.depth}
	}
	args := func() []step { return b.all(t.args, depth) }
	s := site{node: t.node}
	switch t.op {
	case tPath:
		return b.path(t)
	case tValue:
		return &valueStep{site: s}
	case tKey:
		return &valueStep{site: s, key: true}
	case tTime:
		return &timeStep{}
	case tHeader:
		return &headerStep{name: t.name}
	case tArrival:
		return &arrivalStep{}
	case tRecord:
		return &recordStep{site: s, field: t.name}
	case tWindow:
		return &windowStep{end: t.name == "end"}
	case tPane:
		return &paneStep{field: t.name}
	case tSlot:
		return &slotStep{slot: t.slot}
	case tVar:
		return varStep(t.slot)
	case tField:
		return b.field(t, args()[0])
	case tIndex:
		return &indexStep{site: s, elem: known(t.typ), soft: t.soft, args: args()}
	case tCall:
		return &callStep{site: s, fn: t.fn, aux: t.aux, args: args(), cols: make([][]event.Value, len(t.args))}
	case tHas:
		return &hasStep{of: args()[0]}
	case tCoalesce:
		return &coalesceStep{args: args()}
	case tAs:
		return &asStep{site: s, of: args()[0], kind: t.kind}
	}
	return b.operator(t, s, args)
}

func (b *binder) operator(t *typed, s site, args func() []step) step {
	switch t.op {
	case tNot:
		return &notStep{site: s, of: args()[0]}
	case tNeg:
		return &negStep{site: s, of: args()[0]}
	case tArith:
		a := args()
		return &arithStep{site: s, op: t.name[0], a: a[0], b: a[1]}
	case tCompare:
		return compareSteps(t, s, args())
	case tAnd, tOr:
		a := args()
		return &logicStep{site: s, or: t.op == tOr, a: a[0], b: a[1]}
	case tCond:
		a := args()
		return &condStep{site: s, cond: a[0], yes: a[1], no: a[2]}
	case tList, tObject:
		return buildSteps(t, args())
	case tTemplate:
		return &templateStep{site: s, args: args(), cols: make([][]event.Value, len(t.args))}
	case tFor:
		return b.loop(t, s)
	}
	return &literalStep{lit: t.lit}
}

func (b *binder) all(args []*typed, depth int) []step {
	steps := make([]step, len(args))
	for i, a := range args {
		steps[i] = b.bind(a, depth)
	}
	return steps
}

// path reads a column, or, where the plan has none, the text of the whole value.
func (b *binder) path(t *typed) step {
	if slot := b.slot(t.path); slot >= 0 {
		return &slotStep{slot: slot}
	}
	var s step = &valueStep{site: site{node: t.node}}
	typ := b.value
	nodes := fieldNodes(t.node, len(t.path))
	for i, name := range t.path {
		f := &typed{op: tField, node: nodes[i], name: name, dflt: fieldDefault(typ, name)}
		f.typ, _ = typ.Field(name)
		s = b.field(f, s)
		typ = f.typ
	}
	return s
}

func (b *binder) field(t *typed, of step) step {
	return &fieldStep{site: site{node: t.node}, of: of, name: t.name, elem: known(t.typ), dflt: t.dflt}
}

// fieldDefault returns the declared default of a field, nil if there is none.
func fieldDefault(t event.Type, name string) *event.Literal {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return t.Fields[i].Default
		}
	}
	return nil
}

func (b *binder) loop(t *typed, s site) step {
	l := &forStep{site: s, list: b.bind(t.args[0], t.slot), body: b.bind(t.args[1], t.slot+1), elem: known(elem(t.args[0].typ))}
	l.indexed = len(t.node.Keys) > 1
	if len(t.args) > 2 {
		l.cond = b.bind(t.args[2], t.slot+1)
	}
	return l
}

func buildSteps(t *typed, args []step) step {
	s := &buildStep{args: args, cols: make([][]event.Value, len(args)), open: '[', end: ']', kind: event.List}
	if t.op != tObject {
		return s
	}
	s.open, s.end, s.kind = '{', '}', event.Object
	for _, k := range t.node.Keys {
		s.names = append(s.names, append(jsontext.AppendString(nil, k), ':'))
	}
	return s
}

// materialize puts a literal into a heap.
func materialize(h *event.Heap, l event.Literal) event.Value {
	switch l.Kind {
	case event.String, event.List, event.Object:
		return event.HeapValue(l.Kind, h.PutString(l.Text))
	case event.Missing, event.Null:
		return event.NullValue()
	}
	return l.Value
}

// literal takes a value out of a heap.
func literal(h *event.Heap, v event.Value) (event.Literal, bool) {
	switch v.Kind {
	case event.String, event.List, event.Object:
		return event.Literal{Kind: v.Kind, Text: strings.Clone(string(v.Bytes(h)))}, true
	case event.Bytes, event.JSON, event.Error:
		return event.Literal{}, false
	case event.Missing:
		v = event.NullValue()
	}
	return event.Literal{Kind: v.Kind, Value: v}, true
}
