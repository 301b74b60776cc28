//go:build unix

package engine_test

import (
	"syscall"
	"time"
)

// cpuTime is the processor time that the process has taken: what counts on a machine that others use too.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
