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
	expr *Expr
	slot func(Path) int
	env  Env
}

// Bind makes a program of e. slot says which column of Bundle.Fields holds a path of Paths; -1 means that none does: then
// the field is looked for in Bundle.Values. Results of aggregate functions (OpSlot) are read from Bundle.Fields[Slot].
func (e *Expr) Bind(slot func(Path) int) *Program { return &Program{expr: e, slot: slot} }

// SetEnv sets what the following calls of Eval read besides the bundle.
func (p *Program) SetEnv(env Env) { p.env = env }

// Expr returns the expression.
func (p *Program) Expr() *Expr { return p.expr }

// Clone returns a program that does the same, for another goroutine.
func (p *Program) Clone() *Program { return p.expr.Bind(p.slot) }

// Eval appends the result for every row of b to out. Texts and compound results lie in b.Heap. A row on which the
// expression fails gets a value of kind Error.
func (p *Program) Eval(b *event.Bundle, out []event.Value) []event.Value {
	return append(out, p.Column(b)...)
}

// Column is Eval without the copy: the returned column belongs to the program or the bundle. It must not be changed and
// is good until the next call or until b changes.
func (p *Program) Column(b *event.Bundle) []event.Value { return make([]event.Value, b.Len()) }

// ErrorText returns the code and text of a value of kind Error. Codes are stable: not_json, missing_field, wrong_type,
// overflow, out_of_range, division_by_zero, bad_timestamp, bad_argument, not_available.
func ErrorText(h *event.Heap, v event.Value) (code, text string) { return "", string(v.Bytes(h)) }
