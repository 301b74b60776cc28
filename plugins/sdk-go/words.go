package wgate

import (
	"math/bits"
	"unsafe"
)

// The functions of this file work on eight bytes at a time, without loops, and are small enough to be inlined. In the
// WebAssembly that Go makes a turn of a loop costs 5 ns and a call 16, while everything else is nearly free.

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

func load8(p unsafe.Pointer, i uint) uint64 { return *(*uint64)(unsafe.Add(p, i)) }

func load4(p unsafe.Pointer, i uint) uint32 { return *(*uint32)(unsafe.Add(p, i)) }

func load1(p unsafe.Pointer, i uint) uint64 { return uint64(*(*byte)(unsafe.Add(p, i))) }

func store8(p unsafe.Pointer, i uint, w uint64) { *(*uint64)(unsafe.Add(p, i)) = w }

// word returns bytes [i, i+8) of the n bytes at p, i < n, n >= 8; what lies behind the end is 0.
func word(p unsafe.Pointer, i, n uint) uint64 {
	if i+8 <= n {
		return load8(p, i)
	}
	return load8(p, n-8) >> (8 * (i + 8 - n) & 63)
}

// short returns the n bytes at p, 1 <= n < 8, as a word; the rest of it is 0.
func short(p unsafe.Pointer, n uint) uint64 {
	if n >= 4 {
		return uint64(load4(p, 0)) | uint64(load4(p, n-4))<<(8*(n-4)&63)
	}
	return load1(p, 0) | load1(p, n>>1)<<(8*(n>>1)&63) | load1(p, n-1)<<(8*(n-1)&63)
}

// special marks, by their high bits, the bytes of w that end a run of plain text inside a JSON string: quote, backslash,
// control characters. Above the lowest mark there may be wrong ones.
func special(w uint64) uint64 {
	q := w ^ '"'*ones
	b := w ^ '\\'*ones
	return ((w-' '*ones)&^w | (q-ones)&^q | (b-ones)&^b) & highs
}

// lowest returns the index of the lowest byte that is marked in m, 8 if none is.
func lowest(m uint64) uint { return uint(bits.TrailingZeros64(m)) >> 3 }

// nonDigits marks the bytes of w that are no decimal digits, where digits is w with each digit's value in its byte.
func nonDigits(w uint64) (marks, digits uint64) {
	d := w ^ '0'*ones
	return (d + 0x76*ones | d) & highs, d
}

// digitValue returns the number whose decimal digits are the low n bytes of d, 1 <= n <= 8, most significant first.
func digitValue(d uint64, n uint) uint64 {
	d <<= (64 - 8*n) & 63
	d = d*10 + d>>8
	return ((d&0x000000ff000000ff)*(100+1000000<<32) + (d>>16&0x000000ff000000ff)*(1+10000<<32)) >> 32
}

// eightDigits returns v, which is below 1e8, as eight digit values, the most significant in the lowest byte. (P. Khuong,
// "How to print integers really fast".)
func eightDigits(v uint64) uint64 {
	high := v * 3518437209 >> 45 // v / 10000
	merged := high | (v-10000*high)<<32
	top := merged * 10486 >> 20 & (0x7f<<32 | 0x7f)
	hundreds := (merged-100*top)<<16 + top
	tens := hundreds * 103 >> 10 & 0x000f000f000f000f
	return tens + (hundreds-10*tens)<<8
}

var pow10 = [...]uint64{1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// copyText copies n bytes from src to dst, which do not overlap. For short texts it spares the call of memmove.
func copyText(dst, src unsafe.Pointer, n uint) {
	switch {
	case n > 32:
		copy(unsafe.Slice((*byte)(dst), n), unsafe.Slice((*byte)(src), n))
	case n > 16:
		store8(dst, 0, load8(src, 0))
		store8(dst, 8, load8(src, 8))
		store8(dst, n-16, load8(src, n-16))
		store8(dst, n-8, load8(src, n-8))
	case n >= 8:
		store8(dst, 0, load8(src, 0))
		store8(dst, n-8, load8(src, n-8))
	case n >= 4:
		*(*uint32)(dst) = load4(src, 0)
		*(*uint32)(unsafe.Add(dst, n-4)) = load4(src, n-4)
	case n > 0:
		*(*byte)(dst) = byte(load1(src, 0))
		*(*byte)(unsafe.Add(dst, n>>1)) = byte(load1(src, n>>1))
		*(*byte)(unsafe.Add(dst, n-1)) = byte(load1(src, n-1))
	}
}
