// Package pebblestore is a statestore.Store on disk: one Pebble database per pipeline folder. Rows of operators and the
// system rows (what the state belongs to, the committed epoch, the pending epoch) lie in that one database, so that one
// batch can change them together.
//
// A failed write to the log or the manifest ends the process: what a database holds after one is not known, and after a
// restart it is (cockroach#37102, pebble#1165). The folder is locked while it is open.
package pebblestore
