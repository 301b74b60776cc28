//go:build !unix

package wasm

// reserve returns nil: memory then grows as slices do.
func reserve(uint64) []byte { return nil }

// unreserve has nothing to give back.
func unreserve([]byte) {}
