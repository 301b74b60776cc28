package codec

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/wgate/wgate/event"
)

// A number is written as the greatest whole number that is not above it, and the rest:
//
//	whole, at least 0   80+n, then its n bytes, big endian, without leading zeros
//	whole, below 0      7f-n, then the n bytes of its magnitude, each inverted
//	no rest             00
//	rest                01, 8 bytes of units of 10^-18, then 00; or, where a float lies between two such units, 01 and the
//	                    8 bytes of the float
//	floats beyond all decimals: 10 (below) or f0 (above) and the 8 bytes of the float; f8 for what is not a number
//
// The bytes of a float are its bits, big endian, changed so that they sort as the floats do.
const (
	headLow     = 0x10
	headHigh    = 0xf0
	headNaN     = 0xf8
	headZero    = 0x80
	maxWhole    = 9 // bytes of a whole part
	restNone    = 0x00
	restDecimal = 0x01
)

func appendNumber(dst []byte, v event.Value) []byte {
	switch v.Kind {
	case event.Int:
		hi, lo := v.Int()>>63, uint64(v.Int())
		return append(appendWhole(dst, hi, lo), restNone)
	case event.Decimal128:
		return appendDecimal(dst, v.Decimal(), nil)
	}
	f := v.Float()
	d, exact, ok := event.FloorFloat(f)
	switch {
	case f != f:
		return append(dst, headNaN)
	case !ok && f < 0:
		return binary.BigEndian.AppendUint64(append(dst, headLow), ordered(f))
	case !ok:
		return binary.BigEndian.AppendUint64(append(dst, headHigh), ordered(f))
	case exact:
		return appendDecimal(dst, d, nil)
	}
	return appendDecimal(dst, d, &f)
}

// appendDecimal writes d or, if between is not nil, the float that lies between d and the next decimal.
func appendDecimal(dst []byte, d event.Decimal, between *float64) []byte {
	hi, lo, frac := d.Split()
	dst = appendWhole(dst, hi, lo)
	if frac == 0 && between == nil {
		return append(dst, restNone)
	}
	dst = binary.BigEndian.AppendUint64(append(dst, restDecimal), frac)
	if between == nil {
		return append(dst, 0)
	}
	return binary.BigEndian.AppendUint64(append(dst, 1), ordered(*between))
}

// appendWhole writes a 128-bit integer in two's complement that has at most 72 bits.
func appendWhole(dst []byte, hi int64, lo uint64) []byte {
	flip := byte(0)
	top := uint64(hi)
	if hi < 0 {
		flip = 0xff
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		top, _ = bits.Sub64(0, top, borrow)
	}
	n := (bits.Len64(lo) + 7) / 8
	if top != 0 {
		n = maxWhole
	}
	if flip == 0 {
		dst = append(dst, byte(headZero+n))
	} else {
		dst = append(dst, byte(headZero-1-n))
	}
	if n == maxWhole {
		dst = append(dst, byte(top)^flip)
	}
	for i := min(n, 8) - 1; i >= 0; i-- {
		dst = append(dst, byte(lo>>(8*i))^flip)
	}
	return dst
}

// readNumber is the reverse of appendNumber.
func readNumber(b []byte) (v event.Value, rest []byte, err error) {
	if len(b) == 0 {
		return v, nil, errKey
	}
	switch head := b[0]; head {
	case headNaN:
		return event.FloatValue(math.NaN()), b[1:], nil
	case headLow, headHigh:
		if len(b) < 9 {
			return v, nil, errKey
		}
		return event.FloatValue(unordered(binary.BigEndian.Uint64(b[1:]))), b[9:], nil
	}
	hi, lo, b, err := readWhole(b)
	if err != nil || len(b) == 0 {
		return v, nil, errKey
	}
	if b[0] == restNone {
		if hi == int64(lo)>>63 {
			return event.IntValue(int64(lo)), b[1:], nil
		}
		d, ok := event.JoinDecimal(hi, lo, 0)
		if !ok {
			return v, nil, errKey
		}
		return event.DecimalValue(d), b[1:], nil
	}
	if b[0] != restDecimal || len(b) < 10 {
		return v, nil, errKey
	}
	frac, more := binary.BigEndian.Uint64(b[1:]), b[9]
	b = b[10:]
	if more == 1 && len(b) >= 8 {
		return event.FloatValue(unordered(binary.BigEndian.Uint64(b))), b[8:], nil
	}
	d, ok := event.JoinDecimal(hi, lo, frac)
	if !ok || more != 0 || frac >= 1_000_000_000_000_000_000 {
		return v, nil, errKey
	}
	return event.DecimalValue(d), b, nil
}

func readWhole(b []byte) (hi int64, lo uint64, rest []byte, err error) {
	n, flip := int(b[0])-headZero, byte(0)
	if n < 0 {
		n, flip = headZero-1-int(b[0]), 0xff
	}
	if n > maxWhole || len(b) < 1+n {
		return 0, 0, nil, errKey
	}
	top := uint64(0)
	for _, c := range b[1 : 1+n] {
		top = top<<8 | lo>>56
		lo = lo<<8 | uint64(c^flip)
	}
	if flip != 0 {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		top, _ = bits.Sub64(0, top, borrow)
	}
	return int64(top), lo, b[1+n:], nil
}
