package expr

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wgate/wgate/event"
)

// kinds is a set of kinds.
type kinds uint16

func kindsOf(ks ...event.Kind) kinds {
	var s kinds
	for _, k := range ks {
		s |= 1 << k
	}
	return s
}

func (s kinds) has(k event.Kind) bool { return s>>k&1 != 0 }

// The sets that parameters use.
var (
	texts    = kindsOf(event.String)
	ints     = kindsOf(event.Int)
	numbers  = kindsOf(event.Int, event.Decimal128, event.Float)
	lists    = kindsOf(event.List)
	objects  = kindsOf(event.Object)
	times    = kindsOf(event.Instant)
	scalars  = kindsOf(event.Bool, event.Int, event.Decimal128, event.Float, event.String, event.Bytes, event.Instant, event.Span)
	compound = kindsOf(event.List, event.Object)
	present  = scalars | compound
	anything = present | kindsOf(event.Missing, event.Null)
)

// param is a parameter of a function.
type param struct {
	name     string
	kinds    kinds
	needs    string // what it must be, for messages
	constant bool   // must be known before a row is
}

// function is one function of the language. It runs over whole columns: rows without a fault are those that ready lets
// pass.
type function struct {
	params   []param
	optional int  // how many of the last params may be left out
	variadic bool // the last param may be repeated
	result   func(args []*typed) event.Type
	// prepare, if any, makes something of the constant arguments when the expression is checked.
	prepare func(args []*typed) (any, error)
	run     func(s *callStep, f *frame)
}

// callStep calls a function.
type callStep struct {
	site
	fn   *function
	aux  any
	args []step
	cols [][]event.Value
	out  []event.Value
	work scratch
}

func (s *callStep) eval(f *frame) []event.Value {
	for i, a := range s.args {
		s.cols[i] = a.eval(f)
	}
	s.out = sized(s.out, f.n)
	s.fn.run(s, f)
	return s.out
}

func (s *callStep) param(i int) *param { return &s.fn.params[min(i, len(s.fn.params)-1)] }

// ready reports whether all arguments of a row are of kinds that the function takes; if not, the row has its error.
func (s *callStep) ready(m *machine, row int) bool {
	for i, col := range s.cols {
		if v := col[row]; !s.param(i).kinds.has(v.Kind) {
			s.out[row] = s.operand(m, i, s.node.Args[i], v, s.param(i).needs)
			return false
		}
	}
	return true
}

func (c *checker) call(n *Node) *typed {
	switch n.Name {
	case "header", "arrival":
		return c.sourceCall(n)
	case "has":
		return c.has(n)
	case "coalesce":
		return c.coalesce(n)
	}
	fn, ok := functions[n.Name]
	if !ok {
		c.all(n.Args)
		c.unknownFunction(n)
		return bad(n)
	}
	if !c.arity(n, fn) {
		c.all(n.Args)
		return bad(n)
	}
	t := &typed{op: tCall, node: n, fn: fn, args: c.all(n.Args)}
	for i, a := range t.args {
		if !c.argument(n, &fn.params[min(i, len(fn.params)-1)], a) {
			return bad(n)
		}
	}
	if fn.prepare != nil {
		aux, err := fn.prepare(t.args)
		if err != nil {
			c.problem(n, n.Name+": bad argument", err.Error())
			return bad(n)
		}
		t.aux = aux
	}
	t.typ = fn.result(t.args)
	return t
}

func (c *checker) argument(n *Node, p *param, a *typed) bool {
	switch {
	case p.constant && a.op != tLiteral:
		c.problem(a.node, n.Name+" needs a constant", "The "+p.name+" must be written out: it is prepared before the first record comes.")
		return false
	case unknown(a.typ) || p.kinds.has(a.typ.Kind):
		return true
	}
	c.problem(a.node, n.Name+" needs "+p.needs, a.node.String()+" is "+article(a.typ)+".")
	return false
}

// arity reports a wrong number of arguments.
func (c *checker) arity(n *Node, fn *function) bool {
	most := len(fn.params)
	if fn.variadic {
		most = 1 << 20
	}
	if len(n.Args) >= len(fn.params)-fn.optional && len(n.Args) <= most {
		return true
	}
	c.problem(n, "wrong number of arguments for "+n.Name, "It is called as "+fn.signature(n.Name)+"; there are "+
		strconv.Itoa(len(n.Args))+" arguments.")
	return false
}

