package event

import (
	"math"
	"math/bits"
	"strconv"
)

// Decimal is an exact decimal number: a signed 128-bit count of 10^-18, in two's complement. Its range is about
// +-1.7 * 10^20 with 18 fractional digits. The zero Decimal is 0. Decimals are equal exactly if they are == .
//
// Operations report by their last result whether the true result fits. Where digits past the eighteenth are lost the
// result is rounded half to even, once.
type Decimal struct {
	Hi int64
	Lo uint64
}

// DecimalDigits is the number of fractional digits of a Decimal.
const DecimalDigits = 18

// one is 10^18, the count of units in 1.
const one = 1_000_000_000_000_000_000

// DecimalFromInt returns i.
func DecimalFromInt(i int64) Decimal {
	neg, m := i < 0, uint64(i)
	if neg {
		m = -m
	}
	hi, lo := bits.Mul64(m, one)
	d, _ := fromMagnitude(neg, mag{hi, lo})
	return d
}

// DecimalFromFloat returns the number that f is written as with the fewest digits (0.1 gives 0.1), rounded to 18
// fractional digits. ok is false for infinities, for what is not a number, and out of range.
func DecimalFromFloat(f float64) (d Decimal, ok bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Decimal{}, false
	}
	var buf [32]byte
	p, ok := scanNumber(strconv.AppendFloat(buf[:0], f, 'e', -1, 64))
	if !ok {
		return Decimal{}, false
	}
	d, _, ok = p.decimal()
	return d, ok
}

// Add returns d + o.
func (d Decimal) Add(o Decimal) (sum Decimal, ok bool) {
	lo, carry := bits.Add64(d.Lo, o.Lo, 0)
	hi, _ := bits.Add64(uint64(d.Hi), uint64(o.Hi), carry)
	s := Decimal{int64(hi), lo}
	return s, (d.Hi < 0) != (o.Hi < 0) || (s.Hi < 0) == (d.Hi < 0)
}

// Sub returns d - o.
func (d Decimal) Sub(o Decimal) (diff Decimal, ok bool) {
	lo, borrow := bits.Sub64(d.Lo, o.Lo, 0)
	hi, _ := bits.Sub64(uint64(d.Hi), uint64(o.Hi), borrow)
	s := Decimal{int64(hi), lo}
	return s, (d.Hi < 0) == (o.Hi < 0) || (s.Hi < 0) == (d.Hi < 0)
}

// Neg returns -d; only the least Decimal has no negative.
func (d Decimal) Neg() (Decimal, bool) { return Decimal{}.Sub(d) }

// Abs returns the magnitude of d; only the least Decimal has none.
func (d Decimal) Abs() (Decimal, bool) {
	if d.Hi < 0 {
		return d.Neg()
	}
	return d, true
}

// Mul returns d * o, rounded half to even.
func (d Decimal) Mul(o Decimal) (prod Decimal, ok bool) {
	an, a := d.magnitude()
	bn, b := o.magnitude()
	q, rem, ok := div64(mul128(a, b), one)
	if !ok {
		return Decimal{}, false
	}
	if rem > one/2 || rem == one/2 && q.lo&1 == 1 {
		q = q.inc()
	}
	return fromMagnitude(an != bn, q)
}

// Div returns d / o, rounded half to even. It fails for o = 0 too.
func (d Decimal) Div(o Decimal) (quo Decimal, ok bool) {
	if o == (Decimal{}) {
		return Decimal{}, false
	}
	an, a := d.magnitude()
	bn, b := o.magnitude()
	q, rem, ok := div128(mul128(a, mag{0, one}), b)
	if !ok {
		return Decimal{}, false
	}
	// Twice the remainder against the divisor; the divisor is at most 2^127, so this does not overflow.
	twice := mag{rem.hi<<1 | rem.lo>>63, rem.lo << 1}
	if c := twice.cmp(b); c > 0 || c == 0 && q.lo&1 == 1 {
		q = q.inc()
	}
	return fromMagnitude(an != bn, q)
}

// Rem returns what is left of d after dividing by o to a whole number, rounded toward zero: its sign is that of d. It
// fails only for o = 0.
func (d Decimal) Rem(o Decimal) (rem Decimal, ok bool) {
	if o == (Decimal{}) {
		return Decimal{}, false
	}
	an, a := d.magnitude()
	_, b := o.magnitude()
	_, r, _ := div128([4]uint64{a.lo, a.hi}, b)
	return fromMagnitude(an, r)
}

// Cmp compares by value: -1, 0 or 1.
func (d Decimal) Cmp(o Decimal) int {
	switch {
	case d.Hi < o.Hi || d.Hi == o.Hi && d.Lo < o.Lo:
		return -1
	case d == o:
		return 0
	}
	return 1
}

// CmpFloat compares d with the number that f is written as with the fewest digits, exactly: -1, 0 or 1. So 0.1 equals
// 1e-1, whatever came as a float; and since no two floats are written as one number, values of all three kinds have one
// order. f must be a number; it may be infinite.
func (d Decimal) CmpFloat(f float64) int {
	switch g := d.Float(); {
	case g < f:
		return -1
	case g > f:
		return 1
	case g == 0: // both are zero: a Decimal that is not is far above the least float
		return 0
	}
	// Both lie in the interval of numbers that round to f.
	var buf [32]byte
	n, _ := scanNumber(strconv.AppendFloat(buf[:0], f, 'e', -1, 64))
	neg, m := d.magnitude()
	c := m.cmpNumber(n)
	if neg {
		return -c
	}
	return c
}

