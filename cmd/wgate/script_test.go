package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wgate/wgate/host/wasm"
)

var update = flag.Bool("update", false, "write what commands printed into the scripts")

// TestMain lets scripts call wgate as a program: the test binary plays it, in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wgate": main, "produce": produce})
}

// TestScripts runs testdata/script/*.txtar: files, commands, what they print and how they exit. $SCORES is the example
// plugin, $UNPACKED the same without its manifest; $EXAMPLE is the folder of its pipeline. $STATS is the example of combiners,
// $ROUTE the plugin of testdata/route.
func TestScripts(t *testing.T) {
	built := t.TempDir()
	scores, unpacked := filepath.Join(built, "scores.wasm"), filepath.Join(built, "unpacked.wasm")
	buildGuest(t, "../../plugins/examples/scores", unpacked)
	if err := copyFile(scores, unpacked); err != nil {
		t.Fatal(err)
	}
	if err := wasm.Pack(scores); err != nil {
		t.Fatal(err)
	}
	stats, route := filepath.Join(built, "stats.wasm"), filepath.Join(built, "route.wasm")
	for dir, out := range map[string]string{"../../plugins/examples/stats": stats, "testdata/route": route} {
		buildGuest(t, dir, out)
		if err := wasm.Pack(out); err != nil {
			t.Fatal(err)
		}
	}
	example := filepath.Join(built, "scores")
	if err := os.CopyFS(example, os.DirFS("../../plugins/examples/scores")); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("SCORES", scores)
			e.Setenv("UNPACKED", unpacked)
			e.Setenv("STATS", stats)
			e.Setenv("ROUTE", route)
			e.Setenv("EXAMPLE", example)
			e.Setenv("WGATE_PLUGIN_CACHE", filepath.Join(built, "cache"))
			return nil
		},
	})
}

// buildGuest compiles the Go plugin in dir as `make guests` does.
func buildGuest(t *testing.T, dir, out string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", out, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=-mod=mod")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	return os.WriteFile(to, b, 0o600)
}
