// Package statestore holds the state of a pipeline: how its rows are keyed, what an epoch has written, and how both look
// as bytes. It is pure: the disk is in statestore/pebblestore, a store for tests in statestore/memstore.
//
// Start with view.go (the door through which the engine reads and writes), then keys.go (where a cell lies), overlay.go
// (the writes of a running epoch over the committed rows) and store.go (what a store of committed rows can do). The
// protocol that decides when an overlay becomes committed is host/commit.
//
// The session layout is that of KIP-94. That uncommitted rows stay out of the committed key space is the lesson of
// KAFKA-7192 and KAFKA-9891.
package statestore
