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
