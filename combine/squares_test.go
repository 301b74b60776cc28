package combine

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

// exactVariance computes the variance of what is no null as the definition has it; nil if a value is not finite or there
// are less than two.
func exactVariance(vals []event.Value) *big.Rat {
	var xs []*big.Rat
	sum := new(big.Rat)
	for _, v := range vals {
		if v.IsNull() {
			continue
		}
		r := ratOf(v)
		if r == nil {
			return nil
		}
		xs = append(xs, r)
		sum.Add(sum, r)
	}
	if len(xs) < 2 {
		return nil
	}
	mean := sum.Quo(sum, new(big.Rat).SetInt64(int64(len(xs))))
	total := new(big.Rat)
	for _, x := range xs {
		d := new(big.Rat).Sub(x, mean)
		total.Add(total, d.Mul(d, d))
	}
	return total.Quo(total, new(big.Rat).SetInt64(int64(len(xs)-1)))
}

// TestVarianceExact compares variances with the definition, in rationals.
func TestVarianceExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vals := rapid.SliceOfN(rapid.Custom(drawNumber), 0, 12).Draw(t, "vals")
		exact := exactVariance(vals)
		if exact == nil {
			return
		}
		h := new(event.Heap)
		f := newVariance(event.Any)
		acc := fold(f, h, vals...)
		want, _ := exact.Float64()
		if got := f.Extract(acc, h).Float(); got != want {
			t.Fatalf("variance is %g, want %g", got, want)
		}
		if got := newStddev(event.Any).Extract(acc, h).Float(); !nearestRoot(got, exact) {
			t.Fatalf("%g is not the float nearest to the square root of %s", got, exact.FloatString(30))
		}
	})
}

// nearestRoot reports whether f is the float nearest to the square root of r: the square root lies between the middles of f
// and its neighbours.
func nearestRoot(f float64, r *big.Rat) bool {
	if math.IsInf(f, 1) {
		return r.Cmp(new(big.Rat).SetFloat64(math.MaxFloat64)) > 0
	}
	square := func(a, b float64) *big.Rat {
		m := new(big.Rat).Add(new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b))
		m.Mul(m, big.NewRat(1, 2))
		return m.Mul(m, m)
	}
	if up := math.Nextafter(f, math.Inf(1)); !math.IsInf(up, 1) && r.Cmp(square(f, up)) > 0 {
		return false
	}
	return f == 0 || r.Cmp(square(math.Nextafter(f, 0), f)) >= 0
}

// TestTakeBack takes some elements back out of every function that can: the rest gives what it would have given alone.
func TestTakeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := new(event.Heap)
		name := rapid.SampledFrom(InvertibleNames()).Draw(t, "func")
		f := mustFunc(&testing.T{}, name, event.Any)
		draw := func(label string) (vals []event.Value) {
			for range rapid.IntRange(0, 8).Draw(t, label) {
				v := drawValue(t, h)
				if rapid.Bool().Draw(t, "number") {
					v = drawNumber(t)
				}
				if !f.Takes(v.Kind) {
					v = event.NullValue()
				}
				vals = append(vals, v)
			}
			return vals
		}
		stay, gone := draw("stay"), draw("gone")
		accs := [][]byte{fold(f, h, append(append([]event.Value(nil), stay...), gone...)...)}
		if !f.Uncombine(accs, batchOf(h, gone)) {
			t.Fatalf("%s cannot be taken back", name)
		}
		want, got := f.Extract(fold(f, h, stay...), h), f.Extract(accs[0], h)
		if want.Kind != got.Kind || show(h, want) != show(h, got) {
			t.Fatalf("%s: got %s, want %s", name, show(h, got), show(h, want))
		}
		if len(stay) == 0 && name != "sum" && name != "mean" && name != "variance" && name != "stddev" && !bytes.Equal(accs[0], f.Init(nil)) {
			t.Fatalf("%s: %x is left of nothing", name, accs[0])
		}
	})
}
