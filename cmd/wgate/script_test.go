package main

import (
	"flag"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what commands printed into the scripts")

// TestMain lets scripts call wgate as a program: the test binary plays it, in a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"wgate": main})
}

// TestScripts runs testdata/script/*.txtar: files, commands, what they print and how they exit.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}
