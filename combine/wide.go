package combine

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// Wide integers are little-endian words in two's complement, as they stand in an accumulator.

// addWords adds the 128 bits (hi, lo), sign-extended, to the words at b.
func addWords(b []byte, lo, hi uint64) {
	sign := uint64(int64(hi) >> 63)
	w := lo
	var c uint64
	for i := 0; i+8 <= len(b); i += 8 {
		var s uint64
		s, c = bits.Add64(binary.LittleEndian.Uint64(b[i:]), w, c)
		binary.LittleEndian.PutUint64(b[i:], s)
		w = sign
		if i == 0 {
			w = hi
		}
	}
}

// subWords subtracts the 128 bits (hi, lo), sign-extended, from the words at b.
func subWords(b []byte, lo, hi uint64) {
	sign := uint64(int64(hi) >> 63)
	w := lo
	var c uint64
	for i := 0; i+8 <= len(b); i += 8 {
		var s uint64
		s, c = bits.Sub64(binary.LittleEndian.Uint64(b[i:]), w, c)
		binary.LittleEndian.PutUint64(b[i:], s)
		w = sign
		if i == 0 {
			w = hi
		}
	}
}

// addUnsigned adds the number w, least word first, to the words at b, or subtracts it. What of w is above b is zero.
func addUnsigned(b []byte, w [4]uint64, negate bool) {
	var c uint64
	for i := 0; i+8 <= len(b); i += 8 {
		var x, s uint64
		if i < 32 {
			x = w[i/8]
		}
		if negate {
			s, c = bits.Sub64(binary.LittleEndian.Uint64(b[i:]), x, c)
		} else {
			s, c = bits.Add64(binary.LittleEndian.Uint64(b[i:]), x, c)
		}
		binary.LittleEndian.PutUint64(b[i:], s)
	}
}

// square128 returns the square of the signed number (hi, lo), least word first.
func square128(hi int64, lo uint64) (w [4]uint64) {
	h := uint64(hi)
	if hi < 0 {
		var c uint64
		lo, c = bits.Sub64(0, lo, 0)
		h, _ = bits.Sub64(0, h, c)
	}
	var c uint64
	w[1], w[0] = bits.Mul64(lo, lo)
	w[3], w[2] = bits.Mul64(h, h)
	mid, low := bits.Mul64(h, lo)
	for range 2 {
		w[1], c = bits.Add64(w[1], low, 0)
		w[2], c = bits.Add64(w[2], mid, c)
		w[3] += c
	}
	return w
}

// addAll adds the words of o to those of b, which are as many, and returns the carry.
func addAll(b, o []byte) (c uint64) {
	for i := 0; i+8 <= len(b); i += 8 {
		var s uint64
		s, c = bits.Add64(binary.LittleEndian.Uint64(b[i:]), binary.LittleEndian.Uint64(o[i:]), c)
		binary.LittleEndian.PutUint64(b[i:], s)
	}
	return c
}

// fits128 reports whether the words at b are a 128-bit number, and returns it.
func fits128(b []byte) (hi int64, lo uint64, ok bool) {
	lo, hi = binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))
	for i := 16; i+8 <= len(b); i += 8 {
		if int64(binary.LittleEndian.Uint64(b[i:])) != hi>>63 {
			return 0, 0, false
		}
	}
	return hi, lo, true
}

// toBig returns the words at b as a big.Int.
func toBig(b []byte) *big.Int {
	n := len(b)
	be := make([]byte, n)
	for i := range b {
		be[n-1-i] = b[i]
	}
	z := new(big.Int).SetBytes(be)
	if n > 0 && be[0]&0x80 != 0 {
		z.Sub(z, new(big.Int).Lsh(big.NewInt(1), uint(8*n)))
	}
	return z
}
