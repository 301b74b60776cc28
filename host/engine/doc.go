// Package engine drives one task of a pipeline: it takes a bundle, steps the stages, and commits. It declares the ports
// that it needs and knows none of their implementations.
package engine
