//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package host

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks f until it is closed, or returns errLocked.
func tryLock(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
