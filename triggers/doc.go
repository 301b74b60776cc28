// Package triggers decides when the pane of a window is sent. A trigger is a Spec, a tree that prints as users write it;
// Compile makes a Machine of it, which holds no state of its own: the state of a trigger in a window is a few bytes of
// fixed length, one slot for each node of the tree, that the caller keeps with the window.
//
// Start with spec.go, then machine.go (one look at a trigger), then merge.go (sessions). The model is section 2.3 of
// Akidau et al., "The Dataflow Model", VLDB 2015; composite triggers follow Apache Beam's state machines. The package
// reads no clock: processing time comes in as an argument.
package triggers
