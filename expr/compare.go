package expr

import (
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// relation is what a comparison asks for: which results of a three-way comparison make it true.
type relation struct {
	name              string
	less, equal, more bool
}

var relations = map[string]relation{
	"==": {"==", false, true, false}, "!=": {"!=", true, false, true},
	"<": {"<", true, false, false}, "<=": {"<=", true, true, false},
	">": {">", false, false, true}, ">=": {">=", false, true, true},
}

func (r relation) holds(c int) bool { return c < 0 && r.less || c == 0 && r.equal || c > 0 && r.more }

// ordered reports whether the relation needs an order: == and != are defined for all values.
func (r relation) ordered() bool { return r.less != r.more }

// mirrored is the relation with its sides exchanged.
func (r relation) mirrored() relation {
	r.less, r.more = r.more, r.less
	return r
}

// compareSteps picks the step for the operands: a constant number or text on one side has one of its own.
func compareSteps(t *typed, s site, args []step) step {
	rel := relations[t.name]
	for side, c := range t.args {
		if c.op != tLiteral {
			continue
		}
		of, r := args[1-side], rel
		if side == 0 {
			r = rel.mirrored()
		}
		switch {
		case jsontext.IsNumber(c.lit.Kind):
			return &compareNumber{site: s, rel: r, of: of, arg: 1 - side, c: c.lit.Value}
		case c.lit.Kind == event.String && !rel.ordered():
			return &equalText{rel: r, of: of, text: c.lit.Text}
		}
	}
	return &compareStep{site: s, rel: rel, a: args[0], b: args[1]}
}

// compareNumber compares a column with a constant number.
type compareNumber struct {
	site
	rel relation
	of  step
	arg int // which argument of the node the column is
	c   event.Value
	out []event.Value
}

func (s *compareNumber) eval(f *frame) []event.Value {
	col := s.of.eval(f)
	s.out = sized(s.out, f.n)
	ints, c := s.c.Kind == event.Int, s.c.Int()
	exact, d := s.c.Kind != event.Float, event.Decimal{}
	if exact {
		d = toDecimal(s.c)
	}
	truth := [3]event.Value{event.BoolValue(s.rel.less), event.BoolValue(s.rel.equal), event.BoolValue(s.rel.more)}
	for i := range s.out {
		v := col[i]
		switch {
		case ints && v.Kind == event.Int:
			switch x := v.Int(); {
			case x < c:
				s.out[i] = truth[0]
			case x > c:
				s.out[i] = truth[2]
			default:
				s.out[i] = truth[1]
			}
		case exact && v.Kind == event.Decimal128:
			s.out[i] = truth[1+v.Decimal().Cmp(d)]
		case jsontext.IsNumber(v.Kind):
			s.out[i] = truth[1+jsontext.CompareNumbers(v, s.c)]
		case v.Kind == event.Error:
			s.out[i] = v
		case s.rel.ordered():
			s.out[i] = s.operand(f.m, s.arg, s.node.Args[s.arg], v, "numbers on both sides")
		default:
			s.out[i] = event.BoolValue(!s.rel.equal)
		}
	}
	return s.out
}

// equalText is == and != of a column and a constant text.
type equalText struct {
	rel  relation
	of   step
	text string
	out  []event.Value
}

func (s *equalText) eval(f *frame) []event.Value {
	col := s.of.eval(f)
	s.out = sized(s.out, f.n)
	for i, v := range col {
		if v.Kind == event.Error {
			s.out[i] = v
			continue
		}
		same := v.Kind == event.String && string(v.Bytes(f.m.h)) == s.text
		s.out[i] = event.BoolValue(same == s.rel.equal)
	}
	return s.out
}

// compareStep compares two columns.
type compareStep struct {
	site
	rel   relation
	a, b  step
	canon jsontext.Canon
	out   []event.Value
}

func (s *compareStep) eval(f *frame) []event.Value {
	a, b := s.a.eval(f), s.b.eval(f)
	s.out = sized(s.out, f.n)
	for i := range s.out {
		s.out[i] = s.one(f.m, a[i], b[i])
	}
	return s.out
}

func (s *compareStep) one(m *machine, x, y event.Value) event.Value {
	switch {
	case x.Kind == event.Error:
		return x
	case y.Kind == event.Error:
		return y
	case !s.rel.ordered():
		return event.BoolValue(s.canon.Equal(m.h, x, y) == s.rel.equal)
	}
	if x.IsNull() {
		return s.operand(m, 0, s.node.Args[0], x, "a value")
	}
	if y.IsNull() {
		return s.operand(m, 1, s.node.Args[1], y, "a value")
	}
	c, ok := jsontext.Compare(m.h, x, y)
	if !ok || x.Kind == event.Bool {
		return s.fail(m, 1<<8|uint32(x.Kind)<<4|uint32(y.Kind), WrongType,
			"cannot compare "+kindArticle(x.Kind)+" with "+kindArticle(y.Kind))
	}
	return event.BoolValue(s.rel.holds(c))
}
