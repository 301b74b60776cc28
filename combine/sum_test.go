package combine

import (
	"bytes"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

func mustFunc(t testing.TB, name string, arg event.Type) Func {
	t.Helper()
	sig, ok := Lookup(name)
	if !ok {
		t.Fatalf("there is no function %s", name)
	}
	f, err := sig.New([]event.Type{arg})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fold adds vals to a new accumulator of f, all at time 0.
func fold(f Func, h *event.Heap, vals ...event.Value) []byte {
	accs := [][]byte{f.Init(nil)}
	f.Add(accs, batchOf(h, vals))
	return accs[0]
}

func batchOf(h *event.Heap, vals []event.Value) *Batch {
	p := &Batch{Args: vals, Times: make([]event.Time, len(vals)), Heap: h}
	for i := range vals {
		p.Groups = append(p.Groups, 0)
		p.Rows = append(p.Rows, int32(i))
	}
	return p
}

func dec(t testing.TB, s string) event.Value {
	t.Helper()
	d, ok := event.ParseDecimal(s)
	if !ok {
		t.Fatalf("%q is not a decimal", s)
	}
	return event.DecimalValue(d)
}

func TestSum(t *testing.T) {
	i, f := event.IntValue, event.FloatValue
	null := event.NullValue()
	cases := []struct {
		name string
		fn   string
		arg  event.Type
		vals []event.Value
		want event.Value
	}{
		{"nothing", "sum", event.Any, nil, i(0)},
		{"nothing, declared decimal", "sum", event.Of(event.Decimal128), nil, dec(t, "0")},
		{"nothing, declared float", "sum", event.Of(event.Float), nil, f(0)},
		{"nulls count for nothing", "sum", event.Any, []event.Value{null, i(4), null}, i(4)},
		{"ints above 2^53", "sum", event.Any, []event.Value{i(9007199254740993), i(9007199254740992)}, i(18014398509481985)},
		{"over the top and back", "sum", event.Any, []event.Value{i(math.MaxInt64), i(math.MaxInt64), i(-math.MaxInt64)}, i(math.MaxInt64)},
		{"below the bottom and back", "sum", event.Any, []event.Value{i(math.MinInt64), i(-1), i(1)}, i(math.MinInt64)},
		{"decimals", "sum", event.Any, []event.Value{dec(t, "0.1"), dec(t, "0.2")}, dec(t, "0.3")},
		{"int and decimal", "sum", event.Any, []event.Value{i(1), dec(t, "-0.25")}, dec(t, "0.75")},
		{"decimals over the top and back", "sum", event.Any, []event.Value{dec(t, "170000000000000000000"), dec(t, "170000000000000000000"), dec(t, "-170000000000000000000.5")}, dec(t, "169999999999999999999.5")},
		{"floats that cancel", "sum", event.Any, []event.Value{f(1e300), f(1), f(-1e300)}, f(1)},
		{"a float makes a float", "sum", event.Any, []event.Value{i(1), dec(t, "0.5"), f(0.25)}, f(1.75)},
		{"rounded once", "sum", event.Any, []event.Value{f(1), f(0x1p-53), f(0x1p-1074)}, f(1 + 0x1p-52)},
		{"ties to even", "sum", event.Any, []event.Value{f(1), f(0x1p-53)}, f(1)},
		{"least float", "sum", event.Any, []event.Value{f(0x1p-1074), f(0x1p-1074)}, f(0x1p-1073)},
		{"out of range", "sum", event.Any, []event.Value{f(math.MaxFloat64), f(math.MaxFloat64)}, f(math.Inf(1))},
		{"out of range and back", "sum", event.Any, []event.Value{f(math.MaxFloat64), f(math.MaxFloat64), f(-math.MaxFloat64)}, f(math.MaxFloat64)},
		{"infinite", "sum", event.Any, []event.Value{f(math.Inf(-1)), f(5)}, f(math.Inf(-1))},
		{"mean of nothing", "mean", event.Any, nil, null},
		{"mean of ints", "mean", event.Any, []event.Value{i(1), i(2)}, f(1.5)},
		{"mean of large ints", "mean", event.Any, []event.Value{i(9007199254740993), i(9007199254740995)}, f(9007199254740994)},
		{"mean of decimals", "mean", event.Any, []event.Value{dec(t, "0.1"), dec(t, "0.2"), null}, f(0.15)},
		{"mean of floats", "mean", event.Any, []event.Value{f(1e300), f(3), f(-1e300)}, f(1)},
	}
	for _, c := range cases {
		fn := mustFunc(t, c.fn, c.arg)
		h := new(event.Heap)
		if got := fn.Extract(fold(fn, h, c.vals...), h); got != c.want {
			t.Errorf("%s: got %v %x, want %v %x", c.name, got.Kind, got, c.want.Kind, c.want)
		}
	}
}

func TestSumOverflow(t *testing.T) {
	h := new(event.Heap)
	for name, vals := range map[string][]event.Value{
		"ints":     {event.IntValue(math.MaxInt64), event.IntValue(1)},
		"decimals": {dec(t, "170000000000000000000"), dec(t, "170000000000000000000")},
	} {
		f := mustFunc(t, "sum", event.Any)
		got := f.Extract(fold(f, h, vals...), h)
		if got.Kind != event.Error || !bytes.HasPrefix(got.Bytes(h), []byte("overflow ")) {
			t.Errorf("%s: got %s %q, want an overflow", name, got.Kind, got.Bytes(h))
		}
	}
}

// drawNumber draws ints, decimals and floats, the latter of all sizes.
func drawNumber(t *rapid.T) event.Value {
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return event.IntValue(rapid.Int64().Draw(t, "int"))
	case 1:
		return event.DecimalValue(event.Decimal{Hi: rapid.Int64Range(-1<<40, 1<<40).Draw(t, "hi"), Lo: rapid.Uint64().Draw(t, "lo")})
	case 2:
		return event.NullValue()
	}
	return event.FloatValue(math.Float64frombits(rapid.Uint64().Draw(t, "bits")))
}

func ratOf(v event.Value) *big.Rat {
	switch v.Kind {
	case event.Int:
		return new(big.Rat).SetInt64(v.Int())
	case event.Decimal128:
		d := v.Decimal()
		z := new(big.Int).Lsh(big.NewInt(d.Hi), 64)
		z.Add(z, new(big.Int).SetUint64(d.Lo))
		return new(big.Rat).SetFrac(z, unit)
	case event.Float:
		return new(big.Rat).SetFloat64(v.Float())
	}
	return nil
}

// TestSumExact compares sums and means with rationals: whatever the order, the split into parts and what was taken back,
// the bytes are the same and the result is the exact one, rounded once.
func TestSumExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vals := rapid.SliceOfN(rapid.Custom(drawNumber), 0, 30).Draw(t, "vals")
		f := sum{plain{"sum", numbers}, event.Missing}
		h := new(event.Heap)
		whole := fold(f, h, vals...)

		perm := rapid.Permutation(vals).Draw(t, "perm")
		cut := rapid.IntRange(0, len(perm)).Draw(t, "cut")
		parts := f.Merge(fold(f, h, perm[:cut]...), fold(f, h, perm[cut:]...))
		if !bytes.Equal(whole, parts) {
			t.Fatalf("order or parts matter:\n%x\n%x", whole, parts)
		}

		exact, n, special := new(big.Rat), int64(0), false
		for _, v := range vals {
			if v.Kind == event.Float && ratOf(v) == nil {
				special = true
			} else if r := ratOf(v); r != nil {
				exact.Add(exact, r)
				n++
			}
		}
		if special {
			return
		}
		checkExact(t, f.Extract(whole, h), exact)
		if n > 0 {
			m := mean{plain{"mean", numbers}}
			want, _ := exact.Quo(exact, new(big.Rat).SetInt64(n)).Float64()
			if got := m.Extract(whole, h).Float(); got != want {
				t.Fatalf("mean is %g, want %g", got, want)
			}
		}
	})
}

