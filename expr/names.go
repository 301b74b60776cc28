package expr

import (
	"maps"
	"slices"
	"strings"

	"github.com/wgate/wgate/event"
)

// roots are the names that expressions start from, with their fields where they are no values themselves.
var roots = map[string][]string{
	"value": nil, "key": nil,
	"event":  {"time"},
	"record": {"topic", "partition", "offset", "timestamp"},
	"window": {"start", "end"},
	"pane":   {"index", "timing", "first", "last"},
}

func (c *checker) variable(n *Node) *typed {
	for i := len(c.fors) - 1; i >= 0; i-- {
		if b := c.fors[i]; b.name == n.Name {
			return &typed{op: tVar, node: n, typ: b.typ, slot: b.slot, depth: b.depth}
		}
	}
	fields, ok := roots[n.Name]
	switch {
	case !ok:
		c.unknownName(n)
	case c.missingRoot(n, n.Name):
	case n.Name == "value":
		c.expr.uses.Value = true
		return &typed{op: tValue, node: n, typ: c.scope.Value}
	case n.Name == "key":
		c.expr.uses.Key = true
		return &typed{op: tKey, node: n, typ: c.scope.Key}
	default:
		c.problem(n, n.Name+" is not a value", "Use one of its fields: "+n.Name+"."+strings.Join(fields, ", "+n.Name+".")+".")
	}
	return bad(n)
}

func (c *checker) unknownName(n *Node) {
	names := slices.Collect(maps.Keys(roots))
	for _, b := range c.fors {
		names = append(names, b.name)
	}
	slices.Sort(names)
	if n.Name == "left" || n.Name == "right" {
		c.problem(n, n.Name+" is not available in this version", "It belongs to joins, which this version does not have.")
		return
	}
	hint := didYouMean(n.Name, names)
	if hint == "" {
		hint = " A field of the record is written value." + n.Name + "."
	}
	c.problem(n, "unknown name "+n.Name, "Expressions know "+strings.Join(names, ", ")+"."+hint)
}

// missingRoot reports a root that the scope does not have.
func (c *checker) missingRoot(n *Node, root string) bool {
	why := ""
	switch {
	case c.scope.NoRow:
		why = "This attribute must be constant: it cannot depend on a record."
	case root == "value" && c.scope.NoValue:
		why = "A group has no value of its own: use value inside an aggregate function, such as sum(value.x) or last(value.x)."
	case root == "record" && !c.scope.Source:
		why = "Only in a source, and in transforms right after it, a row is one record of a topic."
	case (root == "window" || root == "pane") && !c.scope.Windowed:
		why = "A row has a window and a pane only after an aggregate."
	default:
		return false
	}
	c.problem(n, root+" is not available here", why)
	return true
}

// field checks a chain of fields. Fields of value make one path.
func (c *checker) field(n *Node) *typed {
	root, names := chain(n)
	if root.Op == OpVar && !c.bound(root.Name) {
		switch root.Name {
		case "event", "record", "window", "pane":
			return c.rootField(n, root, names)
		case "value":
			return c.path(n, root, names)
		}
	}
	of := c.check(n.Args[0])
	return c.fieldOf(n, of)
}

// fieldOf gives the field n.Name of a value that is not simply a field of value.
func (c *checker) fieldOf(n *Node, of *typed) *typed {
	typ, ok := c.fieldType(n, of.typ, nil)
	if !ok {
		return bad(n)
	}
	return &typed{op: tField, node: n, typ: typ, name: n.Name, dflt: fieldDefault(of.typ, n.Name), args: []*typed{of}}
}

