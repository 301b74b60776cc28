package combine

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"github.com/wgate/wgate/event"
)

// Squares are the exact sum of the squares of numbers of any kinds:
//
//	flags u8 | of ints u192 | [of decimals, in units of 10^-36, u320] | [of floats: a super in units of 2^-2148]
//
// Flags are those of a total, which stands beside it. 192 bits take the squares of 2^64 ints, 320 those of 2^64 decimals.
const (
	squareInts    = 1
	squareHead    = 25
	squareDecimal = 40
)

// squaresAdd adds the square of v to acc[off:], which are squares and the end of acc, or takes it back. It returns the
// grown bytes.
func squaresAdd(acc []byte, off int, v event.Value, back bool) []byte {
	switch v.Kind {
	case event.Int:
		x := v.Int()
		addUnsigned(acc[off+squareInts:off+squareHead], square128(x>>63, uint64(x)), back)
	case event.Decimal128:
		var at int
		acc, at = openSquares(acc, off, hasDecimal)
		d := v.Decimal()
		addUnsigned(acc[at:at+squareDecimal], square128(d.Hi, d.Lo), back)
	default:
		f := v.Float()
		if specialOf(f) >= 0 {
			return acc
		}
		var at int
		acc, at = openSquares(acc, off, hasFloat)
		b := math.Float64bits(f)
		m, p := b&(1<<52-1), int(b>>52&0x7FF)
		if p > 0 {
			m |= 1 << 52
			p--
		}
		word, sh := 2*p>>6, uint(2*p&63)
		acc = superFit(acc, at, word, word+4)
		hi, lo := bits.Mul64(m, m)
		words := acc[at+superHead+8*(word-int(acc[at])):]
		addUnsigned(words, [4]uint64{lo << sh, hi<<sh | lo>>1>>(63-sh), hi >> 1 >> (63 - sh)}, back)
	}
	return acc
}

// openSquares makes a section of the squares at acc[off:] if it is not there, and returns where it begins.
func openSquares(acc []byte, off int, which byte) ([]byte, int) {
	at := off + squareHead
	if which == hasFloat && acc[off]&hasDecimal != 0 {
		at += squareDecimal
	}
	if acc[off]&which != 0 {
		return acc, at
	}
	size := superHead
	if which == hasDecimal {
		size = squareDecimal
	}
	acc = append(acc, make([]byte, size)...)
	copy(acc[at+size:], acc[at:])
	clear(acc[at : at+size])
	acc[off] |= which
	return acc, at
}

// squaresKeep drops the sections that flags, those of the total, do not have.
func squaresKeep(acc []byte, off int, flags byte) []byte {
	if acc[off]&hasFloat&^flags != 0 {
		_, at := openSquares(acc, off, hasFloat)
		acc = acc[:at]
		acc[off] &^= hasFloat
	}
	if acc[off]&hasDecimal&^flags != 0 {
		_, at := openSquares(acc, off, hasDecimal)
		acc = append(acc[:at], acc[at+squareDecimal:]...)
		acc[off] &^= hasDecimal
	}
	return acc
}

// squaresMerge adds the squares o to those at acc[off:].
func squaresMerge(acc []byte, off int, o []byte) []byte {
	addAll(acc[off+squareInts:off+squareHead], o[squareInts:squareHead])
	var at, from int
	if o[0]&hasDecimal != 0 {
		acc, at = openSquares(acc, off, hasDecimal)
		_, from = openSquares(o, 0, hasDecimal)
		addAll(acc[at:at+squareDecimal], o[from:from+squareDecimal])
	}
	if o[0]&hasFloat != 0 {
		acc, at = openSquares(acc, off, hasFloat)
		_, from = openSquares(o, 0, hasFloat)
		acc = superMerge(acc, at, o[from:])
	}
	return acc
}

var unitSquare = new(big.Int).Mul(unit, unit)

// squaresRat returns the squares q as a fraction.
func squaresRat(q []byte) *big.Rat {
	z := unsignedBig(q[squareInts:squareHead])
	if q[0] == 0 {
		return new(big.Rat).SetInt(z)
	}
	z.Mul(z, unitSquare)
	if q[0]&hasDecimal != 0 {
		_, at := openSquares(q, 0, hasDecimal)
		z.Add(z, unsignedBig(q[at:at+squareDecimal]))
	}
	r := new(big.Rat).SetFrac(z, unitSquare)
	if q[0]&hasFloat != 0 {
		_, at := openSquares(q, 0, hasFloat)
		r.Add(r, superScaled(q[at:], -2148))
	}
	return r
}

