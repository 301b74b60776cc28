package expr

import "github.com/wgate/wgate/event"

// Env is what a program cannot read from a bundle.
type Env struct {
	// Topic returns the name of a topic by the indexes in an event.Origin. nil: record.topic is an error of the row.
	Topic func(source, topic uint16) string
	// Arrival is the result of arrival(): the processing time at which the bundle came.
	Arrival event.Time
}

// Program is an expression bound to the columns of a plan. It keeps scratch columns from one bundle to the next, so it is
// used by one goroutine at a time; Clone makes another one.
type Program struct {
	expr  *Expr
	slot  func(Path) int
	root  step
	m     machine
	frame frame
}

// machine is what all steps of a program share while a bundle is evaluated.
type machine struct {
	b     *event.Bundle
	h     *event.Heap
	env   Env
	epoch uint64 // counts the bundles
	runs  uint64 // counts the frames
}

// frame is a set of rows that steps run over: the rows of the bundle, or, inside of a for, the elements of the lists of
// some of them.
type frame struct {
	m      *machine
	n      int
	run    uint64
	parent *frame
	rows   []int32          // inside of a for: the row in parent that each element belongs to
	vars   [2][]event.Value // inside of a for: the elements, and their indexes or names
}

// step evaluates one node over all rows of a frame. The column that it returns has a value for each row; it belongs to
// the step or the bundle and is good until the step runs again.
type step interface {
	eval(f *frame) []event.Value
}

// Bind makes a program of e. slot says which column of Bundle.Fields holds a path of Paths; -1 means that none does: then
// the field is looked for in Bundle.Values. Results of aggregate functions (OpSlot) are read from Bundle.Fields[Slot].
func (e *Expr) Bind(slot func(Path) int) *Program {
	b := binder{slot: slot, value: e.scope.Value}
	return &Program{expr: e, slot: slot, root: b.bind(e.root, 0)}
}

// SetEnv sets what the following calls of Eval read besides the bundle.
func (p *Program) SetEnv(env Env) { p.m.env = env }

// Expr returns the expression.
func (p *Program) Expr() *Expr { return p.expr }

// Clone returns a program that does the same, for another goroutine.
func (p *Program) Clone() *Program {
	c := p.expr.Bind(p.slot)
	c.m.env = p.m.env
	return c
}

// Eval appends the result for every row of b to out. Texts and compound results lie in b.Heap. A row on which the
// expression fails gets a value of kind Error.
func (p *Program) Eval(b *event.Bundle, out []event.Value) []event.Value {
	return append(out, p.Column(b)...)
}

// Column is Eval without the copy: the returned column belongs to the program or the bundle. It must not be changed and
// is good until the next call or until b changes.
func (p *Program) Column(b *event.Bundle) []event.Value {
	p.m.b, p.m.h = b, b.Heap
	p.m.epoch++
	p.m.runs++
	p.frame.m, p.frame.n, p.frame.run = &p.m, b.Len(), p.m.runs
	return p.root.eval(&p.frame)
}

// sized returns col with n elements, which have no defined values.
func sized(col []event.Value, n int) []event.Value {
	if cap(col) < n {
		return make([]event.Value, n, max(n, 64))
	}
	return col[:n]
}
