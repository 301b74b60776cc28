// Package gbkw is GroupByKeyAndWindow: it takes the rows of a collection and the moves of its watermark and of the clock,
// and gives panes. It is the five steps of section 2.2.2 and the triggers and refinements of sections 2.3 and 2.4 of Akidau
// et al., "The Dataflow Model", VLDB 2015, as one machine without a clock, I/O or goroutine: state goes through a
// statestore.View, panes come back as data.
//
// Start with config.go and machine.go (what goes in and comes out), then elements.go (rows), step.go (the watermark),
// clock.go (processing time) and pane.go (what a pane is). sessions.go is elements.go for windows that merge. cell.go says
// how a key's window lies in the state, index.go what is kept in memory beside it.
//
// Sliding windows share slices where that is possible: an element touches one accumulator, however many windows it lies in,
// and a pane takes two merges, however many slices it has. shares.go says where: not for triggers that fire before a
// window's end, for timestamp = "earliest" or "latest", and for late = "separate"; those have one state per window.
// slices.go says how slices lie in the state and what becomes of late elements, stacks.go how a pane is made, slide.go how
// windows fire. What comes out is the same to the last byte.
package gbkw