// chain splits a.b.c into a and [b c].
func chain(n *Node) (root *Node, names []string) {
	for root = n; root.Op == OpField; root = root.Args[0] {
		names = append(names, root.Name)
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return root, names
}

func (c *checker) bound(name string) bool {
	for _, b := range c.fors {
		if b.name == name {
			return true
		}
	}
	return false
}

func (c *checker) path(n, root *Node, names []string) *typed {
	if c.missingRoot(root, "value") {
		return bad(n)
	}
	t := c.scope.Value
	optional := false
	for i, f := range fieldNodes(n, len(names)) {
		ft, ok := c.fieldType(f, t, names[i+1:])
		if !ok || !declares(t, f.Name) && c.dashed(f, t, names[i+1:]) {
			return bad(n)
		}
		optional = optional || t.Optional
		t = ft
	}
	t.Optional = (t.Optional || optional) && !t.IsAny()
	p := Path(names)
	c.addPath(p)
	return &typed{op: tPath, node: n, typ: t, path: p}
}

// fieldNodes returns the nodes of a chain from its root on.
func fieldNodes(n *Node, count int) []*Node {
	nodes := make([]*Node, count)
	for i := count - 1; i >= 0; i-- {
		nodes[i] = n
		n = n.Args[0]
	}
	return nodes
}

func (c *checker) addPath(p Path) {
	for _, q := range c.expr.paths {
		if q.Equal(p) {
			return
		}
	}
	c.expr.paths = append(c.expr.paths, p)
}

// fieldType returns the type of field n.Name of a value of type t, or reports why there is none. rest are the names that
// follow it.
func (c *checker) fieldType(n *Node, t event.Type, rest []string) (event.Type, bool) {
	if ft, ok := t.Field(n.Name); ok {
		return ft, true
	}
	of := n.Args[0].String()
	if t.Kind != event.Object {
		detail := of + " is " + article(t) + "; only an object has fields."
		if t.Kind == event.List {
			detail = of + " is a list: take one element, such as " + of + "[0]." + n.Name + ", or all, [for x in " + of + " : x." + n.Name + "]."
		}
		c.problem(n, "no field "+n.Name, detail)
		return event.Any, false
	}
	names := make([]string, len(t.Fields))
	for i, f := range t.Fields {
		names[i] = f.Name
	}
	if c.dashed(n, t, rest) {
		return event.Any, false
	}
	detail := of + " has the fields " + strings.Join(names, ", ") + "." + didYouMean(n.Name, names)
	if left, right, ok := strings.Cut(n.Name, "-"); ok && !n.Quoted {
		detail += dashHint(of, left, right)
	}
	c.problem(n, "unknown field "+n.Name, detail)
	return event.Any, false
}

func dashHint(of, left, right string) string {
	return " " + left + "-" + right + " is one name in HCL: a minus needs spaces, " + of + "." + left + " - " + right + "."
}

// declares reports whether it is known that a value of type t may have a field of this name.
func declares(t event.Type, name string) bool {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return true
		}
	}
	return false
}

// dashed reports a field of a value of type t such as total-value in value.total-value.refund: a difference that was
// written without spaces. It is one when a field is taken of the right side, which is a name in scope, or when t is known to
// have the left side. rest are the names that follow.
func (c *checker) dashed(n *Node, t event.Type, rest []string) bool {
	i := strings.LastIndexByte(n.Name, '-')
	if i <= 0 || n.Quoted {
		return false
	}
	of, left, right := n.Args[0].String(), n.Name[:i], n.Name[i+1:]
	named := (right == "value" || c.bound(right)) && (len(rest) > 0 || !unknown(t) && !t.Open)
	if !named && !declares(t, left) {
		return false
	}
	if declares(t, right) {
		right = of + "." + right
	}
	for _, name := range rest {
		right += "." + name
	}
	c.problem(n, "unknown field "+n.Name, "A minus needs spaces: write "+of+"."+left+" - "+right+
		". "+n.Name+" is one name in HCL; a field that is really called so is written "+of+`["`+n.Name+`"].`)
	return true
}

// rootField checks event.time, record.*, window.* and pane.*.
func (c *checker) rootField(n, root *Node, names []string) *typed {
	if c.missingRoot(root, root.Name) {
		return bad(n)
	}
	first := fieldNodes(n, len(names))[0]
	t := &typed{node: first, name: names[0]}
	switch root.Name {
	case "event":
		t.op, t.typ, c.expr.uses.Time = tTime, event.Of(event.Instant), true
	case "record":
		t.op, t.typ, c.expr.uses.Record = tRecord, event.Of(event.Int), true
		switch names[0] {
		case "topic":
			t.typ = event.Of(event.String)
		case "timestamp":
			t.typ = optional(event.Of(event.Instant))
		}
	case "window":
		t.op, t.typ, c.expr.uses.Window = tWindow, optional(event.Of(event.Instant)), true
	case "pane":
		t.op, t.typ, c.expr.uses.Pane = tPane, event.Of(event.Bool), true
		switch names[0] {
		case "index":
			t.typ = event.Of(event.Int)
		case "timing":
			t.typ = event.Of(event.String)
		}
	}
	known := false
	for _, f := range roots[root.Name] {
		known = known || f == names[0]
	}
	if !known {
		c.problem(first, "unknown field "+names[0], root.Name+" has the fields "+strings.Join(roots[root.Name], ", ")+"."+
			didYouMean(names[0], roots[root.Name]))
		return bad(n)
	}
	if len(names) > 1 {
		return c.fieldOf(n, t)
	}
	return t
}
