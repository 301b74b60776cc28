package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/wasm"
)

// build builds the plugins of p whose sources have changed, or are newer than what was built.
func (d *devSession) build(ctx context.Context, p *config.Pipeline, changed []string) error {
	for _, pl := range p.Plugins {
		src := pluginSource(pl.Path)
		if src == "" || !stale(src, pl.Path, changed) {
			continue
		}
		began := time.Now()
		d.out.printf("plugin %s: building %s\n", pl.Name, src)
		words, err := buildPlugin(ctx, src, pl.Path)
		if err != nil {
			d.out.do(func(p *printer) { _, p.err = p.w.Write(words) })
			return errors.Join(errBuild(pl.Name), err)
		}
		d.out.printf("plugin %s: built after %s\n", pl.Name, time.Since(began).Round(time.Millisecond))
	}
	return nil
}

// pluginSource returns the folder with the Go or Rust source of a plugin, empty if there is none: DIR/NAME for
// DIR/NAME.wasm, or DIR itself if it holds a Go module or a crate.
func pluginSource(path string) string {
	if dir, ok := strings.CutSuffix(path, ".wasm"); ok && (hasGo(dir) || hasFile(dir, "Cargo.toml")) {
		return dir
	}
	dir := filepath.Dir(path)
	if hasFile(dir, "go.mod") && hasGo(dir) || hasFile(dir, "Cargo.toml") {
		return dir
	}
	return ""
}

func hasFile(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func hasGo(dir string) bool {
	found, err := filepath.Glob(filepath.Join(dir, "*.go"))
	return err == nil && len(found) > 0
}

// isSource reports whether a change of the file may change the plugin that is built from its folder.
func isSource(path string) bool {
	base := filepath.Base(path)
	return !strings.HasPrefix(base, ".") && !strings.HasSuffix(base, "_test.go") &&
		(strings.HasSuffix(base, ".go") || base == "go.mod" || base == "go.sum" || base == "go.work" ||
			strings.HasSuffix(base, ".rs") || base == "Cargo.toml" || base == "Cargo.lock")
}

// stale reports whether a plugin has to be built.
func stale(src, out string, changed []string) bool {
	built, err := os.Stat(out)
	if err != nil {
		return true
	}
	for _, path := range changed {
		if rel, err := filepath.Rel(src, path); err == nil && filepath.IsLocal(rel) && isSource(path) {
			return true
		}
	}
	newer := false
	_ = filepath.WalkDir(src, func(path string, e fs.DirEntry, err error) error {
		if err == nil && path != src && isBuilt(e) {
			return fs.SkipDir
		}
		if err != nil || e.IsDir() || !isSource(path) {
			return nil //nolint:nilerr // what cannot be read the compiler complains of
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(built.ModTime()) {
			newer = true
			return fs.SkipAll
		}
		return nil
	})
	return newer
}

// isBuilt reports whether a folder holds what a compiler made, or nothing of the sources.
func isBuilt(e fs.DirEntry) bool {
	return e.IsDir() && (strings.HasPrefix(e.Name(), ".") || e.Name() == "target")
}

// buildPlugin compiles a plugin beside its place, packs it and puts it there, so that a half-built one is never seen. It
// returns what the compiler said.
func buildPlugin(ctx context.Context, src, out string) (words []byte, err error) {
	if out, err = filepath.Abs(out); err != nil {
		return nil, err
	}
	tmp := filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+".new")
	defer func() {
		if rm := os.Remove(tmp); err == nil && rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = rm
		}
	}()
	compile := compileGo
	if hasFile(src, "Cargo.toml") {
		compile = compileRust
	}
	if words, err := compile(ctx, src, tmp); err != nil {
		return words, err
	}
	if err := wasm.Pack(tmp); err != nil {
		return nil, err
	}
	return nil, os.Rename(tmp, out)
}

func compileGo(ctx context.Context, src, out string) (words []byte, err error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", out, ".")
	cmd.Dir = src
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err != nil {
		return said.Bytes(), fmt.Errorf("go build: %w", err)
	}
	return nil, nil
}
