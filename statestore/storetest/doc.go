// Package storetest checks a statestore.Store, and statestore.Overlay over it, against a plain map: random operations,
// scans that stay open during writes, commits, aborts, power cuts.
package storetest
