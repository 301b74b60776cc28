package expr

import (
	"strconv"
	"strings"

	"github.com/wgate/wgate/event"
)

// String writes the expression in the pipeline language, on one line, with parentheses only where they are needed.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b, 0)
	return b.String()
}

// levels are the binding strengths of the binary operators; ?: has 1, unary operators 8, field access 9.
var levels = map[string]int{
	"||": 2, "&&": 3, "==": 4, "!=": 4, "<": 5, "<=": 5, ">": 5, ">=": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7,
}

func (n *Node) level() int {
	switch n.Op {
	case OpBinary:
		return levels[n.Name]
	case OpCond:
		return 1
	case OpUnary:
		return 8
	}
	return 10
}

// write puts n in parentheses if it binds less than min.
func (n *Node) write(b *strings.Builder, least int) {
	if n.level() < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.Op {
	case OpLiteral:
		writeLiteral(b, n.Lit)
	case OpVar:
		b.WriteString(n.Name)
	case OpField:
		n.Args[0].write(b, 9)
		writeField(b, n.Name)
	case OpIndex:
		n.Args[0].write(b, 9)
		b.WriteByte('[')
		n.Args[1].write(b, 0)
		b.WriteByte(']')
	case OpCall:
		b.WriteString(n.Name)
		writeList(b, n.Args, "(", ")")
	case OpUnary:
		b.WriteString(n.Name)
		n.Args[0].write(b, 8)
	case OpBinary:
		n.Args[0].write(b, n.level())
		b.WriteString(" " + n.Name + " ")
		n.Args[1].write(b, n.level()+1)
	case OpCond:
		n.Args[0].write(b, 2)
		b.WriteString(" ? ")
		n.Args[1].write(b, 1)
		b.WriteString(" : ")
		n.Args[2].write(b, 1)
	case OpList:
		writeList(b, n.Args, "[", "]")
	case OpObject:
		n.writeObject(b)
	case OpFor:
		n.writeFor(b)
	case OpTemplate:
		n.writeTemplate(b)
	case OpSlot:
		b.WriteString(n.Name)
	}
}

func writeList(b *strings.Builder, args []*Node, open, end string) {
	b.WriteString(open)
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		a.write(b, 0)
	}
	b.WriteString(end)
}

func (n *Node) writeObject(b *strings.Builder) {
	if len(n.Args) == 0 {
		b.WriteString("{}")
		return
	}
	for i, a := range n.Args {
		if i == 0 {
			b.WriteString("{ ")
		} else {
			b.WriteString(", ")
		}
		if plainName(n.Keys[i]) {
			b.WriteString(n.Keys[i])
		} else {
			writeQuoted(b, n.Keys[i])
		}
		b.WriteString(" = ")
		a.write(b, 0)
	}
	b.WriteString(" }")
}

func (n *Node) writeFor(b *strings.Builder) {
	b.WriteString("[for " + strings.Join(n.Keys, ", ") + " in ")
	n.Args[0].write(b, 0)
	b.WriteString(" : ")
	n.Args[1].write(b, 0)
	if len(n.Args) > 2 {
		b.WriteString(" if ")
		n.Args[2].write(b, 0)
	}
	b.WriteByte(']')
}

func (n *Node) writeTemplate(b *strings.Builder) {
	b.WriteByte('"')
	for _, a := range n.Args {
		if a.Op == OpLiteral && a.Lit.Kind == event.String {
			escape(b, a.Lit.Text)
			continue
		}
		b.WriteString("${")
		a.write(b, 0)
		b.WriteByte('}')
	}
	b.WriteByte('"')
}

func writeField(b *strings.Builder, name string) {
	if plainName(name) {
		b.WriteString("." + name)
		return
	}
	b.WriteByte('[')
	writeQuoted(b, name)
	b.WriteByte(']')
}

// plainName reports whether a field can be written after a dot without being misread.
func plainName(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if s[i] != '_' && (c < 'a' || c > 'z') && (i == 0 || s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return s != ""
}

func writeQuoted(b *strings.Builder, s string) {
	b.WriteByte('"')
	escape(b, s)
	b.WriteByte('"')
}

// escape writes s as the inside of an HCL string.
func escape(b *strings.Builder, s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "${", "$${"), "%{", "%%{")
	q := strconv.Quote(s)
	b.WriteString(q[1 : len(q)-1])
}

func writeLiteral(b *strings.Builder, l event.Literal) {
	switch l.Kind {
	case event.String:
		writeQuoted(b, l.Text)
	case event.Bool:
		b.WriteString(strconv.FormatBool(l.Value.Bool()))
	case event.Int:
		b.WriteString(strconv.FormatInt(l.Value.Int(), 10))
	case event.Decimal128:
		b.WriteString(l.Value.Decimal().String())
	case event.Float:
		b.WriteString(strconv.FormatFloat(l.Value.Float(), 'g', -1, 64))
	case event.Instant:
		b.WriteString(`timestamp("` + l.Value.Time().String() + `")`)
	case event.Span:
		b.WriteString(`duration("` + l.Value.Duration().String() + `")`)
	case event.List, event.Object:
		b.WriteString(l.Text)
	default:
		b.WriteString("null")
	}
}
