package wgate

import "unsafe"

// Fold is what a combiner does with accumulators of type A. A must be a struct, an array or a number without pointers,
// slices, strings, maps or bools: its memory, as it stands, is what the host keeps. The zero A is an accumulator over
// nothing. The functions must depend on nothing but their arguments, and must not keep the pointers.
type Fold[A any] struct {
	// Add folds the arguments of one element in. It refuses them with args.Fail, before it changes acc.
	Add func(acc *A, args *Args)
	// Merge folds other in, whose elements count as having come later.
	Merge func(acc, other *A)
	// Extract gives the result with one method of out.
	Extract func(acc *A, out *Result)
	// Uncombine, which may be nil, takes an element back out that was added before.
	Uncombine func(acc *A, args *Args)
}

// Combiner registers a function that folds the elements of a key and window together, as plugin.NAME.name in the compute of
// an aggregate. args is the number of its arguments. Call it from init.
func Combiner[A any](name string, args int, f Fold[A], opts ...Option) {
	var zero A
	checkFixed(name, zero)
	size := int(unsafe.Sizeof(zero))
	at := func(b []byte) *A { return (*A)(unsafe.Pointer(unsafe.SliceData(b))) }
	c := &combiner{
		create:  func(acc []byte) []byte { return append(acc[:0], make([]byte, size)...) },
		add:     func(acc []byte, a *Args) []byte { f.Add(at(acc), a); return acc },
		merge:   func(acc, other []byte) []byte { f.Merge(at(acc), at(other)); return acc },
		extract: func(acc []byte, r *Result) { f.Extract(at(acc), r) },
		fits:    func(acc []byte) bool { return len(acc) == size },
	}
	if f.Uncombine != nil {
		c.uncombine = func(acc []byte, a *Args) []byte { f.Uncombine(at(acc), a); return acc }
	}
	addCombiner(name, args, c, opts)
}

// ByteFold is a Fold whose accumulators are bytes of any length. The functions return the accumulator that results, which
// may be acc itself, grown by append; what is behind it must not be kept.
type ByteFold struct {
	Create    func() []byte // an accumulator over nothing, not empty
	Add       func(acc []byte, args *Args) []byte
	Merge     func(acc, other []byte) []byte
	Extract   func(acc []byte, out *Result)
	Uncombine func(acc []byte, args *Args) []byte // may be nil
}

// ByteCombiner is Combiner for accumulators of bytes.
func ByteCombiner(name string, args int, f ByteFold, opts ...Option) {
	addCombiner(name, args, &combiner{
		create: func(acc []byte) []byte { return append(acc[:0], f.Create()...) },
		add:    f.Add, merge: f.Merge, extract: f.Extract, uncombine: f.Uncombine,
		fits: func(acc []byte) bool { return len(acc) > 0 },
	}, opts)
}

// Total says that a combiner refuses no element, so that the host does not check each element first.
func Total() Option {
	return func(f *function) {
		if f.fold != nil {
			f.fold.total = true
		}
	}
}

// combiner is a Fold over bytes.
type combiner struct {
	args      int
	total     bool
	create    func(acc []byte) []byte
	add       func(acc []byte, args *Args) []byte
	merge     func(acc, other []byte) []byte
	extract   func(acc []byte, out *Result)
	uncombine func(acc []byte, args *Args) []byte
	fits      func(acc []byte) bool
}

func addCombiner(name string, args int, c *combiner, opts []Option) {
	c.args = args
	f := function{name: name, fold: c}
	for _, o := range opts {
		o(&f)
	}
	plugin.functions = append(plugin.functions, f)
}

// Args are the arguments of one element. They are good until the function returns.
type Args struct {
	frame  []byte
	vals   []valueRow
	failed bool
	code   string
	text   string
}

// Len returns the number of arguments.
func (a *Args) Len() int { return len(a.vals) }

// IsNull reports whether argument i is null or missing.
func (a *Args) IsNull(i int) bool { return a.vals[i].kind <= kindNull }

// Int returns argument i if it is an int, or a time or duration, in ms.
func (a *Args) Int(i int) (v int64, ok bool) {
	x := &a.vals[i]
	return int64(x.low), x.kind == kindInt || x.kind == kindTime || x.kind == kindDuration
}

// Float returns argument i if it is a number: an int, decimal or float, as the nearest float.
func (a *Args) Float(i int) (v float64, ok bool) {
	x := &a.vals[i]
	return x.float, x.kind == kindInt || x.kind == kindDecimal || x.kind == kindFloat
}

// Decimal returns argument i if it is a decimal, as a 128-bit count of 1e-18 in two's complement.
func (a *Args) Decimal(i int) (high int64, low uint64, ok bool) {
	x := &a.vals[i]
	return int64(x.high), x.low, x.kind == kindDecimal
}

// Bool returns argument i if it is a bool.
func (a *Args) Bool(i int) (v, ok bool) {
	x := &a.vals[i]
	return x.low == 1, x.kind == kindBool
}

// Text returns argument i if it is text.
func (a *Args) Text(i int) (v []byte, ok bool) { return a.bytes(i, kindText) }

// Bytes returns argument i if it is bytes.
func (a *Args) Bytes(i int) (v []byte, ok bool) { return a.bytes(i, kindBytes) }

// JSON returns argument i if it is a list or an object, or a value as it came, as JSON text.
func (a *Args) JSON(i int) (v []byte, ok bool) { return a.bytes(i, kindJSON) }

func (a *Args) bytes(i int, kind uint32) ([]byte, bool) {
	x := &a.vals[i]
	if x.kind != kind {
		return nil, false
	}
	return a.frame[x.low : x.low+uint64(x.length)], true
}

// Fail refuses the element: it goes to the dead letters with code (letters a-z, digits, _) and text, and counts nowhere. The
// accumulator must be as it was.
func (a *Args) Fail(code, text string) {
	if !a.failed {
		a.failed, a.code, a.text = true, code, text
	}
}

// Result takes the result of a combiner. Without a call it is null; the last call counts.
type Result struct {
	o   *folder
	row valueRow
}

// Null makes the result null.
func (r *Result) Null() { r.row = valueRow{kind: kindNull} }

// Int makes the result an int.
func (r *Result) Int(v int64) { r.row = valueRow{kind: kindInt, low: uint64(v)} }

// Float makes the result a float.
func (r *Result) Float(v float64) { r.row = valueRow{kind: kindFloat, float: v} }

// Decimal makes the result a decimal: a 128-bit count of 1e-18 in two's complement.
func (r *Result) Decimal(high int64, low uint64) {
	r.row = valueRow{kind: kindDecimal, low: low, high: uint64(high)}
}

// Bool makes the result a bool.
func (r *Result) Bool(v bool) {
	r.row = valueRow{kind: kindBool}
	if v {
		r.row.low = 1
	}
}

// Text makes the result UTF-8 text.
func (r *Result) Text(v string) { r.bytes(kindText, v) }

// JSON makes the result what the JSON text v says.
func (r *Result) JSON(v []byte) {
	r.row = valueRow{kind: kindJSON, length: uint32(len(v)), low: uint64(len(r.o.frame))}
	r.o.frame = append(r.o.frame, v...)
}

// Fail says that there is no result: the pane goes to the dead letters with code (letters a-z, digits, _) and text.
func (r *Result) Fail(code, text string) { r.bytes(kindError, code+" "+text) }

func (r *Result) bytes(kind uint32, v string) {
	r.row = valueRow{kind: kind, length: uint32(len(v)), low: uint64(len(r.o.frame))}
	r.o.frame = append(r.o.frame, v...)
}
