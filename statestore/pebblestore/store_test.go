package pebblestore_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/pebblestore"
	"github.com/wgate/wgate/statestore/storetest"
)

// device is a strict file system in memory: a crash keeps what was synced, and of the rest a random part.
type device struct {
	fs    *vfs.MemFS
	cache *pebblestore.Cache
	open  *pebblestore.Store
}

func (d *device) Open() (statestore.Store, error) {
	s, err := pebblestore.Open("state", pebblestore.Options{FS: d.fs, Cache: d.cache})
	d.open = s
	return s, err
}

func (d *device) Crash(r *rand.Rand) error {
	after := d.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: []int{0, 50, 100}[r.IntN(3)], RNG: r})
	err := d.open.Close()
	d.fs = after
	return err
}

func TestStore(t *testing.T) {
	cache := pebblestore.NewCache(4 << 20)
	defer cache.Close()
	storetest.Run(t, func() storetest.Device { return &device{fs: vfs.NewCrashableMem(), cache: cache} })
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	s, err := pebblestore.Open(dir, pebblestore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = pebblestore.Open(dir, pebblestore.Options{})
	if !errors.Is(err, statestore.ErrInUse) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second open gives %v", err)
	}
	out := child(t, "open", dir)
	if !strings.Contains(out, "in use by process") {
		t.Errorf("an open from another process gives %q", out)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if out := child(t, "open", dir); out != "ok\n" {
		t.Errorf("an open after the close gives %q", out)
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	fs := vfs.NewMem()
	s, err := pebblestore.Open("state", pebblestore.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.WriteMeta([]byte(`{"format":99,"instance":"x"}`)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := pebblestore.Open("state", pebblestore.Options{FS: fs}); !errors.Is(err, statestore.ErrNewer) {
		t.Fatalf("open gives %v", err)
	}
	// The refused folder is not held.
	if _, err := pebblestore.Open("state", pebblestore.Options{FS: fs}); !errors.Is(err, statestore.ErrNewer) {
		t.Fatalf("a second open gives %v", err)
	}
}

// TestFailedWriteEndsTheProcess lets the log of a store in a child process fail.
func TestFailedWriteEndsTheProcess(t *testing.T) {
	out := child(t, "fail", t.TempDir())
	if !strings.Contains(out, "WG-228") || strings.Contains(out, "went on") || !strings.HasSuffix(out, "exit status 1\n") {
		t.Fatalf("the process said %q", out)
	}
}

func TestDiskFullGivesUpTheBallast(t *testing.T) {
	dir := t.TempDir()
	full := false
	fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full && op.Kind == errorfs.OpFileWrite && strings.HasSuffix(op.Path, ".log") {
			if _, err := os.Stat(dir + "/ballast"); err == nil {
				return syscall.ENOSPC
			}
		}
		return nil
	}))
	told := make(chan struct{}, 1)
	s, err := pebblestore.Open(dir, pebblestore.Options{FS: fs, BallastBytes: 1 << 20, DiskFull: func() { told <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	full = true
	if err := s.WritePending([]byte("x")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-told:
	default:
		t.Fatal("DiskFull was not called")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// child runs this test binary as another process and returns what it says, and how it ended.
func child(t *testing.T, what, dir string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PEBBLESTORE_CHILD="+what, "PEBBLESTORE_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out) + err.Error() + "\n"
	}
	return string(out)
}

func TestMain(m *testing.M) {
	dir := os.Getenv("PEBBLESTORE_DIR")
	switch os.Getenv("PEBBLESTORE_CHILD") {
	case "":
		os.Exit(m.Run())
	case "open":
		s, err := pebblestore.Open(dir, pebblestore.Options{})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			os.Stdout.WriteString(err.Error() + "\n")
			os.Exit(0)
		}
		os.Stdout.WriteString("ok\n")
	case "fail":
		failingWrite(dir)
	}
}

func failingWrite(dir string) {
	fail := false
	fs := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if fail && op.Kind == errorfs.OpFileWrite && strings.HasSuffix(op.Path, ".log") {
			return syscall.EIO
		}
		return nil
	}))
	s, err := pebblestore.Open(dir, pebblestore.Options{FS: fs})
	if err != nil {
		os.Stdout.WriteString(err.Error())
		return
	}
	fail = true
	err = s.WritePending([]byte("x"))
	os.Stdout.WriteString("went on: " + err.Error())
}
