package combine

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/wgate/wgate/event"
)

// A total is an exact sum of numbers of any kinds:
//
//	flags u8 | n u64 | ints i128 | [decimals: n u64, i192] | [special: NaN, +Inf, -Inf, u64 each] | [floats: n u64, super]
//
// n is how many numbers there are, or how many of the kind. A section is there while it has a number: flags says so. 128
// bits take 2^64 ints, 192 bits 2^64 decimals.
const (
	totalInts  = 9
	totalHead  = 25
	decimalLen = 32
	specialLen = 24

	hasDecimal = 1
	hasSpecial = 2
	hasFloat   = 4
)

func totalInit(dst []byte) []byte { return append(dst, make([]byte, totalHead)...) }

func totalCount(t []byte) uint64 { return binary.LittleEndian.Uint64(t[1:]) }

// section returns where a section begins, and whether it is there.
func section(t []byte, which byte) (off int, ok bool) {
	off = totalHead
	if which > hasDecimal && t[0]&hasDecimal != 0 {
		off += decimalLen
	}
	if which > hasSpecial && t[0]&hasSpecial != 0 {
		off += specialLen
	}
	return off, t[0]&which != 0
}

// open makes a section if it is not there and returns where it begins.
func open(t []byte, which byte) ([]byte, int) {
	off, ok := section(t, which)
	if ok {
		return t, off
	}
	size := 8 + superHead
	switch which {
	case hasDecimal:
		size = decimalLen
	case hasSpecial:
		size = specialLen
	}
	t = append(t, make([]byte, size)...)
	copy(t[off+size:], t[off:])
	clear(t[off : off+size])
	t[0] |= which
	return t, off
}

// drop removes the size bytes of a section.
func drop(t []byte, which byte, off, size int) []byte {
	t[0] &^= which
	return append(t[:off], t[off+size:]...)
}

// totalAdd adds v, which is a number, and returns the grown total.
func totalAdd(t []byte, v event.Value) []byte {
	bump(t, 1, 1)
	switch v.Kind {
	case event.Int:
		addWords(t[totalInts:totalHead], uint64(v.Int()), uint64(v.Int()>>63))
	case event.Decimal128:
		var off int
		t, off = open(t, hasDecimal)
		bump(t, off, 1)
		d := v.Decimal()
		addWords(t[off+8:off+decimalLen], d.Lo, uint64(d.Hi))
	default:
		t = totalFloat(t, v.Float(), false)
	}
	return t
}

// totalSub takes v, which was added before, back out.
func totalSub(t []byte, v event.Value) []byte {
	bump(t, 1, ^uint64(0))
	switch v.Kind {
	case event.Int:
		subWords(t[totalInts:totalHead], uint64(v.Int()), uint64(v.Int()>>63))
	case event.Decimal128:
		var off int
		t, off = open(t, hasDecimal)
		bump(t, off, ^uint64(0))
		d := v.Decimal()
		subWords(t[off+8:off+decimalLen], d.Lo, uint64(d.Hi))
		if binary.LittleEndian.Uint64(t[off:]) == 0 {
			t = drop(t, hasDecimal, off, decimalLen)
		}
	default:
		t = totalFloat(t, v.Float(), true)
	}
	return t
}

// totalFloat adds or takes back a float. Infinities and NaN are counted, so that they can be taken back too.
func totalFloat(t []byte, f float64, back bool) []byte {
	n := uint64(1)
	if back {
		n = ^uint64(0)
	}
	var off int
	if special := specialOf(f); special >= 0 {
		t, off = open(t, hasSpecial)
		bump(t, off+8*special, n)
		if back && allZero(t[off:off+specialLen]) {
			t = drop(t, hasSpecial, off, specialLen)
		}
		return t
	}
	t, off = open(t, hasFloat)
	bump(t, off, n)
	if back && binary.LittleEndian.Uint64(t[off:]) == 0 {
		return drop(t, hasFloat, off, len(t)-off)
	}
	return superAdd(t, off+8, f, back)
}

func specialOf(f float64) int {
	switch {
	case math.IsNaN(f):
		return 0
	case math.IsInf(f, 1):
		return 1
	case math.IsInf(f, -1):
		return 2
	}
	return -1
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// totalMerge adds the total o to t.
func totalMerge(t, o []byte) []byte {
	bump(t, 1, totalCount(o))
	addAll(t[totalInts:totalHead], o[totalInts:totalHead])
	if from, ok := section(o, hasDecimal); ok {
		var off int
		t, off = open(t, hasDecimal)
		bump(t, off, binary.LittleEndian.Uint64(o[from:]))
		addAll(t[off+8:off+decimalLen], o[from+8:from+decimalLen])
	}
	if from, ok := section(o, hasSpecial); ok {
		var off int
		t, off = open(t, hasSpecial)
		for i := 0; i < specialLen; i += 8 {
			bump(t, off+i, binary.LittleEndian.Uint64(o[from+i:]))
		}
	}
	if from, ok := section(o, hasFloat); ok {
		var off int
		t, off = open(t, hasFloat)
		bump(t, off, binary.LittleEndian.Uint64(o[from:]))
		t = superMerge(t, off+8, o[from+8:])
	}
	return t
}

// totalSpecial returns the sum if an infinity or NaN decides it.
func totalSpecial(t []byte) (f float64, ok bool) {
	off, ok := section(t, hasSpecial)
	if !ok {
		return 0, false
	}
	at := func(i int) bool { return binary.LittleEndian.Uint64(t[off+8*i:]) != 0 }
	switch {
	case at(0) || at(1) && at(2):
		return math.NaN(), true
	case at(1):
		return math.Inf(1), true
	}
	return math.Inf(-1), true
}

var unit = new(big.Int).Exp(big.NewInt(10), big.NewInt(event.DecimalDigits), nil)

// exactUnits returns ints and decimals together in units of 10^-18.
func exactUnits(t []byte) *big.Int {
	z := toBig(t[totalInts:totalHead])
	z.Mul(z, unit)
	if off, ok := section(t, hasDecimal); ok {
		z.Add(z, toBig(t[off+8:off+decimalLen]))
	}
	return z
}

// totalRat returns the exact sum of all that is finite.
func totalRat(t []byte) *big.Rat {
	r := new(big.Rat).SetFrac(exactUnits(t), unit)
	if off, ok := section(t, hasFloat); ok {
		r.Add(r, superRat(t[off+8:]))
	}
	return r
}

// totalFloat64 returns the sum rounded once to a float.
func totalFloat64(t []byte) float64 {
	if f, ok := totalSpecial(t); ok {
		return f
	}
	off, ok := section(t, hasFloat)
	if ok && t[0] == hasFloat && allZero(t[totalInts:totalHead]) {
		return superFloat(t[off+8:])
	}
	f, _ := totalRat(t).Float64()
	return f
}

// totalDecimal returns the sum of ints and decimals if it fits a decimal.
func totalDecimal(t []byte) (event.Decimal, bool) {
	if off, ok := section(t, hasDecimal); ok && allZero(t[totalInts:totalHead]) {
		hi, lo, ok := fits128(t[off+8 : off+decimalLen])
		return event.Decimal{Hi: hi, Lo: lo}, ok
	}
	z := exactUnits(t)
	if z.BitLen() > 127 {
		return event.Decimal{}, false
	}
	neg := z.Sign() < 0
	if neg {
		z.Add(z, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	hi := new(big.Int).Rsh(z, 64)
	return event.Decimal{Hi: int64(hi.Uint64()), Lo: new(big.Int).And(z, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}, true
}
