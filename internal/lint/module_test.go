package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// dependencies are the modules that go.mod may name directly. What is added here needs a reason in the change that adds
// it: every module is code that somebody must read when it breaks.
var dependencies = []string{
	"github.com/cespare/xxhash/v2",        // key groups, hash()
	"github.com/cockroachdb/datadriven",   // tests
	"github.com/cockroachdb/pebble/v2",    // state on disk
	"github.com/fsnotify/fsnotify",        // wgate dev
	"github.com/google/go-cmp",            // tests
	"github.com/hashicorp/hcl/v2",         // the pipeline language
	"github.com/prometheus/client_golang", // metrics
	"github.com/rogpeppe/go-internal",     // tests
	"github.com/tetratelabs/wazero",       // plugins
	"github.com/twmb/franz-go",            // Kafka
	"github.com/twmb/franz-go/pkg/kadm",   // Kafka: topics
	"github.com/twmb/franz-go/pkg/kfake",  // the embedded broker
	"github.com/twmb/franz-go/pkg/kmsg",   // Kafka: requests
	"github.com/urfave/cli/v2",            // the command line
	"github.com/zclconf/go-cty",           // values inside hcl, in config only
	"go.uber.org/goleak",                  // tests
	"pgregory.net/rapid",                  // tests
}

// checkModule returns what a go.mod has that it should not.
func checkModule(text string) []string {
	var problems []string
	block := ""
	for line := range strings.Lines(text) {
		line, comment, _ := strings.Cut(line, "//")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		verb := block
		switch {
		case f[0] == ")":
			block = ""
			continue
		case len(f) == 2 && f[1] == "(":
			block = f[0]
			continue
		case block == "" && len(f) > 1:
			verb, f = f[0], f[1:]
		}
		switch {
		case verb == "require" && strings.TrimSpace(comment) != "indirect" && !slices.Contains(dependencies, f[0]):
			problems = append(problems, fmt.Sprintf("go.mod: %s is not in the list of internal/lint", f[0]))
		case verb == "replace" || verb == "tool":
			problems = append(problems, fmt.Sprintf("go.mod: %s %s: tools live in tools/, and nothing is replaced", verb, f[0]))
		}
	}
	return problems
}

func TestModule(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	report(t, checkModule(string(text)))
}

func TestModule_broken(t *testing.T) {
	wantProblem(t, checkModule("module m\nrequire example.com/a v1.0.0\n"), "example.com/a")
	wantProblem(t, checkModule("require (\n\texample.com/a v1.0.0\n\texample.com/b v1.0.0 // indirect\n)\n"), "example.com/a")
	wantProblem(t, checkModule("require pgregory.net/rapid v1\ntool example.com/a\n"), "tool example.com/a")
}
