package expr

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/wgate/wgate/event"
)

// parser reads the expressions of the tests: the part of HCL's expressions that pipelines use. Package config has the real
// one; this package knows no HCL.
type parser struct {
	s string
	i int
}

func parse(s string) (n *Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("test expression %q: %v", s, r)
		}
	}()
	p := &parser{s: s}
	n = p.expr()
	p.space()
	if p.i < len(s) {
		panic("something is left: " + s[p.i:])
	}
	return n, nil
}

func (p *parser) space() {
	for p.i < len(p.s) && p.s[p.i] == ' ' {
		p.i++
	}
}

func (p *parser) peek(tok string) bool {
	p.space()
	return strings.HasPrefix(p.s[p.i:], tok)
}

func (p *parser) take(tok string) bool {
	if !p.peek(tok) {
		return false
	}
	p.i += len(tok)
	return true
}

func (p *parser) want(tok string) {
	if !p.take(tok) {
		panic("want " + tok + " at " + p.s[p.i:])
	}
}

func (p *parser) at(n Node, start int) *Node {
	n.Pos = Pos{Line: 1, Col: start + 1, StartByte: start, EndByte: p.i}
	return &n
}

func (p *parser) start() int {
	p.space()
	return p.i
}

func (p *parser) expr() *Node {
	start := p.start()
	c := p.binary(2)
	if !p.take("?") {
		return c
	}
	a := p.expr()
	p.want(":")
	b := p.expr()
	return p.at(Node{Op: OpCond, Args: []*Node{c, a, b}}, start)
}

func (p *parser) operator(level int) string {
	for _, op := range []string{"||", "&&", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%"} {
		if levels[op] == level && p.take(op) {
			return op
		}
	}
	return ""
}

func (p *parser) binary(level int) *Node {
	if level == 8 {
		return p.unary()
	}
	start := p.start()
	a := p.binary(level + 1)
	for op := p.operator(level); op != ""; op = p.operator(level) {
		b := p.binary(level + 1)
		a = p.at(Node{Op: OpBinary, Name: op, Args: []*Node{a, b}}, start)
	}
	return a
}

func (p *parser) unary() *Node {
	start := p.start()
	for _, op := range []string{"!", "-"} {
		if p.take(op) {
			return p.at(Node{Op: OpUnary, Name: op, Args: []*Node{p.unary()}}, start)
		}
	}
	n := p.primary()
	for {
		switch {
		case p.take("."):
			n = p.at(Node{Op: OpField, Name: p.ident(), Args: []*Node{n}}, start)
		case p.take("["):
			i := p.expr()
			p.want("]")
			if i.Op == OpLiteral && i.Lit.Kind == event.String {
				n = p.at(Node{Op: OpField, Name: i.Lit.Text, Quoted: true, Args: []*Node{n}}, start)
			} else {
				n = p.at(Node{Op: OpIndex, Args: []*Node{n, i}}, start)
			}
		default:
			return n
		}
	}
}

func (p *parser) ident() string {
	start := p.start()
	for p.i < len(p.s) && (p.s[p.i] == '_' || p.s[p.i] == '-' && p.i > start || unicode.IsLetter(rune(p.s[p.i])) || p.i > start && unicode.IsDigit(rune(p.s[p.i]))) {
		p.i++
	}
	if p.i == start {
		panic("want a name at " + p.s[p.i:])
	}
	return p.s[start:p.i]
}

func (p *parser) primary() *Node {
	start := p.start()
	switch {
	case p.take("("):
		n := p.expr()
		p.want(")")
		return n
	case p.peek("[for "):
		return p.loop(start)
	case p.take("["):
		return p.at(Node{Op: OpList, Args: p.args("]")}, start)
	case p.take("{"):
		return p.object(start)
	case p.take(`"`):
		return p.template(start)
	case p.i < len(p.s) && unicode.IsDigit(rune(p.s[p.i])):
		return p.number(start)
	}
	name := p.ident()
	switch name {
	case "true", "false":
		return p.at(Node{Lit: event.Literal{Kind: event.Bool, Value: event.BoolValue(name == "true")}}, start)
	case "null":
		return p.at(Node{Lit: event.Literal{Kind: event.Null, Value: event.NullValue()}}, start)
	}
	if p.take("(") {
		return p.at(Node{Op: OpCall, Name: name, Args: p.args(")")}, start)
	}
	return p.at(Node{Op: OpVar, Name: name}, start)
}