func checkExact(t *rapid.T, got event.Value, exact *big.Rat) {
	switch got.Kind {
	case event.Float:
		want, _ := exact.Float64()
		if got.Float() != want {
			t.Fatalf("sum is %g, want %g", got.Float(), want)
		}
	case event.Error:
		limit := new(big.Rat).SetInt64(math.MaxInt64)
		if new(big.Rat).Abs(exact).Cmp(limit) <= 0 {
			t.Fatalf("overflow at %s", exact.FloatString(18))
		}
	default:
		if ratOf(got).Cmp(exact) != 0 {
			t.Fatalf("sum is %s, want %s", ratOf(got).FloatString(18), exact.FloatString(18))
		}
	}
}

// TestSumTakeBack takes some of the elements back out: the rest gives what it would have given alone.
func TestSumTakeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := sum{plain{"sum", numbers}, event.Missing}
		h := new(event.Heap)
		stay := rapid.SliceOfN(rapid.Custom(drawNumber), 0, 12).Draw(t, "stay")
		gone := rapid.SliceOfN(rapid.Custom(drawNumber), 0, 12).Draw(t, "gone")
		accs := [][]byte{fold(f, h, append(append([]event.Value(nil), stay...), gone...)...)}
		if !f.Uncombine(accs, batchOf(h, gone)) {
			t.Fatal("a sum cannot be taken back")
		}
		want, got := f.Extract(fold(f, h, stay...), h), f.Extract(accs[0], h)
		if want.Kind == event.Error && got.Kind == event.Error {
			return
		}
		if nan := want.Kind == event.Float && math.IsNaN(want.Float()); nan && got.Kind == event.Float && math.IsNaN(got.Float()) {
			return
		}
		if want != got {
			t.Fatalf("got %v %x, want %v %x", got.Kind, got, want.Kind, want)
		}
	})
}
