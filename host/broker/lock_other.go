//go:build !unix

package broker

import "os"

// lockFile does nothing: the system has no advisory locks that end with the process.
func lockFile(*os.File) error { return nil }