func (p *parser) args(end string) (args []*Node) {
	for !p.take(end) {
		if len(args) > 0 {
			p.want(",")
		}
		args = append(args, p.expr())
	}
	return args
}

func (p *parser) loop(start int) *Node {
	p.want("[for")
	n := Node{Op: OpFor, Keys: []string{p.ident()}}
	if p.take(",") {
		n.Keys = append(n.Keys, p.ident())
	}
	p.want("in ")
	n.Args = []*Node{p.expr()}
	p.want(":")
	n.Args = append(n.Args, p.expr())
	if p.take("if ") {
		n.Args = append(n.Args, p.expr())
	}
	p.want("]")
	return p.at(n, start)
}

func (p *parser) object(start int) *Node {
	n := Node{Op: OpObject}
	for !p.take("}") {
		if len(n.Args) > 0 {
			p.want(",")
		}
		n.Keys = append(n.Keys, p.ident())
		p.want("=")
		n.Args = append(n.Args, p.expr())
	}
	return p.at(n, start)
}

func (p *parser) number(start int) *Node {
	for p.i < len(p.s) && (unicode.IsDigit(rune(p.s[p.i])) || p.s[p.i] == '.') {
		p.i++
	}
	text := p.s[start:p.i]
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return p.at(Node{Lit: event.Literal{Kind: event.Int, Value: event.IntValue(i)}}, start)
	}
	d, ok := event.ParseDecimal(text)
	if !ok {
		panic("no number: " + text)
	}
	return p.at(Node{Lit: event.Literal{Kind: event.Decimal128, Value: event.DecimalValue(d)}}, start)
}

func textNode(s string) *Node { return &Node{Lit: event.Literal{Kind: event.String, Text: s}} }

func (p *parser) template(start int) *Node {
	var parts []*Node
	var text strings.Builder
	for !strings.HasPrefix(p.s[p.i:], `"`) {
		switch {
		case strings.HasPrefix(p.s[p.i:], "${"):
			p.i += 2
			if text.Len() > 0 {
				parts = append(parts, textNode(text.String()))
				text.Reset()
			}
			parts = append(parts, p.expr())
			p.want("}")
		case p.s[p.i] == '\\':
			c := p.s[p.i+1]
			text.WriteByte(map[byte]byte{'n': '\n', '"': '"', '\\': '\\', 't': '\t'}[c])
			p.i += 2
		default:
			text.WriteByte(p.s[p.i])
			p.i++
		}
	}
	p.i++
	if len(parts) == 0 {
		n := textNode(text.String())
		return p.at(*n, start)
	}
	if text.Len() > 0 {
		parts = append(parts, textNode(text.String()))
	}
	return p.at(Node{Op: OpTemplate, Args: parts}, start)
}

// parseType reads the types of the tests: int, list(int), { a = int, b = optional(string, "x") }, any.
func (p *parser) parseType() (t event.Type, dflt *event.Literal) {
	if p.take("{") {
		t.Kind = event.Object
		for !p.take("}") {
			if len(t.Fields) > 0 {
				p.want(",")
			}
			f := event.Field{Name: p.ident()}
			p.want("=")
			f.Type, f.Default = p.parseType()
			t.Fields = append(t.Fields, f)
		}
		return t, nil
	}
	name := p.ident()
	switch name {
	case "any":
		return event.Any, nil
	case "list":
		p.want("(")
		e, _ := p.parseType()
		p.want(")")
		return event.Type{Kind: event.List, Elem: &e}, nil
	case "optional":
		p.want("(")
		t, _ = p.parseType()
		t.Optional = true
		if p.take(",") {
			dflt = &p.expr().Lit
		}
		p.want(")")
		return t, dflt
	}
	for k := event.Null; k < event.Error; k++ {
		if k.String() == name {
			return event.Of(k), nil
		}
	}
	panic("no type: " + name)
}
