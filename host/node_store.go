package host

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/wgate/wgate/host/admin"
)

// The versions of what lies in a node's data folder. A folder of a newer one is refused.
const (
	folderFormat     = 1
	deploymentFormat = 1
)

// deployment is a pipeline as it lies on disk. It is immutable. The folder is readable by its owner only: variables may hold
// what nobody else should see.
type deployment struct {
	Format   int          `json:"format"`
	Name     string       `json:"name"`
	Revision int          `json:"revision"`
	Deployed int64        `json:"deployed"` // ms since the epoch
	Stopped  bool         `json:"stopped"`  // somebody said so: the node does not start it
	Bundle   admin.Bundle `json:"bundle"`
}

// sameBundle reports whether two deployments say the same.
func sameBundle(a, b *admin.Bundle) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// store keeps deployments and modules under a folder:
//
//	DIR/format                          the version of the layout
//	DIR/pipelines/NAME/deployment.json
//	DIR/modules/SHA256.wasm
//
// Every file is written beside its place, synced and renamed, so that a crash leaves the old one or the new one.
type store struct{ dir string }

func openStore(dir string) (*store, error) {
	s := &store{dir}
	for _, sub := range []string{"pipelines", "modules", "state"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, fmt.Errorf("data folder: %w", err)
		}
	}
	path := filepath.Join(dir, "format")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, writeFile(path, []byte(fmt.Sprintf("%d\n", folderFormat)))
	}
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	var format int
	if _, err := fmt.Sscanf(string(text), "%d\n", &format); err != nil || format < 1 {
		return nil, fmt.Errorf("data folder %s: file format is damaged: want one number, %d; restore it from a backup or take another folder", dir, folderFormat)
	}
	if format > folderFormat {
		return nil, fmt.Errorf("data folder %s was written by a newer wgate (format %d; this one knows %d): use that version or another folder", dir, format, folderFormat)
	}
	return s, nil
}

func (s *store) path(name string) string {
	return filepath.Join(s.dir, "pipelines", name, "deployment.json")
}

// deployments reads what is deployed, in the order of names.
func (s *store) deployments() ([]*deployment, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "pipelines"))
	if err != nil {
		return nil, fmt.Errorf("data folder: %w", err)
	}
	var out []*deployment
	for _, e := range entries {
		if !e.IsDir() || admin.CheckName(e.Name()) != nil {
			continue
		}
		d, err := s.get(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // the node ended between making the folder and the file
		}
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

func (s *store) get(name string) (*deployment, error) {
	path := s.path(name)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("pipeline %q: %w", name, err)
	}
	d := &deployment{}
	if err := json.Unmarshal(text, d); err != nil || d.Name != name || d.Format < 1 {
		// The decoder's words may have a piece of the file in them.
		return nil, fmt.Errorf("pipeline %q: %s is damaged: restore it from a backup, or remove it and deploy again", name, path)
	}
	if d.Format > deploymentFormat {
		return nil, fmt.Errorf("pipeline %q: %s was written by a newer wgate (format %d; this one knows %d): use that version", name, path, d.Format, deploymentFormat)
	}
	return d, nil
}

func (s *store) put(d *deployment) error {
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("pipeline %q: %w", d.Name, err)
	}
	path := s.path(d.Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("pipeline %q: %w", d.Name, err)
	}
	if err := writeFile(path, append(text, '\n')); err != nil {
		return fmt.Errorf("pipeline %q: %w", d.Name, err)
	}
	return syncDir(filepath.Join(s.dir, "pipelines"))
}

func (s *store) remove(name string) error {
	if err := os.RemoveAll(filepath.Dir(s.path(name))); err != nil {
		return fmt.Errorf("pipeline %q: %w", name, err)
	}
	return syncDir(filepath.Join(s.dir, "pipelines"))
}

func (s *store) modulePath(digest string) string {
	return filepath.Join(s.dir, "modules", digest+".wasm")
}

// HasModule reports whether the module of a digest is there.
func (n *Node) HasModule(digest string) (bool, error) {
	_, err := os.Stat(n.store.modulePath(digest))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// PutModule stores what r gives, if its SHA-256 is digest.
func (n *Node) PutModule(digest string, r io.Reader) error {
	return atomically(n.store.modulePath(digest), func(f *os.File) error {
		sum := sha256.New()
		if _, err := io.Copy(io.MultiWriter(f, sum), r); err != nil {
			return fmt.Errorf("module %s: %w", digest, err)
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != digest {
			return fmt.Errorf("%w: the module's digest is %s, not %s", admin.ErrInvalid, got, digest)
		}
		return nil
	})
}

func writeFile(path string, text []byte) error {
	return atomically(path, func(f *os.File) error {
		_, err := f.Write(text)
		return err
	})
}

// atomically makes a file by what fill writes: wholly or, with an error, not at all.
func atomically(path string, fill func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreClosed(f.Close()), os.Remove(f.Name()))
		}
	}()
	if err := fill(f); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// syncDir makes renames in a folder last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
