//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package host

import (
	"errors"
	"os"
)

// tryLock says that this system has no lock that ends with its process: two nodes on one folder would damage it.
func tryLock(*os.File) error {
	return errors.New("locking a folder is not available on this system in this version")
}
