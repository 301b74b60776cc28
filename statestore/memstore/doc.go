// Package memstore is a statestore.Store in memory, for tests, scenarios and pipelines that keep nothing. It can be crashed:
// a clone holds what a disk would hold after a power cut.
package memstore
