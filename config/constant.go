package config

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// constants are the values of var.NAME and local.NAME.
type constants struct {
	vars   map[string]constant
	locals map[string]*local
	stack  []string // locals that are being evaluated, to name a cycle
}

type constant struct {
	lit event.Literal
	ok  bool // false after a mistake that was reported
}

// local is an entry of a local block. It is evaluated when something needs it first.
type local struct {
	attr *hclsyntax.Attribute
	constant
	done bool
}

// readConstants gives every variable and local its value.
func (ld *loader) readConstants() {
	ld.consts.vars = map[string]constant{}
	ld.consts.locals = map[string]*local{}
	given := ld.varFiles()
	ld.each("variable", func(b *topBlock) { ld.readVariable(b, given) })
	ld.checkUnusedVars(given)
	ld.each("local", func(b *topBlock) {
		for _, a := range sorted(b.hb.Attributes) {
			if prev := ld.consts.locals[a.Name]; prev != nil {
				ld.fail(a.NameRange, "Duplicate local", "%q is set already at %s. Give one of the two another name.", a.Name, at(prev.attr.NameRange))
				continue
			}
			ld.consts.locals[a.Name] = &local{attr: a}
		}
		for _, in := range b.hb.Blocks {
			ld.fail(in.TypeRange, "Unknown block", "A local block has attributes only: write %s = { ... }.", in.Type)
		}
	})
	ld.each("local", func(b *topBlock) {
		for _, a := range sorted(b.hb.Attributes) {
			ld.localNamed(a.Name)
		}
	})
}

// varFiles reads Options.VarFiles; of entries with one name the last counts.
func (ld *loader) varFiles() map[string]*hclsyntax.Attribute {
	given := map[string]*hclsyntax.Attribute{}
	for _, name := range ld.opts.VarFiles {
		src, err := ld.opts.ReadFile(name)
		if err != nil {
			ld.noFile("File of variables cannot be read", fmt.Sprintf("%s: %s. Check the path of --var-file.", name, cause(err)))
			continue
		}
		body := ld.parseBody(name, src)
		if body == nil {
			continue
		}
		for _, in := range body.Blocks {
			ld.fail(in.TypeRange, "Block in a file of variables", "A file of variables has lines NAME = VALUE only.")
		}
		for _, a := range sorted(body.Attributes) {
			given[a.Name] = a
		}
	}
	return given
}

func (ld *loader) readVariable(b *topBlock, given map[string]*hclsyntax.Attribute) {
	b.check(variableSchema)
	var def constant
	if a := b.attr("default"); a != nil {
		def.lit, def.ok = ld.constantOf(a.Expr, "The default of a variable")
		if !def.ok {
			ld.consts.vars[b.name] = def
			return
		}
	}
	val := def
	if text, ok := ld.opts.Vars[b.name]; ok {
		val.lit, val.ok = ld.flagValue(b.name, text, def)
	} else if a := given[b.name]; a != nil {
		val.lit, val.ok = ld.constantOf(a.Expr, "The value of a variable")
		if val.ok && def.ok && !fitsDefault(val.lit, def.lit) {
			ld.fail(a.Expr.Range(), "Wrong type of variable", "The default of %q at %s is of type %s, this is of type %s.",
				b.name, at(b.head), def.lit.Kind, val.lit.Kind)
			val.ok = false
		}
	} else if !def.ok {
		ld.fail(b.head, "Variable without a value", "%q has no default. Give it a value with --var %s=VALUE or in a --var-file.", b.name, b.name)
	}
	ld.consts.vars[b.name] = val
}

// flagValue is the value of --var. It is text unless the default says otherwise.
func (ld *loader) flagValue(name, text string, def constant) (event.Literal, bool) {
	if !def.ok || def.lit.Kind == event.String || def.lit.Kind == event.Null {
		return event.Literal{Kind: event.String, Text: text}, true
	}
	file := "--var " + name
	ld.texts[file] = []byte(text)
	if d := prescan(file, []byte(text)); d != nil {
		ld.diags = append(ld.diags, d)
		return event.Literal{}, false
	}
	e, diags := hclsyntax.ParseExpression([]byte(text), file, hcl.InitialPos)
	if !diags.HasErrors() {
		before := len(ld.diags)
		if lit, ok := ld.constantOf(e, "The value of a variable"); ok && fitsDefault(lit, def.lit) {
			return lit, true
		}
		ld.diags = ld.diags[:before] // the command line has no lines to point at
	}
	ld.noFile("Wrong type of variable", fmt.Sprintf("--var %s=%s: the default of %q is of type %s, and so must this be.", name, text, name, def.lit.Kind))
	return event.Literal{}, false
}

