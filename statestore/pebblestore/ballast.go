package pebblestore

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// ballastName is the file that is given up when the disk is full.
const ballastName = "ballast"

// withBallast keeps a file of o.BallastBytes in the folder and returns a file system that removes it, and tells, when the
// disk is full. Freed space lets the running epoch end in order; the write that failed is tried once more.
func withBallast(fs vfs.FS, dir string, o Options) (vfs.FS, error) {
	name := fs.PathJoin(dir, ballastName)
	if o.BallastBytes > 0 {
		if err := writeBallast(fs, name, o.BallastBytes); err != nil {
			return nil, fmt.Errorf("state folder %s: cannot reserve %d bytes: %w", dir, o.BallastBytes, err)
		}
	}
	var once sync.Once
	return vfs.OnDiskFull(fs, func() {
		once.Do(func() {
			err := fs.Remove(name)
			if err != nil && !errors.Is(err, os.ErrNotExist) && o.Log != nil {
				o.Log.Error("the ballast file cannot be removed", "file", name, "error", err)
			}
			if o.DiskFull != nil {
				o.DiskFull()
			}
		})
	}), nil
}

// writeBallast makes the file anew unless it is there in full size.
func writeBallast(fs vfs.FS, name string, size int64) error {
	if st, err := fs.Stat(name); err == nil && st.Size() == size {
		return nil
	}
	f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	zeros := make([]byte, 1<<20)
	for left := size; left > 0 && err == nil; left -= int64(len(zeros)) {
		_, err = f.Write(zeros[:min(left, int64(len(zeros)))])
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
