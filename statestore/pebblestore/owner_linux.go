package pebblestore

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// isLocked reports whether err says that another process holds the lock.
func isLocked(err error) bool { return errors.Is(err, syscall.EAGAIN) }

// lockOwner returns the process that holds the folder's lock, 0 if it is not known.
func lockOwner(dir string) int {
	f, err := os.OpenFile(filepath.Join(dir, "LOCK"), os.O_RDWR, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // it was only opened to ask
	lk := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lk); err != nil || lk.Type == syscall.F_UNLCK {
		return 0
	}
	return int(lk.Pid)
}
