package combine

import "github.com/wgate/wgate/event"

// Func is an aggregate function for arguments of known types. It has no state: one Func serves all accumulators and may be
// used by several goroutines at a time.
//
// An accumulator is a []byte that Init makes and that only its Func looks into. Equal elements give equal bytes in
// whatever order they came, except where the order is part of the result (list, and the ties of first and last).
type Func interface {
	// Name returns the function's name in the pipeline language.
	Name() string
	// Takes reports whether the function accepts an argument of kind k. Null and missing are always accepted, and count
	// for nothing.
	Takes(k event.Kind) bool
	// Init appends an accumulator over nothing to dst.
	Init(dst []byte) []byte
	// Add folds the elements of p into accs, in order. Every argument must be of a kind that the function takes. An
	// accumulator that has to grow is appended to.
	Add(accs [][]byte, p *Batch)
	// Merge folds other into acc and returns the grown acc. What is in acc counts as having arrived first.
	Merge(acc, other []byte) []byte
	// Extract returns the result. Text goes to h. Where the result is out of range it is of kind Error.
	Extract(acc []byte, h *event.Heap) event.Value
	// Uncombine takes the elements of p back out of accs. It returns false, having changed nothing, if the function
	// cannot: see Sig.Invertible.
	Uncombine(accs [][]byte, p *Batch) bool
}

// Batch is elements to fold: pair i sends row Rows[i] to accumulator Groups[i]. Args and Times are indexed by row.
type Batch struct {
	Groups []int32
	Rows   []int32
	Args   []event.Value // nil for count()
	Times  []event.Time
	Heap   *event.Heap // of Args
}

// overflow is the error value of a result that does not fit its type: code, blank, text.
func overflow(h *event.Heap, text string) event.Value {
	return event.HeapValue(event.Error, h.PutString("overflow "+text))
}

// isNull reports whether v counts for nothing. JSON text that nobody has looked into may be a null too.
func isNull(h *event.Heap, v event.Value) bool {
	return v.Kind <= event.Null || v.Kind == event.JSON && string(v.Bytes(h)) == "null"
}

// plain is what most functions share: a name and the kinds that they take.
type plain struct {
	name  string
	takes kindSet
}

func (p plain) Name() string { return p.name }

func (p plain) Takes(k event.Kind) bool { return (p.takes | nulls).has(k) }

// final is a function that cannot take elements back.
type final struct{ plain }

func (final) Uncombine([][]byte, *Batch) bool { return false }
