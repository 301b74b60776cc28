package pebblestore

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// DefaultCacheBytes is the size of the block cache if Options names none.
const DefaultCacheBytes = 32 << 20

// Options are the settings of a store. The zero value is a store on the real disk with a cache of its own.
type Options struct {
	// FS is where the folder lies; nil is the real disk.
	FS vfs.FS
	// Cache is a block cache shared by several stores; nil makes one of CacheBytes for this store alone.
	Cache *Cache
	// CacheBytes is the size of the store's own cache; 0 is DefaultCacheBytes.
	CacheBytes int64
	// BallastBytes is the size of a file that is kept so that it can be removed when the disk is full; 0 keeps none.
	BallastBytes int64
	// DiskFull is called, once, when the disk is full and the ballast has been given up: the time to stop intake. It must
	// not block or call the store. nil does nothing.
	DiskFull func()
	// Fatal is called with the cause before a failed write ends the process, to log it. It must not call the store. nil
	// writes to standard error. Whatever it does, the process then ends with exit code ExitCode.
	Fatal func(cause string)
	// Log takes what the database has to say; nil discards it.
	Log *slog.Logger
}

// ExitCode is the exit code of a process that ends on a failed write.
const ExitCode = 1

// Cache is a block cache that stores share.
type Cache struct{ c *pebble.Cache }

// NewCache returns a cache of size bytes. Close it after the stores that use it.
func NewCache(size int64) *Cache { return &Cache{pebble.NewCache(size)} }

// Close gives the cache up; its memory goes when the last store that uses it closes.
func (c *Cache) Close() { c.c.Unref() }

// pebbleOptions are chosen for a small footprint: a memtable holds one usual epoch, tables have a bloom filter because
// most reads of state are for keys that are not there yet.
func (o Options) pebbleOptions(fs vfs.FS, lock *pebble.Lock) *pebble.Options {
	po := &pebble.Options{
		FS:                          fs,
		Lock:                        lock,
		FormatMajorVersion:          formatMajor,
		CacheSize:                   o.CacheBytes,
		MemTableSize:                32 << 20,
		MemTableStopWritesThreshold: 4,
		LBaseMaxBytes:               64 << 20,
		MaxOpenFiles:                512,
		BytesPerSync:                1 << 20,
		Logger:                      logger{o},
	}
	if o.Cache != nil {
		po.Cache = o.Cache.c
	}
	if po.CacheSize == 0 {
		po.CacheSize = DefaultCacheBytes
	}
	po.Levels[0].Compression = func() *sstable.CompressionProfile { return sstable.NoCompression }
	for i := range po.Levels {
		po.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		po.Levels[i].BlockSize = 16 << 10
		po.Levels[i].IndexBlockSize = 256 << 10
	}
	return po
}

// formatMajor is the version of the database's files. It moves only together with statestore.FormatVersion, so that a
// binary that has been replaced can still be gone back to.
const formatMajor = pebble.FormatValueSeparation

// logger passes on what the database says, and ends the process where it cannot go on.
type logger struct{ o Options }

// Infof logs at debug level: the database talks much.
func (l logger) Infof(format string, args ...any) {
	if l.o.Log != nil {
		l.o.Log.Debug(fmt.Sprintf(format, args...), "part", "state")
	}
}

// Errorf logs an error.
func (l logger) Errorf(format string, args ...any) {
	if l.o.Log != nil {
		l.o.Log.Error(fmt.Sprintf(format, args...), "part", "state")
	}
}

// Fatalf ends the process. It must not return: the database would go on as if the write had worked.
func (l logger) Fatalf(format string, args ...any) {
	cause := fmt.Sprintf(format, args...)
	defer os.Exit(ExitCode)
	if l.o.Fatal != nil {
		l.o.Fatal(cause)
		return
	}
	fmt.Fprintf(os.Stderr, "WG-228: the state cannot be written: %s\n"+
		"The process ends so that nothing is half applied. Free or repair the disk, then start wgate again.\n", cause)
}
