// Package combine holds the aggregate functions that run in the host: count, sum, min, max, mean, variance, first, last, list, set
// and so on. A function's state is an accumulator, a run of bytes that the caller keeps; the package holds none.
//
// Start with func.go (what a function can do) and table.go (which there are and what types they give). Sums are exact and
// do not depend on the order of their elements: total.go, squares.go and super.go say how. That makes the functions commutative and
// associative in the sense of section 2.2.2 of Akidau et al., "The Dataflow Model", VLDB 2015, floats included.
package combine
