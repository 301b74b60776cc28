package event

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var bigOne = new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil)

func toBig(d Decimal) *big.Int {
	b := new(big.Int).Lsh(big.NewInt(d.Hi), 64)
	return b.Add(b, new(big.Int).SetUint64(d.Lo))
}

func toRat(d Decimal) *big.Rat { return new(big.Rat).SetFrac(toBig(d), bigOne) }

// fromBig is the independent judge of what fits.
func fromBig(b *big.Int) (Decimal, bool) {
	limit := new(big.Int).Lsh(big.NewInt(1), 127)
	if b.Cmp(limit) >= 0 || b.Cmp(new(big.Int).Neg(limit)) < 0 {
		return Decimal{}, false
	}
	lo := new(big.Int).And(b, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return Decimal{Hi: new(big.Int).Rsh(b, 64).Int64(), Lo: lo}, true
}

// halfEven rounds r to a whole number.
func halfEven(r *big.Rat) *big.Int {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	c := new(big.Int).Lsh(m, 1).Cmp(r.Denom())
	if c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// decimals draws small, large, whole, fractional and extreme numbers.
func decimals() *rapid.Generator[Decimal] {
	return rapid.OneOf(
		rapid.Map(rapid.Int64(), func(i int64) Decimal { return DecimalFromInt(i) }),
		rapid.Custom(func(t *rapid.T) Decimal { return Decimal{Lo: rapid.Uint64().Draw(t, "lo")} }),
		rapid.Custom(func(t *rapid.T) Decimal {
			return Decimal{Hi: rapid.Int64().Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")}
		}),
		rapid.SampledFrom([]Decimal{{}, {0, 1}, {-1, math.MaxUint64}, {math.MaxInt64, math.MaxUint64}, {math.MinInt64, 0}, {0, one}, {0, one / 2}}),
	)
}

func sameDecimal(t *rapid.T, op string, got Decimal, ok bool, want *big.Int) {
	t.Helper()
	w, fits := fromBig(want)
	if ok != fits || ok && got != w {
		t.Fatalf("%s = %v, %v; want %v, %v", op, got, ok, w, fits)
	}
}

func TestDecimalAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := decimals().Draw(t, "a"), decimals().Draw(t, "b")
		ab, bb := toBig(a), toBig(b)
		s, ok := a.Add(b)
		sameDecimal(t, "add", s, ok, new(big.Int).Add(ab, bb))
		s, ok = a.Sub(b)
		sameDecimal(t, "sub", s, ok, new(big.Int).Sub(ab, bb))
		s, ok = a.Neg()
		sameDecimal(t, "neg", s, ok, new(big.Int).Neg(ab))
		s, ok = a.Mul(b)
		sameDecimal(t, "mul", s, ok, halfEven(new(big.Rat).SetFrac(new(big.Int).Mul(ab, bb), bigOne)))
		if a.Cmp(b) != ab.Cmp(bb) {
			t.Fatalf("cmp %v %v", a, b)
		}
		if bb.Sign() == 0 {
			return
		}
		s, ok = a.Div(b)
		sameDecimal(t, "div", s, ok, halfEven(new(big.Rat).SetFrac(new(big.Int).Mul(ab, bigOne), bb)))
		s, ok = a.Rem(b)
		sameDecimal(t, "rem", s, ok, new(big.Int).Rem(ab, bb))
	})
}

func TestDecimalRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, digits := decimals().Draw(t, "a"), rapid.IntRange(-23, 20).Draw(t, "digits")
		r, ok := a.Round(digits)
		if digits >= 18 {
			sameDecimal(t, "round", r, ok, toBig(a))
			return
		}
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(18-digits)), nil)
		q := halfEven(new(big.Rat).SetFrac(toBig(a), unit))
		sameDecimal(t, "round", r, ok, q.Mul(q, unit))
	})
}

func TestDecimalText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := decimals().Draw(t, "a")
		s := a.String()
		back, ok := ParseDecimal(s)
		if !ok || back != a {
			t.Fatalf("%q reads back as %v, %v", s, back, ok)
		}
		r, _ := new(big.Rat).SetString(s)
		if r == nil || r.Cmp(toRat(a)) != 0 || strings.Contains(s, ".") && strings.HasSuffix(s, "0") {
			t.Fatalf("%v is written as %q", toRat(a), s)
		}
	})
}

func TestParseDecimalAgainstBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`-?[0-9]{1,42}(\.[0-9]{1,42})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "s")
		r, _ := new(big.Rat).SetString(s)
		units := new(big.Rat).Mul(r, new(big.Rat).SetInt(bigOne))
		want, fits := Decimal{}, false
		if units.IsInt() {
			want, fits = fromBig(units.Num())
		}
		got, ok := ParseDecimal(s)
		if ok != fits || ok && got != want {
			t.Fatalf("%q = %v, %v; want %v, %v", s, got, ok, want, fits)
		}
		n, ok := scanNumber(s)
		if !ok {
			t.Fatalf("%q is not a number", s)
		}
		rounded, exact, ok := n.decimal()
		w, fits := fromBig(halfEven(units))
		if ok != fits || ok && (rounded != w || exact != units.IsInt()) {
			t.Fatalf("%q rounds to %v, %v, %v; want %v, %v, %v", s, rounded, exact, ok, w, units.IsInt(), fits)
		}
	})
}

func TestParseDecimalRefuses(t *testing.T) {
	for _, s := range []string{"", "-", "+", "+-1", ".5", "5.", "1e", "1e+", "1x", " 1", "0x1", "1.2.3", "1e1000000000000", "1e-19", "NaN"} {
		if d, ok := ParseDecimal(s); ok {
			t.Errorf("%q was read as %v", s, d)
		}
	}
	if d, ok := ParseDecimal([]byte("+0e999999999999")); !ok || d != (Decimal{}) {
		t.Errorf("zero with a large exponent: %v, %v", d, ok)
	}
}

func TestDecimalFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := decimals().Draw(t, "a")
		want, _ := toRat(a).Float64()
		if got := a.Float(); got != want {
			t.Fatalf("%v as a float is %v, want %v", a, got, want)
		}
		f := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1e20, 1e20), rapid.Just(want), rapid.Just(math.Nextafter(want, 1))).Draw(t, "f")
		written, _ := new(big.Rat).SetString(strconv.FormatFloat(f, 'e', -1, 64))
		if c := a.CmpFloat(f); c != toRat(a).Cmp(written) {
			t.Fatalf("%v against %v: %d", a, f, c)
		}
		units := new(big.Rat).Mul(written, new(big.Rat).SetInt(bigOne))
		floor, fits := fromBig(new(big.Int).Div(units.Num(), units.Denom()))
		if d, exact, ok := FloorFloat(f); ok != fits || ok && (d != floor || exact != units.IsInt()) {
			t.Fatalf("floor of %v: %v, %v, %v; want %v, %v, %v", f, d, exact, ok, floor, units.IsInt(), fits)
		}
	})
	if d, ok := DecimalFromFloat(0.1); !ok || d.String() != "0.1" {
		t.Errorf("0.1 became %v", d)
	}
	for _, f := range []float64{math.NaN(), math.Inf(1), 1e21, -1e300} {
		if d, ok := DecimalFromFloat(f); ok {
			t.Errorf("%v became %v", f, d)
		}
	}
	if c := DecimalFromInt(1).CmpFloat(math.Inf(-1)); c != 1 {
		t.Errorf("1 against -Inf: %d", c)
	}
}

func TestDecimalInt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := decimals().Draw(t, "a")
		q, m := new(big.Int).QuoRem(toBig(a), bigOne, new(big.Int))
		i, ok := a.Trunc()
		if ok != q.IsInt64() || ok && i != q.Int64() {
			t.Fatalf("%v truncates to %d, %v", a, i, ok)
		}
		if _, ok := a.Int(); ok != (q.IsInt64() && m.Sign() == 0) || a.IsInt() != (m.Sign() == 0) {
			t.Fatalf("%v whole: %v", a, ok)
		}
		hi, lo, frac := a.Split()
		back, ok := JoinDecimal(hi, lo, frac)
		if !ok || back != a || frac >= one {
			t.Fatalf("%v splits to %d, %d, %d and joins to %v, %v", a, hi, lo, frac, back, ok)
		}
	})
	if d := DecimalFromInt(math.MinInt64); d.String() != "-9223372036854775808" {
		t.Errorf("least int is %v", d)
	}
}