// fitsDefault reports whether a variable with this default may have the value v.
func fitsDefault(v, def event.Literal) bool {
	number := func(k event.Kind) bool { return k == event.Int || k == event.Decimal128 || k == event.Float }
	return v.Kind == def.Kind || def.Kind == event.Null || number(v.Kind) && number(def.Kind)
}

// checkUnusedVars reports values for variables that no block declares.
func (ld *loader) checkUnusedVars(given map[string]*hclsyntax.Attribute) {
	names := keysOf(ld.consts.vars)
	for _, n := range keysOf(ld.opts.Vars) {
		if _, ok := ld.consts.vars[n]; !ok {
			ld.noFile("Unknown variable", fmt.Sprintf("--var %s: no variable block has this name.%s", n, didYouMean(n, names)))
		}
	}
	for _, n := range keysOf(given) {
		if _, ok := ld.consts.vars[n]; !ok {
			ld.fail(given[n].NameRange, "Unknown variable", "No variable block has the name %q.%s", n, didYouMean(n, names))
		}
	}
}

// constantNamed returns the value of var.NAME or local.NAME, used at rng. ok is false if something was reported.
func (ld *loader) constantNamed(kind, name string, rng hcl.Range) (event.Literal, bool) {
	if len(ld.diags) > 2*maxDiags {
		return nullLiteral, false // what is found now is not shown
	}
	if kind == "var" {
		if c, ok := ld.consts.vars[name]; ok {
			return c.lit, c.ok
		}
		ld.fail(rng, "Unknown variable", `There is no variable %q.%s Declare it with variable "%s" { default = ... }.`,
			name, didYouMean(name, keysOf(ld.consts.vars)), name)
		return nullLiteral, false
	}
	if ld.consts.locals[name] == nil {
		ld.fail(rng, "Unknown local", "No local block sets %q.%s", name, didYouMean(name, keysOf(ld.consts.locals)))
		return nullLiteral, false
	}
	return ld.localNamed(name)
}

var nullLiteral = event.Literal{Kind: event.Null, Value: event.NullValue()}

// localNamed evaluates a local that exists.
func (ld *loader) localNamed(name string) (event.Literal, bool) {
	l := ld.consts.locals[name]
	if l.done {
		return l.lit, l.ok
	}
	for i, s := range ld.consts.stack {
		if s == name {
			cycle := append(append([]string(nil), ld.consts.stack[i:]...), name)
			ld.fail(l.attr.NameRange, "Cycle", "These locals need each other: local.%s. One of them must do without.",
				strings.Join(cycle, " -> local."))
			return nullLiteral, false
		}
	}
	if len(ld.consts.stack) >= maxDepth {
		ld.fail(l.attr.NameRange, "Nested too deep", "Locals may need each other %d levels deep.", maxDepth)
		return nullLiteral, false
	}
	ld.consts.stack = append(ld.consts.stack, name)
	l.lit, l.ok = ld.constantOf(l.attr.Expr, "A local")
	ld.consts.stack = ld.consts.stack[:len(ld.consts.stack)-1]
	l.done = true
	return l.lit, l.ok
}

// constantOf evaluates an expression that must be known before the pipeline runs. what begins the sentence of the message.
func (ld *loader) constantOf(e hclsyntax.Expression, what string) (event.Literal, bool) {
	n, ok := ld.node(e)
	if !ok {
		return nullLiteral, false
	}
	checked, ps := expr.Check(n, expr.Scope{NoRow: true})
	if len(ps) > 0 {
		ld.problems(ps)
		return nullLiteral, false
	}
	lit, ok := expr.Constant(n)
	if !ok {
		ld.fail(e.Range(), "Not a constant", "%s must be known before the pipeline runs, and %s is not.", what, checked)
		return nullLiteral, false
	}
	return lit, true
}

func keysOf[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
