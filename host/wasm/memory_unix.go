//go:build unix

package wasm

import "syscall"

// reserve returns n bytes of address space, nil if there are none.
func reserve(n uint64) []byte {
	if n == 0 {
		return nil
	}
	b, err := syscall.Mmap(-1, 0, int(n), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

// unreserve gives back what reserve gave.
func unreserve(b []byte) {
	// Nothing can be done about a failure: the address space is lost until the process ends.
	_ = syscall.Munmap(b)
}
