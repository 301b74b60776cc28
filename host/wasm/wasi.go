package wasm

import (
	"encoding/binary"
	"io"
)

const wasiModule = "wasi_snapshot_preview1"

// wasiAllowed are the WASI functions that a plugin may import. Those about files answer that there are none: no folder is
// opened for a plugin. Sockets are not among them.
var wasiAllowed = []string{
	"args_get", "args_sizes_get", "environ_get", "environ_sizes_get",
	"clock_res_get", "clock_time_get", "random_get", "poll_oneoff", "sched_yield", "proc_exit",
	"fd_advise", "fd_allocate", "fd_close", "fd_datasync", "fd_fdstat_get", "fd_fdstat_set_flags",
	"fd_fdstat_set_rights", "fd_filestat_get", "fd_filestat_set_size", "fd_filestat_set_times", "fd_pread",
	"fd_prestat_dir_name", "fd_prestat_get", "fd_pwrite", "fd_read", "fd_readdir", "fd_renumber", "fd_seek", "fd_sync",
	"fd_tell", "fd_write",
	"path_create_directory", "path_filestat_get", "path_filestat_set_times", "path_link", "path_open", "path_readlink",
	"path_remove_directory", "path_rename", "path_symlink", "path_unlink_file",
}

// clock is what a guest sees as time. Wall time stands still during a call; the monotonic clock moves by a microsecond at
// each reading, and by what the guest sleeps, so that equal calls see equal times.
type clock struct {
	now  int64 // processing time in ms since 1970
	nano int64
}

const readingNanos = 1000

func (c *clock) walltime() (sec int64, nsec int32) {
	s := c.now / 1000
	ms := c.now % 1000
	if ms < 0 {
		s, ms = s-1, ms+1000
	}
	return s, int32(ms) * 1e6
}

func (c *clock) nanotime() int64 {
	c.nano += readingNanos
	return c.nano
}

func (c *clock) sleep(ns int64) { c.nano += max(ns, 0) }

// random is the guest's source of random bytes: splitmix64, seeded by the epoch.
type random struct{ state uint64 }

func (r *random) seed(epoch uint64) { r.state = epoch }

// Read fills p. It never fails.
func (r *random) Read(p []byte) (int, error) {
	for at := 0; at < len(p); at += 8 {
		r.state += 0x9e3779b97f4a7c15
		z := r.state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], z^z>>31)
		copy(p[at:], b[:])
	}
	return len(p), nil
}

var _ io.Reader = (*random)(nil)
