//go:build unix

package wasm

import (
	"syscall"
	"testing"
)

// cpuNanos returns the CPU time that this process has used.
func cpuNanos(t testing.TB) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
