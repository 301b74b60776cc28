package event

import (
	"math"
	"math/bits"
)

// mag is an unsigned 128-bit number: the magnitude of a Decimal in units of 10^-18.
type mag struct{ hi, lo uint64 }

func (d Decimal) magnitude() (neg bool, m mag) {
	m = mag{uint64(d.Hi), d.Lo}
	if d.Hi < 0 {
		return true, m.neg()
	}
	return false, m
}

// fromMagnitude fails where the number is outside [-2^127, 2^127).
func fromMagnitude(neg bool, m mag) (Decimal, bool) {
	if neg {
		n := m.neg()
		return Decimal{int64(n.hi), n.lo}, m.hi < 1<<63 || m == mag{1 << 63, 0}
	}
	return Decimal{int64(m.hi), m.lo}, m.hi < 1<<63
}

func (m mag) neg() mag {
	lo, borrow := bits.Sub64(0, m.lo, 0)
	hi, _ := bits.Sub64(0, m.hi, borrow)
	return mag{hi, lo}
}

func (m mag) add(u uint64) mag {
	lo, carry := bits.Add64(m.lo, u, 0)
	return mag{m.hi + carry, lo}
}

func (m mag) inc() mag { return m.add(1) }

func (m mag) cmp(o mag) int {
	switch {
	case m == o:
		return 0
	case m.hi < o.hi || m.hi == o.hi && m.lo < o.lo:
		return -1
	}
	return 1
}

// cmpNumber compares m units of 10^-18 with the magnitude of n, of which nothing was cut off.
func (m mag) cmpNumber(n number) int {
	a, b := m, n.m
	up := n.exp + DecimalDigits // bring both to the smaller unit
	if up < 0 {
		a, b, up = b, a, -up
	}
	unit := pow10(up)
	p := mul128(b, unit)
	c := 0
	switch {
	case b == mag{}:
		c = a.cmp(b)
	case unit == mag{} || p[2] != 0 || p[3] != 0:
		c = -1
	default:
		c = a.cmp(mag{p[1], p[0]})
	}
	if n.exp+DecimalDigits < 0 {
		return -c
	}
	return c
}

// shiftRight returns m / 2^n rounded down, and whether something was cut off.
func (m mag) shiftRight(n int) (q mag, rest bool) {
	switch {
	case n >= 128:
		return mag{}, m != mag{}
	case n >= 64:
		q = mag{0, m.hi >> (n - 64)}
		return q, m.lo != 0 || m.hi<<(128-n) != 0
	}
	q = mag{m.hi >> n, m.lo>>n | m.hi<<(64-n)}
	return q, m.lo<<(64-n) != 0
}

func (m mag) shiftLeft(n int) mag {
	if n >= 64 {
		return mag{m.lo << (n - 64), 0}
	}
	return mag{m.hi<<n | m.lo>>(64-n), m.lo << n}
}

func (m mag) leadingZeros() int {
	if m.hi == 0 {
		return 64 + bits.LeadingZeros64(m.lo)
	}
	return bits.LeadingZeros64(m.hi)
}

// mul128 returns a * b, least word first.
func mul128(a, b mag) (p [4]uint64) {
	var c uint64
	h00, l00 := bits.Mul64(a.lo, b.lo)
	h01, l01 := bits.Mul64(a.lo, b.hi)
	h10, l10 := bits.Mul64(a.hi, b.lo)
	h11, l11 := bits.Mul64(a.hi, b.hi)
	p[0] = l00
	p[1], c = bits.Add64(h00, l01, 0)
	p[2], c = bits.Add64(h01, l11, c)
	p[3] = h11 + c
	p[1], c = bits.Add64(p[1], l10, 0)
	p[2], c = bits.Add64(p[2], h10, c)
	p[3] += c
	return p
}

// div64 divides n by d; it fails when the quotient does not fit 128 bits.
func div64(n [4]uint64, d uint64) (q mag, rem uint64, ok bool) {
	if n[3] != 0 || n[2] >= d {
		return mag{}, 0, false
	}
	rem = n[2]
	q.hi, rem = bits.Div64(rem, n[1], d)
	q.lo, rem = bits.Div64(rem, n[0], d)
	return q, rem, true
}

// div128 divides n, whose highest word must be zero, by d, which must not; it fails when the quotient does not fit 128
// bits. It is the schoolbook method on words (Knuth, TAOCP volume 2, 4.3.1, algorithm D).
func div128(n [4]uint64, d mag) (q, rem mag, ok bool) {
	if d.hi == 0 {
		qq, r, ok := div64(n, d.lo)
		return qq, mag{0, r}, ok
	}
	s := bits.LeadingZeros64(d.hi)
	dh, dl := d.hi<<s|d.lo>>1>>(63-s), d.lo<<s
	var u [4]uint64 // n shifted by s
	u[3] = n[2] >> 1 >> (63 - s)
	u[2] = n[2]<<s | n[1]>>1>>(63-s)
	u[1] = n[1]<<s | n[0]>>1>>(63-s)
	u[0] = n[0] << s
	if u[3] > dh || u[3] == dh && u[2] >= dl {
		return mag{}, mag{}, false
	}
	var r mag
	q.hi, r = div3by2(u[3], u[2], u[1], dh, dl)
	q.lo, r = div3by2(r.hi, r.lo, u[0], dh, dl)
	rem, _ = r.shiftRight(s)
	return q, rem, true
}

// div3by2 divides the three words u2 u1 u0 by the two words dh dl; the top bit of dh is set and u2 u1 is below dh dl.
func div3by2(u2, u1, u0, dh, dl uint64) (q uint64, r mag) {
	var rh, over uint64
	if u2 >= dh {
		q = math.MaxUint64
		rh, over = bits.Add64(u1, dh, 0) // u2 == dh here: u1 + dh is what is left above u0
	} else {
		q, rh = bits.Div64(u2, u1, dh)
	}
	ph, pl := bits.Mul64(q, dl)
	for over == 0 && (ph > rh || ph == rh && pl > u0) {
		q--
		ph, pl = bits.Mul64(q, dl)
		rh, over = bits.Add64(rh, dh, 0)
	}
	lo, borrow := bits.Sub64(u0, pl, 0)
	hi, _ := bits.Sub64(rh, ph, borrow)
	return q, mag{hi, lo}
}

// pow10 returns 10^n, or 0 if that is above 2^128.
func pow10(n int) mag {
	if n > 38 {
		return mag{}
	}
	p := mag{0, 1}
	for ; n >= 18; n -= 18 {
		w := mul128(p, mag{0, one})
		p = mag{w[1], w[0]}
	}
	small := uint64(1)
	for ; n > 0; n-- {
		small *= 10
	}
	w := mul128(p, mag{0, small})
	return mag{w[1], w[0]}
}
