package host

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// lockFile keeps a second process out of a data folder. The operating system drops the lock when the process ends, however
// it ends; the file stays.
type lockFile struct{ f *os.File }

var errLocked = errors.New("locked")

// lockFolder makes the folder if need be and locks it.
func lockFolder(dir string) (*lockFile, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	if err := tryLock(f); err != nil {
		text := make([]byte, 32)
		k, _ := f.ReadAt(text, 0)
		err = errors.Join(fmt.Errorf("data folder %s: %w", dir, err), f.Close())
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("data folder %s is in use by another wgate (process %s): stop that one, or take another folder with --data",
				dir, strings.TrimSpace(string(text[:k])))
		}
		return nil, err
	}
	if err := errors.Join(f.Truncate(0), writePID(f)); err != nil {
		return nil, errors.Join(fmt.Errorf("data folder: %w", err), f.Close())
	}
	return &lockFile{f}, nil
}

func writePID(f *os.File) error {
	_, err := f.WriteAt([]byte(fmt.Sprintf("%d\n", os.Getpid())), 0)
	return err
}

// Close gives the folder free.
func (l *lockFile) Close() error { return l.f.Close() }
