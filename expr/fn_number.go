package expr

import (
	"math"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

func runAbs(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		v := s.cols[0][i]
		ok := true
		switch v.Kind {
		case event.Int:
			if v.Int() < 0 {
				v, ok = intArith('-', 0, v.Int())
			}
		case event.Float:
			v = event.FloatValue(math.Abs(v.Float()))
		default:
			var d event.Decimal
			d, ok = v.Decimal().Abs()
			v = event.DecimalValue(d)
		}
		if !ok {
			v = s.fail(f.m, uint32(v.Kind), Overflow, "does not fit "+kindArticle(v.Kind))
		}
		s.out[i] = v
	}
}

// runRound rounds half to even. The result is of the kind of the number.
func runRound(s *callStep, f *frame) {
	for i := range s.out {
		if !s.ready(f.m, i) {
			continue
		}
		digits := int64(0)
		if len(s.cols) > 1 {
			digits = s.cols[1][i].Int()
		}
		v, ok := round(s.cols[0][i], int(min(max(digits, -400), 400)))
		if !ok {
			v = s.fail(f.m, 0, Overflow, "does not fit "+kindArticle(s.cols[0][i].Kind))
		}
		s.out[i] = v
	}
}

func round(v event.Value, digits int) (event.Value, bool) {
	switch v.Kind {
	case event.Int:
		if digits >= 0 {
			return v, true
		}
		d, _ := event.DecimalFromInt(v.Int()).Round(digits)
		n, ok := d.Int()
		return event.IntValue(n), ok
	case event.Float:
		if d, ok := event.DecimalFromFloat(v.Float()); ok && digits < event.DecimalDigits {
			d, ok = d.Round(digits)
			return event.FloatValue(d.Float()), ok
		}
		return v, true // beyond 10^20 a float has no fraction
	}
	d, ok := v.Decimal().Round(digits)
	return event.DecimalValue(d), ok
}

func runMin(s *callStep, f *frame) { s.extreme(f, -1) }

func runMax(s *callStep, f *frame) { s.extreme(f, 1) }

// extreme takes the least (want -1) or greatest (want 1) of its arguments, or of the elements of its only argument. Of an
// empty list it is null.
func (s *callStep) extreme(f *frame, want int) {
	for row := range s.out {
		if !s.ready(f.m, row) {
			continue
		}
		s.work.elems = s.work.elems[:0]
		if v := s.cols[0][row]; len(s.cols) == 1 && v.Kind == event.List {
			if !s.elements(f.m, row) {
				continue
			}
		} else {
			for _, col := range s.cols {
				s.work.elems = append(s.work.elems, col[row])
			}
		}
		best := event.NullValue()
		for _, v := range s.work.elems {
			if best.IsNull() {
				best = v
				continue
			}
			c, ok := jsontext.Compare(f.m.h, v, best)
			if !ok {
				best = s.fail(f.m, 1<<8|uint32(v.Kind)<<4|uint32(best.Kind), WrongType,
					"cannot compare "+kindArticle(v.Kind)+" with "+kindArticle(best.Kind))
				break
			}
			if c == want {
				best = v
			}
		}
		s.out[row] = best
	}
}
