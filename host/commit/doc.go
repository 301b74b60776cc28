// Package commit is the protocol by which an epoch of a pipeline becomes permanent exactly once, as a pure state machine:
// events in, actions out, no clock, no I/O, no goroutine, no randomness.
//
// The group's offsets in Kafka are the decision record: the transaction that carries an epoch's outputs also commits the
// offsets, and with them, as metadata of one partition (the anchor), a random token. The local store is the other
// participant: before the transaction is ended it keeps the epoch as a Pending row, synced; after it, the rows are applied
// together with a Committed row that holds the same token. Whoever starts compares the tokens and knows what happened,
// whatever the broker's last answer was. A number could not do that: two owners both make an epoch 7 (iceberg#10892).
//
// Start with machine.go (what the machine is asked and what it answers), then epoch.go (the commit of an epoch),
// recover.go and decide.go (what a start, or an unknown outcome, leads to). The driver that carries the actions out is in
// host/engine.
package commit
