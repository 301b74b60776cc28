// Package quickstart is the demonstration that `wgate quickstart` gives: a stream of events out of order, made from a seed;
// the example pipeline, which runs over it by the same path as any other; and the results that there should be, computed
// independently.
//
// Start with events.go (the stream), then expect.go (what should come of it: plain maps, and nothing of windowing,
// triggers or the engine), compare.go (the two side by side) and run.go (broker, pipeline and consumer together).
package quickstart