// FloorFloat returns the greatest Decimal that is not above the number that f is written as with the fewest digits, and
// whether it is equal to it. ok is false for infinities, for what is not a number, and out of range.
func FloorFloat(f float64) (d Decimal, exact, ok bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Decimal{}, false, false
	}
	var buf [32]byte
	n, _ := scanNumber(strconv.AppendFloat(buf[:0], f, 'e', -1, 64))
	if d, exact, ok = n.decimal(); !ok || exact {
		return d, exact, ok
	}
	if d.CmpFloat(f) > 0 {
		d, ok = d.Sub(Decimal{0, 1})
	}
	return d, false, ok
}

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int {
	switch {
	case d.Hi < 0:
		return -1
	case d == (Decimal{}):
		return 0
	}
	return 1
}

// Int returns d as an int. ok is false when d has a fraction or does not fit.
func (d Decimal) Int() (i int64, ok bool) {
	i, frac, ok := d.trunc()
	return i, ok && frac == 0
}

// Trunc returns the whole part of d, rounded toward zero, if it fits an int.
func (d Decimal) Trunc() (i int64, ok bool) {
	i, _, ok = d.trunc()
	return i, ok
}

func (d Decimal) trunc() (i int64, frac uint64, ok bool) {
	neg, m := d.magnitude()
	q, frac, _ := div64([4]uint64{m.lo, m.hi}, one)
	if q.hi != 0 || q.lo > 1<<63 || q.lo == 1<<63 && !neg {
		return 0, frac, false
	}
	if neg {
		return int64(-q.lo), frac, true
	}
	return int64(q.lo), frac, true
}

// Split returns the greatest whole number that is not above d, as a 128-bit integer in two's complement, and the units of
// 10^-18 by which d is above it.
func (d Decimal) Split() (hi int64, lo, frac uint64) {
	neg, m := d.magnitude()
	q, frac, _ := div64([4]uint64{m.lo, m.hi}, one)
	if !neg {
		return int64(q.hi), q.lo, frac
	}
	if frac != 0 {
		q, frac = q.inc(), one-frac
	}
	n := q.neg()
	return int64(n.hi), n.lo, frac
}

// JoinDecimal is the reverse of Split.
func JoinDecimal(hi int64, lo, frac uint64) (d Decimal, ok bool) {
	neg, m := hi < 0, mag{uint64(hi), lo}
	if neg {
		m = m.neg()
	}
	p := mul128(m, mag{0, one})
	if p[2] != 0 || p[3] != 0 {
		return Decimal{}, false
	}
	w := Decimal{int64(p[1]), p[0]}
	if p[1] > 1<<63-1 {
		// The whole part of the least Decimals alone lies below the range.
		if !neg {
			return Decimal{}, false
		}
		lo, carry := bits.Sub64(p[0], frac, 0)
		h, under := bits.Sub64(p[1], 0, carry)
		if under != 0 {
			return Decimal{}, false
		}
		return fromMagnitude(true, mag{h, lo})
	}
	if neg {
		w, _ = w.Neg()
	}
	return w.Add(Decimal{0, frac})
}

// IsInt reports whether d has no fraction.
func (d Decimal) IsInt() bool {
	_, m := d.magnitude()
	_, frac, _ := div64([4]uint64{m.lo, m.hi}, one)
	return frac == 0
}

// Round returns d rounded half to even to the given number of fractional digits. Negative digits round to tens, hundreds
// and so on; 18 and more change nothing.
func (d Decimal) Round(digits int) (r Decimal, ok bool) {
	if digits >= DecimalDigits {
		return d, true
	}
	drop := DecimalDigits - digits
	if drop > 39 {
		return Decimal{}, true
	}
	neg, m := d.magnitude()
	unit := pow10(drop)
	if unit == (mag{}) { // 10^39 is above 2^128: half of it is above every Decimal
		return Decimal{}, true
	}
	q, rem, _ := div128([4]uint64{m.lo, m.hi}, unit)
	half := mag{unit.hi >> 1, unit.lo>>1 | unit.hi<<63}
	if c := rem.cmp(half); c > 0 || c == 0 && q.lo&1 == 1 {
		q = q.inc()
	}
	p := mul128(q, unit)
	if p[2] != 0 || p[3] != 0 {
		return Decimal{}, false
	}
	return fromMagnitude(neg, mag{p[1], p[0]})
}

// Float returns the float64 nearest to d.
func (d Decimal) Float() float64 {
	neg, m := d.magnitude()
	if m == (mag{}) {
		return 0
	}
	// Scale m so that the quotient by 10^18 has at least 64 bits, keep its upper 64 and note in the lowest whether
	// anything is below them: the conversion to float64 then rounds once.
	k := max(0, m.leadingZeros()-3)
	n := m.shiftLeft(k)
	q, rem, _ := div64([4]uint64{n.lo, n.hi}, one)
	down := 64 - (mag{q.hi, q.lo}).leadingZeros()
	top, rest := q.shiftRight(max(0, down))
	if rest || rem != 0 {
		top.lo |= 1
	}
	f := math.Ldexp(float64(top.lo), max(0, down)-k)
	if neg {
		return -f
	}
	return f
}