func (fn *function) signature(name string) string {
	var b strings.Builder
	b.WriteString(name + "(")
	for i, p := range fn.params {
		if i >= len(fn.params)-fn.optional {
			b.WriteByte('[')
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.name)
		if i >= len(fn.params)-fn.optional {
			b.WriteByte(']')
		}
	}
	if fn.variadic {
		b.WriteString(", ...")
	}
	return b.String() + ")"
}

// aggregates are names that users may expect outside of compute.
var aggregates = map[string]bool{
	"count": true, "mean": true, "variance": true, "stddev": true, "any": true, "all": true, "list": true, "set": true,
	"count_distinct": true, "approx_distinct": true, "approx_percentile": true, "top": true, "histogram": true,
}

func (c *checker) unknownFunction(n *Node) {
	if aggregates[n.Name] {
		c.problem(n, n.Name+" is an aggregate function", "It folds the rows of a group and may only be used in the compute of an aggregate.")
		return
	}
	c.problem(n, "unknown function "+n.Name, "The functions are "+strings.Join(FunctionNames(), ", ")+"."+didYouMean(n.Name, FunctionNames()))
}

// FunctionNames returns the names of all functions, sorted.
func FunctionNames() []string {
	names := append(slices.Collect(maps.Keys(functions)), "header", "arrival", "has", "coalesce")
	slices.Sort(names)
	return names
}

// sourceCall checks header("x") and arrival().
func (c *checker) sourceCall(n *Node) *typed {
	if !c.scope.Source || c.scope.NoRow {
		c.problem(n, n.Name+"() is not available here", "Only in a source, and in transforms right after it, a row is one record of a topic.")
		return bad(n)
	}
	if n.Name == "arrival" {
		if len(n.Args) > 0 {
			c.problem(n, "wrong number of arguments for arrival", "It is called as arrival().")
			return bad(n)
		}
		c.expr.uses.Arrival = true
		return &typed{op: tArrival, node: n, typ: event.Of(event.Instant)}
	}
	if len(n.Args) != 1 || n.Args[0].Op != OpLiteral || n.Args[0].Lit.Kind != event.String {
		c.problem(n, "header needs a name", `It is called as header("name").`)
		return bad(n)
	}
	c.expr.uses.Headers = true
	return &typed{op: tHeader, node: n, typ: optional(event.Of(event.String)), name: n.Args[0].Lit.Text}
}

func (c *checker) has(n *Node) *typed {
	if len(n.Args) != 1 || n.Args[0].Op != OpField && n.Args[0].Op != OpIndex && n.Args[0].Op != OpVar {
		c.problem(n, "has needs a field", "It is called as has(value.x): true unless the field is missing; a null is there.")
		return bad(n)
	}
	a := c.check(n.Args[0])
	a.soft = true
	return &typed{op: tHas, node: n, typ: event.Of(event.Bool), args: []*typed{a}}
}

func (c *checker) coalesce(n *Node) *typed {
	if len(n.Args) == 0 {
		c.problem(n, "wrong number of arguments for coalesce", "It is called as coalesce(value, ...) and gives the first that is not null.")
		return bad(n)
	}
	t := &typed{op: tCoalesce, node: n, args: c.all(n.Args)}
	typ, same := t.args[0].typ, true
	nullable := typ.Optional || typ.Kind == event.Null
	for _, a := range t.args[1:] {
		if same {
			typ, same = unify(typ, a.typ)
		}
		nullable = nullable && (a.typ.Optional || a.typ.Kind == event.Null || unknown(a.typ))
	}
	if !same {
		typ = event.Any
	}
	typ.Optional = nullable && !typ.IsAny()
	t.typ = typ
	return t
}

// The results of functions.
func gives(k event.Kind) func([]*typed) event.Type {
	return func([]*typed) event.Type { return event.Of(k) }
}

// same is the type of the first argument.
func same(args []*typed) event.Type {
	t := args[0].typ
	t.Optional = false
	return t
}
