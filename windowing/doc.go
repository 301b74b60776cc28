// Package windowing says which windows an event time lies in, and how a watermark is made from the event times of several
// partitions.
//
// Start with spec.go (the kinds of windows), then assign.go (the paper's AssignWindows), then tracker.go (watermarks). The
// paper is Akidau et al., "The Dataflow Model", VLDB 2015, sections 2.2 and 2.3. The package reads no clock: processing
// time comes in as an argument.
package windowing
