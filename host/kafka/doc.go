// Package kafka reads and writes Kafka-compatible brokers: Session is the engine's Input and Broker for all kafka sources
// of one pipeline, Output its engine.Output where delivery is at least once.
//
// A Session has two clients. The admin client lives as long as the Session; it checks, creates and watches topics and asks
// for offsets. The member is one life of the client that is in the group and in the transaction: one group member with a
// static identity (KIP-345), one producer id. Whenever the outcome of a transaction is not certain, the member is thrown
// away and a new one is made; nothing of the old one is believed.
//
// A record's way: member.go joins and is told by positions.go where to read; poll.go takes what the client fetched and
// hands it out run by run; convert.go copies a run into a bundle; txn.go sends results and ends the transaction with the
// offsets of the epoch; probe.go watches the ends of partitions, new partitions, and topics that vanish. Start with
// session.go.
//
// Two rules of this package come from faults of others. The offsets of a commit are those that the caller names, never
// what the client has polled (polling runs ahead of the epoch), and they are refused when the group's generation is not
// the one that was noted when the epoch began: see End. And a position is never taken from the client: see part.
package kafka
