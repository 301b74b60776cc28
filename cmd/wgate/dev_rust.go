package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// rustTargets are the targets that a plugin may be built for, best first.
var rustTargets = []string{"wasm32-wasip1", "wasm32-wasi", "wasm32-unknown-unknown"}

var errNoRustTarget = errors.New("rustc has no standard library for WebAssembly: run `rustup target add wasm32-wasip1`, or install Debian's libstd-rust-dev-wasm32")

// compileRust builds the crate in src and copies the module to out. It returns what the compiler said.
func compileRust(ctx context.Context, src, out string) (words []byte, err error) {
	target, err := rustTarget(ctx)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "cargo", "build", "--quiet", "--release", "--lib", "--target", target, "--message-format=json-render-diagnostics")
	cmd.Dir = src
	var said, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &told, &said
	if err := cmd.Run(); err != nil {
		return said.Bytes(), errors.Join(errors.New("cargo build failed"), err)
	}
	module := rustModule(told.Bytes())
	if module == "" {
		return said.Bytes(), errors.New(`cargo built no .wasm file: the crate needs [lib] crate-type = ["cdylib"]`)
	}
	text, err := os.ReadFile(module)
	if err != nil {
		return nil, err
	}
	return nil, os.WriteFile(out, text, 0o600)
}

// rustTarget returns the first target whose standard library is installed.
func rustTarget(ctx context.Context) (string, error) {
	for _, t := range rustTargets {
		dir, err := exec.CommandContext(ctx, "rustc", "--print", "target-libdir", "--target", t).Output()
		if err != nil {
			continue
		}
		if found, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "libstd-*.rlib")); len(found) > 0 {
			return t, nil
		}
	}
	return "", errNoRustTarget
}

// rustModule returns the .wasm file that cargo's messages name last: that of the crate itself.
func rustModule(messages []byte) (path string) {
	lines := bufio.NewScanner(bytes.NewReader(messages))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var m struct{ Filenames []string }
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		for _, f := range m.Filenames {
			if strings.HasSuffix(f, ".wasm") {
				path = f
			}
		}
	}
	return path
}