func unsignedBig(b []byte) *big.Int {
	z := toBig(b)
	if z.Sign() < 0 {
		z.Add(z, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return z
}

// spread is variance(x) and stddev(x), of a sample: the sum of the squared distances from the mean, divided by one less
// than there are. Both are floats, rounded once from the exact result, and null over less than two numbers. The
// accumulator is
//
//	length of the total u32 | total | squares
type spread struct {
	plain
	root bool
}

func newVariance(event.Type) Func { return spread{plain{"variance", numbers}, false} }

func newStddev(event.Type) Func { return spread{plain{"stddev", numbers}, true} }

func (spread) Init(dst []byte) []byte {
	dst = totalInit(binary.LittleEndian.AppendUint32(dst, totalHead))
	return append(dst, make([]byte, squareHead)...)
}

func (s spread) Add(accs [][]byte, p *Batch) {
	for i, g := range p.Groups {
		if v := p.Args[p.Rows[i]]; v.Kind > event.Null {
			acc := accs[g]
			acc = withTotal(acc, totalAdd(totalOf(acc), v))
			accs[g] = squaresAdd(acc, squaresAt(acc), v, false)
		}
	}
}

func (s spread) Uncombine(accs [][]byte, p *Batch) bool {
	for i, g := range p.Groups {
		if v := p.Args[p.Rows[i]]; v.Kind > event.Null {
			acc := accs[g]
			acc = withTotal(acc, totalSub(totalOf(acc), v))
			acc = squaresAdd(acc, squaresAt(acc), v, true)
			accs[g] = squaresKeep(acc, squaresAt(acc), totalOf(acc)[0])
		}
	}
	return true
}

func (spread) Merge(acc, other []byte) []byte {
	acc = withTotal(acc, totalMerge(totalOf(acc), totalOf(other)))
	return squaresMerge(acc, squaresAt(acc), other[squaresAt(other):])
}

// squaresAt returns where the squares begin.
func squaresAt(acc []byte) int { return 4 + int(binary.LittleEndian.Uint32(acc)) }

// totalOf returns the total of acc. What is appended to it does not touch acc.
func totalOf(acc []byte) []byte {
	n := squaresAt(acc)
	return acc[4:n:n]
}

// withTotal makes t, to which totalOf(acc) has grown or shrunk, the total of acc.
func withTotal(acc, t []byte) []byte {
	old := squaresAt(acc)
	at := 4 + len(t)
	switch {
	case at > old:
		acc = append(acc, make([]byte, at-old)...)
		copy(acc[at:], acc[old:])
	case at < old:
		acc = append(acc[:at], acc[old:]...)
	}
	copy(acc[4:at], t)
	binary.LittleEndian.PutUint32(acc, uint32(len(t)))
	return acc
}

func (s spread) Extract(acc []byte, _ *event.Heap) event.Value {
	t := totalOf(acc)
	n := totalCount(t)
	if n < 2 {
		return event.NullValue()
	}
	if _, ok := totalSpecial(t); ok {
		return event.FloatValue(math.NaN())
	}
	whole := func(u uint64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(u)) }
	sum := totalRat(t)
	r := squaresRat(acc[squaresAt(acc):])
	r.Sub(r, sum.Quo(sum.Mul(sum, sum), whole(n)))
	r.Quo(r, whole(n-1))
	if s.root {
		return event.FloatValue(rootOf(r))
	}
	f, _ := r.Float64()
	return event.FloatValue(f)
}

// rootOf returns the float64 nearest to the square root of r, which is not negative; ties to even.
func rootOf(r *big.Rat) float64 {
	if r.Sign() == 0 {
		return 0
	}
	x := new(big.Float).SetPrec(256).SetRat(r)
	f, _ := x.Sqrt(x).Float64()
	if math.IsInf(f, 0) {
		return f
	}
	// x is not exact. Where it lies so near to the middle of two floats that this may decide, the squares of the middles do.
	middle := func(a, b float64) *big.Rat {
		m := new(big.Rat).Add(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
		m.Quo(m, big.NewRat(2, 1))
		return m.Mul(m, m)
	}
	if up := math.Nextafter(f, math.Inf(1)); !math.IsInf(up, 0) && r.Cmp(middle(f, up)) > 0 {
		return up
	}
	if down := math.Nextafter(f, 0); r.Cmp(middle(down, f)) < 0 {
		return down
	}
	return f
}
