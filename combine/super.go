package combine

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
)

// A super is the exact sum of floats: a fixed-point number in units of 2^-1074, the least float above zero. Of its words
// (64 bits each, two's complement, word i has the weight 2^(64i-1074)) only a window is kept: from the lowest word that a
// summand touched to one word above the highest, so that the carries of 2^64 summands have room. The window depends on
// the summands alone, not on their order, so equal sums have equal bytes.
//
//	lo u8 | n u8 | n words, least first
//
// It is Kulisch's long accumulator (Kulisch, "Computer Arithmetic and Validity", chapter 8), cut to what is in use.
const superHead = 2

// superAdd adds f, or subtracts it, and returns the grown bytes; acc[off:] is a super. f is finite.
func superAdd(acc []byte, off int, f float64, negate bool) []byte {
	b := math.Float64bits(f)
	m, p := b&(1<<52-1), int(b>>52&0x7FF)
	if p > 0 {
		m |= 1 << 52
		p--
	}
	word, sh := p>>6, uint(p&63)
	acc = superFit(acc, off, word, word+3)
	at := off + superHead + 8*(word-int(acc[off]))
	lo, hi := m<<sh, m>>1>>(63-sh)
	if (b>>63 != 0) != negate {
		subWords(acc[at:], lo, hi)
	} else {
		addWords(acc[at:], lo, hi)
	}
	return acc
}

// superFit widens the window of the super at acc[off:] to the words [from, to).
func superFit(acc []byte, off, from, to int) []byte {
	lo, n := int(acc[off]), int(acc[off+1])
	if n > 0 && lo <= from && to <= lo+n {
		return acc
	}
	if n == 0 {
		acc = append(acc, make([]byte, 8*(to-from))...)
		acc[off], acc[off+1] = byte(from), byte(to-from)
		return acc
	}
	if more := to - lo - n; more > 0 {
		fill := byte(0)
		if acc[len(acc)-1]&0x80 != 0 {
			fill = 0xFF
		}
		for range 8 * more {
			acc = append(acc, fill)
		}
		n += more
	}
	if more := lo - from; more > 0 {
		acc = append(acc, make([]byte, 8*more)...)
		copy(acc[off+superHead+8*more:], acc[off+superHead:])
		clear(acc[off+superHead : off+superHead+8*more])
		lo, n = from, n+more
	}
	acc[off], acc[off+1] = byte(lo), byte(n)
	return acc
}

// superMerge adds the super o to that at acc[off:].
func superMerge(acc []byte, off int, o []byte) []byte {
	if o[1] == 0 {
		return acc
	}
	from, to := int(o[0]), int(o[0])+int(o[1])
	acc = superFit(acc, off, from, to)
	at := off + superHead + 8*(from-int(acc[off]))
	words := acc[at:]
	c := addAll(words[:len(o)-superHead], o[superHead:])
	// Carry and sign of o go on through the words above it.
	sign := uint64(0)
	if o[len(o)-1]&0x80 != 0 {
		sign = ^uint64(0)
	}
	for i := len(o) - superHead; i < len(words); i += 8 {
		var s uint64
		s, c = bits.Add64(binary.LittleEndian.Uint64(words[i:]), sign, c)
		binary.LittleEndian.PutUint64(words[i:], s)
	}
	return acc
}

// superFloat returns the float64 nearest to the super, ties to even; infinite if it is out of range.
func superFloat(s []byte) float64 {
	lo, n := int(s[0]), int(s[1])
	var buf [40]uint64
	w := buf[:n]
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(s[superHead+8*i:])
	}
	neg := n > 0 && int64(w[n-1]) < 0
	if neg {
		c := uint64(1)
		for i := range w {
			w[i], c = bits.Add64(^w[i], 0, c)
		}
	}
	f := nearest(w, lo*64-1074)
	if neg {
		return -f
	}
	return f
}

// nearest returns the float64 nearest to the words w, unsigned, times 2^exp.
func nearest(w []uint64, exp int) float64 {
	n := len(w)
	for n > 0 && w[n-1] == 0 {
		n--
	}
	if n == 0 {
		return 0
	}
	top := w[n-1]
	if n == 1 { // all bits are here; a float64 takes the number with one rounding
		return math.Ldexp(float64(top), exp)
	}
	// The 64 highest bits, the lowest of which says whether anything is below: rounding these to 53 rounds all once.
	z := uint(bits.LeadingZeros64(top))
	h := top<<z | w[n-2]>>1>>(63-z)
	rest := w[n-2] << z
	for _, x := range w[:n-2] {
		rest |= x
	}
	if rest != 0 {
		h |= 1
	}
	return math.Ldexp(float64(h), exp+64*(n-1)-int(z))
}

// superRat returns the super as a fraction.
func superRat(s []byte) *big.Rat { return superScaled(s, -1074) }

// superScaled is superRat for words in units of 2^unit.
func superScaled(s []byte, unit int) *big.Rat {
	z := toBig(s[superHead:])
	if e := int(s[0])*64 + unit; e >= 0 {
		z.Lsh(z, uint(e))
	} else {
		return new(big.Rat).SetFrac(z, new(big.Int).Lsh(big.NewInt(1), uint(-e)))
	}
	return new(big.Rat).SetInt(z)
}
