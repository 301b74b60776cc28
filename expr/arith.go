package expr

import (
	"math"
	"math/bits"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// arithStep is + - * / %.
type arithStep struct {
	site
	op   byte
	a, b step
	out  []event.Value
}

func (s *arithStep) eval(f *frame) []event.Value {
	a, b := s.a.eval(f), s.b.eval(f)
	s.out = sized(s.out, f.n)
	for i := range s.out {
		x, y := a[i], b[i]
		if x.Kind == event.Int && y.Kind == event.Int {
			if v, ok := intArith(s.op, x.Int(), y.Int()); ok {
				s.out[i] = v
				continue
			}
		}
		s.out[i] = s.slow(f.m, x, y)
	}
	return s.out
}

// intArith does what is common and cannot go wrong; all else is left to slow.
func intArith(op byte, x, y int64) (v event.Value, ok bool) {
	switch op {
	case '+':
		z := x + y
		return event.IntValue(z), (z > x) == (y > 0)
	case '-':
		z := x - y
		return event.IntValue(z), (z < x) == (y > 0)
	case '*':
		z, ok := mulInt(x, y)
		return event.IntValue(z), ok
	case '%':
		if y == 0 || y == -1 {
			return event.IntValue(0), y != 0
		}
		return event.IntValue(x % y), true
	}
	return event.Value{}, false
}

func mulInt(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// Correct the unsigned product to the signed one: its upper half must then be the sign of its lower half.
	hi -= uint64(x>>63)&uint64(y) + uint64(y>>63)&uint64(x)
	return int64(lo), int64(hi) == int64(lo)>>63
}

func (s *arithStep) slow(m *machine, x, y event.Value) event.Value {
	if x.Kind == event.Error {
		return x
	}
	if y.Kind == event.Error {
		return y
	}
	var v event.Value
	var ok bool
	switch {
	case jsontext.IsNumber(x.Kind) && jsontext.IsNumber(y.Kind):
		if (s.op == '/' || s.op == '%') && isZero(y) {
			return s.fail(m, 0, DivisionByZero, "divides by zero")
		}
		switch {
		case x.Kind == event.Float || y.Kind == event.Float:
			z := floatArith(s.op, toFloat(x), toFloat(y))
			v, ok = event.FloatValue(z), !math.IsInf(z, 0) && !math.IsNaN(z)
		case x.Kind == event.Int && y.Kind == event.Int && s.op != '/':
			ok = false // intArith has tried
		default:
			var d event.Decimal
			d, ok = decimalArith(s.op, toDecimal(x), toDecimal(y))
			v = event.DecimalValue(d)
		}
		if !ok {
			return s.fail(m, 1<<8|uint32(x.Kind)<<4|uint32(y.Kind), Overflow, "does not fit "+kindArticle(widest(x, y, s.op)))
		}
		return v
	case timeOperand(x.Kind) || timeOperand(y.Kind):
		return s.timeArith(m, x, y)
	case !jsontext.IsNumber(x.Kind):
		return s.operand(m, 0, s.node.Args[0], x, "a number")
	}
	return s.operand(m, 1, s.node.Args[1], y, "a number")
}

func widest(x, y event.Value, op byte) event.Kind {
	switch {
	case x.Kind == event.Float || y.Kind == event.Float:
		return event.Float
	case x.Kind == event.Decimal128 || y.Kind == event.Decimal128 || op == '/':
		return event.Decimal128
	}
	return event.Int
}

func isZero(v event.Value) bool {
	switch v.Kind {
	case event.Int:
		return v.Int() == 0
	case event.Float:
		return v.Float() == 0
	}
	return v.Decimal() == event.Decimal{}
}

func toFloat(v event.Value) float64 {
	switch v.Kind {
	case event.Int:
		return float64(v.Int())
	case event.Float:
		return v.Float()
	}
	return v.Decimal().Float()
}

// toDecimal converts an int or decimal.
func toDecimal(v event.Value) event.Decimal {
	if v.Kind == event.Int {
		return event.DecimalFromInt(v.Int())
	}
	return v.Decimal()
}

func floatArith(op byte, x, y float64) float64 {
	switch op {
	case '+':
		return x + y
	case '-':
		return x - y
	case '*':
		return x * y
	case '/':
		return x / y
	}
	return math.Mod(x, y)
}

func decimalArith(op byte, x, y event.Decimal) (event.Decimal, bool) {
	switch op {
	case '+':
		return x.Add(y)
	case '-':
		return x.Sub(y)
	case '*':
		return x.Mul(y)
	case '/':
		return x.Div(y)
	}
	return x.Rem(y)
}

func timeOperand(k event.Kind) bool { return k == event.Instant || k == event.Span }

// timeArith handles times and durations: all are whole milliseconds.
func (s *arithStep) timeArith(m *machine, x, y event.Value) event.Value {
	k, ok := timeKind(string(s.op), x.Kind, y.Kind)
	if !ok || k == event.Missing {
		if !timeOperand(x.Kind) && x.Kind != event.Int {
			return s.operand(m, 0, s.node.Args[0], x, "a time or duration beside the other side's")
		}
		return s.operand(m, 1, s.node.Args[1], y, "a time or duration that goes with the other side")
	}
	v, ok := intArith(s.op, millis(x), millis(y))
	if !ok || infinite(x) || infinite(y) {
		return s.fail(m, 2<<8, Overflow, "does not fit "+kindArticle(k))
	}
	if k == event.Instant {
		return event.TimeValue(event.Time(v.Int()))
	}
	return event.DurationValue(event.Duration(v.Int()))
}

func infinite(v event.Value) bool { return v.Kind == event.Instant && !v.Time().IsFinite() }

// millis returns the number inside of a time, duration or int.
func millis(v event.Value) int64 {
	switch v.Kind {
	case event.Instant:
		return int64(v.Time())
	case event.Span:
		return int64(v.Duration())
	}
	return v.Int()
}

// negStep is the minus before a number or duration.
type negStep struct {
	site
	of  step
	out []event.Value
}

func (s *negStep) eval(f *frame) []event.Value {
	col := s.of.eval(f)
	s.out = sized(s.out, f.n)
	for i, v := range col {
		s.out[i] = s.neg(f.m, v)
	}
	return s.out
}

func (s *negStep) neg(m *machine, v event.Value) event.Value {
	ok := true
	r := v
	switch v.Kind {
	case event.Int:
		r, ok = intArith('-', 0, v.Int())
	case event.Span:
		r, ok = intArith('-', 0, int64(v.Duration()))
		r = event.DurationValue(event.Duration(r.Int()))
	case event.Float:
		r = event.FloatValue(-v.Float())
	case event.Decimal128:
		var d event.Decimal
		d, ok = v.Decimal().Neg()
		r = event.DecimalValue(d)
	default:
		return s.operand(m, 0, s.node.Args[0], v, "a number")
	}
	if !ok {
		return s.fail(m, uint32(v.Kind), Overflow, "does not fit "+kindArticle(v.Kind))
	}
	return r
}
