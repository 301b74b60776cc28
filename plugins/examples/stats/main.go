// Command stats is a wgate plugin with two combiners: wmean(value, weight), the weighted mean, and spread(value), the
// smallest and the largest of numbers as an object.
package main

import (
	wgate "github.com/wgate/wgate/plugins/sdk-go"
)

// weighted is the accumulator of wmean: the sum of value x weight and that of the weights.
type weighted struct {
	sum, weight float64
}

func init() {
	wgate.Plugin("stats", "1.0.0")
	wgate.Combiner("wmean", 2, wgate.Fold[weighted]{Add: add, Merge: merge, Extract: mean})
	wgate.ByteCombiner("spread", 1, wgate.ByteFold{
		Create:  func() []byte { return []byte{0} },
		Add:     addSpread,
		Merge:   mergeSpread,
		Extract: spread,
	})
}

func main() {}

// add folds a value and its weight in. Elements without either do not count.
func add(acc *weighted, args *wgate.Args) {
	if args.IsNull(0) || args.IsNull(1) {
		return
	}
	v, ok := args.Float(0)
	w, ok2 := args.Float(1)
	switch {
	case !ok || !ok2:
		args.Fail("no_number", "value and weight must be numbers")
	case w < 0:
		args.Fail("negative_weight", "a weight must not be negative")
	default:
		acc.sum += float64(v * w) // rounded, so that no machine makes one step of two
		acc.weight += w
	}
}

func merge(acc, other *weighted) {
	acc.sum += other.sum
	acc.weight += other.weight
}

// mean is null over nothing.
func mean(acc *weighted, out *wgate.Result) {
	if acc.weight > 0 {
		out.Float(acc.sum / acc.weight)
	}
}
