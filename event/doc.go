// Package event holds the words that the rest of wgate speaks: what a time, a window, a pane, a value and a bundle of
// records is. It imports nothing of the project, reads no clock and does no I/O.
//
// Start with time.go and window.go (the Dataflow Model's event time and windows), then value.go and heap.go (one value of
// the pipeline language), then bundle.go (how records move). The model is that of Akidau et al., "The Dataflow Model",
// VLDB 2015, section 2.
package event
