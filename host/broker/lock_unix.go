//go:build unix

package broker

import (
	"os"
	"syscall"
)

// lockFile locks f for this process, or fails if another one has it. The system lets go of it when the process ends.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
