package event

import "strconv"

// ParseDecimal reads a number as JSON writes it, or with a leading plus: "12", "-0.5", "1.5e3". It succeeds only if the
// number is exactly a Decimal: nothing is rounded.
func ParseDecimal[T string | []byte](s T) (d Decimal, ok bool) {
	if len(s) > 0 && s[0] == '+' {
		s = s[1:]
		if len(s) > 0 && s[0] == '-' {
			return Decimal{}, false
		}
	}
	p, ok := scanNumber(s)
	if !ok {
		return Decimal{}, false
	}
	d, exact, ok := p.decimal()
	return d, ok && exact
}

// String writes d with as few digits as are needed, never with an exponent: "12", "-0.5".
func (d Decimal) String() string {
	var buf [48]byte
	return string(d.AppendTo(buf[:0]))
}

// AppendTo appends what String returns to dst.
func (d Decimal) AppendTo(dst []byte) []byte {
	neg, m := d.magnitude()
	if neg {
		dst = append(dst, '-')
	}
	q, frac, _ := div64([4]uint64{m.lo, m.hi}, one)
	if q.hi == 0 {
		dst = strconv.AppendUint(dst, q.lo, 10)
	} else {
		top, rest, _ := div64([4]uint64{q.lo, q.hi}, one)
		dst = strconv.AppendUint(dst, top.lo, 10)
		dst = appendPadded(dst, rest)
	}
	if frac == 0 {
		return dst
	}
	dst = appendPadded(append(dst, '.'), frac)
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendPadded appends the 18 digits of u, which is below 10^18.
func appendPadded(dst []byte, u uint64) []byte {
	for p := uint64(one / 10); p > 0; p /= 10 {
		dst = append(dst, byte('0'+u/p%10))
	}
	return dst
}

// number is a scanned decimal numeral: its digits as a 128-bit integer times 10^exp.
type number struct {
	neg  bool
	m    mag
	exp  int
	lost int // what was cut off below m: 0 nothing, 1 less than half of m's unit, 2 half, 3 more
	over bool
}

// scanNumber reads [-]digits[.digits][e[+-]digits]. Leading zeros are let pass; who needs JSON's rule checks it himself.
func scanNumber[T string | []byte](s T) (n number, ok bool) {
	i := 0
	if i < len(s) && s[i] == '-' {
		n.neg = true
		i++
	}
	start := i
	for ; i < len(s) && isDigit(s[i]); i++ {
		n.digit(s[i], false)
	}
	if i == start {
		return n, false
	}
	if i < len(s) && s[i] == '.' {
		i++
		start = i
		for ; i < len(s) && isDigit(s[i]); i++ {
			n.digit(s[i], true)
		}
		if i == start {
			return n, false
		}
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		e, end := scanExponent(s, i+1)
		if end < 0 {
			return n, false
		}
		n.exp += e
		i = end
	}
	return n, i == len(s)
}

// scanExponent reads [+-]digits from i on. Exponents beyond all sense are cut at a million; end is -1 for none.
func scanExponent[T string | []byte](s T, i int) (e, end int) {
	neg := false
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		neg = s[i] == '-'
		i++
	}
	start := i
	for ; i < len(s) && isDigit(s[i]); i++ {
		if e < 1_000_000 {
			e = e*10 + int(s[i]-'0')
		}
	}
	if i == start {
		return 0, -1
	}
	if neg {
		e = -e
	}
	return e, i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digit takes one more digit. Once m is full the others only count for exp and lost.
func (n *number) digit(c byte, frac bool) {
	v := uint64(c - '0')
	p := mul128(n.m, mag{0, 10})
	grown := mag{p[1], p[0]}.add(v)
	if n.over || p[2] != 0 || grown.hi < p[1] {
		n.lostDigit(v)
		if !frac {
			n.exp++
		}
		n.over = true
		return
	}
	n.m = grown
	if frac {
		n.exp--
	}
}

// lostDigit notes the first digit cut off, and whether any later one is above zero.
func (n *number) lostDigit(v uint64) {
	if n.over {
		if v != 0 && n.lost&1 == 0 {
			n.lost++
		}
		return
	}
	switch {
	case v == 0:
		n.lost = 0
	case v < 5:
		n.lost = 1
	case v == 5:
		n.lost = 2
	default:
		n.lost = 3
	}
}

// decimal scales the digits to units of 10^-18, rounding half to even. exact is false when something was rounded, ok when
// the number is out of range.
func (n number) decimal() (d Decimal, exact, ok bool) {
	shift := n.exp + DecimalDigits
	switch {
	case n.m == (mag{}) && n.lost == 0:
		return Decimal{}, true, true
	case shift > 0 && n.over:
		return Decimal{}, false, false // m is above 2^128 / 10, and more digits follow before the unit
	case shift >= 0 && n.lost == 0:
		unit := pow10(shift)
		p := mul128(n.m, unit)
		if unit == (mag{}) || p[2] != 0 || p[3] != 0 {
			return Decimal{}, false, false
		}
		d, ok = fromMagnitude(n.neg, mag{p[1], p[0]})
		return d, true, ok
	}
	unit := pow10(-shift)
	if unit == (mag{}) {
		return Decimal{}, false, true // below half a unit
	}
	q, rem, _ := div128([4]uint64{n.m.lo, n.m.hi}, unit)
	half := mag{unit.hi >> 1, unit.lo>>1 | unit.hi<<63}
	c := rem.cmp(half)
	switch {
	case shift == 0:
		c = n.lost - 2
	case c == 0 && n.lost > 0:
		c = 1
	}
	if c > 0 || c == 0 && q.lo&1 == 1 {
		q = q.inc()
	}
	d, ok = fromMagnitude(n.neg, q)
	return d, rem == (mag{}) && n.lost == 0, ok
}
