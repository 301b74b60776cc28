package main

import (
	"encoding/binary"
	"math"

	wgate "github.com/wgate/wgate/plugins/sdk-go"
)

// An accumulator of spread is a byte, 1 if it holds anything, and then the smallest and the largest number, 8 bytes each.

func addSpread(acc []byte, args *wgate.Args) []byte {
	if args.IsNull(0) {
		return acc
	}
	v, ok := args.Float(0)
	if !ok {
		args.Fail("no_number", "the value must be a number")
		return acc
	}
	return widen(acc, v, v)
}

func mergeSpread(acc, other []byte) []byte {
	if other[0] == 0 {
		return acc
	}
	return widen(acc, at(other, 1), at(other, 9))
}

func widen(acc []byte, lo, hi float64) []byte {
	if acc[0] == 0 {
		acc = append(acc[:0], 1)
		acc = binary.LittleEndian.AppendUint64(acc, math.Float64bits(lo))
		return binary.LittleEndian.AppendUint64(acc, math.Float64bits(hi))
	}
	if lo < at(acc, 1) {
		binary.LittleEndian.PutUint64(acc[1:], math.Float64bits(lo))
	}
	if hi > at(acc, 9) {
		binary.LittleEndian.PutUint64(acc[9:], math.Float64bits(hi))
	}
	return acc
}

func at(acc []byte, i int) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(acc[i:])) }

// spread gives an object; it is null over nothing.
func spread(acc []byte, out *wgate.Result) {
	if acc[0] == 0 {
		return
	}
	b := append([]byte(nil), `{"min":`...)
	b = wgate.AppendFloat(b, at(acc, 1))
	b = append(b, `,"max":`...)
	b = wgate.AppendFloat(b, at(acc, 9))
	out.JSON(append(b, '}'))
}
