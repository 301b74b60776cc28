package admin

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// The caps on requests. A pipeline's file is at most 1 MiB (package config), so this leaves room for many.
const (
	MaxBundleBytes = 16 << 20
	MaxModuleBytes = 256 << 20
	maxFiles       = 256
	maxFileName    = 255
)

// Bundle is a pipeline as it is uploaded: the text of its files, the values of its variables, the digests of its plugins.
type Bundle struct {
	Files    []File            `json:"files"` // *.hcl
	VarFiles []File            `json:"var_files,omitempty"`
	Vars     map[string]string `json:"vars,omitempty"`
	Modules  map[string]string `json:"modules,omitempty"` // plugin block's name -> digest
}

// File is a file by content. Its name is relative, with slashes, and stays within the folder that all names start from; it
// names the file in messages and is never opened.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

var (
	nameForm     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	fileNameForm = regexp.MustCompile(`^[^\x00-\x1f\x7f\\:]+$`)
)

// CheckName refuses what cannot be the name of a pipeline. It wraps ErrInvalid.
func CheckName(name string) error {
	if !nameForm.MatchString(name) {
		return fmt.Errorf("%w: %q cannot be the name of a pipeline: a name has letters, digits, _ and -, starts with a letter or _, and has at most 64 characters", ErrInvalid, clip(name))
	}
	return nil
}

// CheckDigest refuses what is not a SHA-256 in lower-case hexadecimal digits. It wraps ErrInvalid.
func CheckDigest(digest string) error {
	if _, err := hex.DecodeString(digest); err != nil || len(digest) != 64 || strings.ToLower(digest) != digest {
		return fmt.Errorf("%w: %q is not a SHA-256 in 64 lower-case hexadecimal digits", ErrInvalid, clip(digest))
	}
	return nil
}

// Check refuses a bundle whose names could reach out of it. It wraps ErrInvalid.
func (b *Bundle) Check() error {
	if len(b.Files) == 0 {
		return fmt.Errorf("%w: the bundle has no files", ErrInvalid)
	}
	seen := map[string]bool{}
	for _, f := range append(append([]File(nil), b.Files...), b.VarFiles...) {
		if err := checkFileName(f.Name); err != nil {
			return err
		}
		if seen[f.Name] {
			return fmt.Errorf("%w: the bundle has two files named %q", ErrInvalid, f.Name)
		}
		seen[f.Name] = true
	}
	if len(seen) > maxFiles {
		return fmt.Errorf("%w: the bundle has %d files, more than %d", ErrInvalid, len(seen), maxFiles)
	}
	for _, f := range b.Files {
		if !strings.HasSuffix(f.Name, ".hcl") {
			return fmt.Errorf("%w: %q: a pipeline's file is named *.hcl", ErrInvalid, f.Name)
		}
	}
	for name, digest := range b.Modules { // any of several wrong ones is reported
		if !nameForm.MatchString(name) {
			return fmt.Errorf("%w: %q cannot be the name of a plugin", ErrInvalid, clip(name))
		}
		if err := CheckDigest(digest); err != nil {
			return fmt.Errorf("plugin.%s: %w", name, err)
		}
	}
	return nil
}

func checkFileName(name string) error {
	if len(name) > maxFileName || !fileNameForm.MatchString(name) || !filepath.IsLocal(name) || filepath.ToSlash(filepath.Clean(name)) != name {
		return fmt.Errorf("%w: %q cannot be the name of a file: want a relative path with slashes that stays within its folder", ErrInvalid, clip(name))
	}
	return nil
}

// clip keeps a message short, whatever was sent.
func clip(s string) string {
	if len(s) > 100 {
		return strings.ToValidUTF8(s[:100], "") + "..."
	}
	return s
}
