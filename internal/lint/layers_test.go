package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// layers lists the packages from the bottom up (docs/adr/0001). A package may import what stands in a row above its own
// in this table, and nothing of its own row or below, unless arrows says so. A package that is not listed is refused: it
// must be given a place first.
var layers = [][]string{
	{"internal/crash"},
	{"event"},
	{"event/jsontext"},
	{"abi/wasmbin"},
	{"windowing", "triggers", "combine", "abi", "statestore", "expr"},
	{"windowing/gbkw", "config", "statestore/memstore", "statestore/pebblestore", "codec", "plugins/sdk-go"},
	{"host/plan", "host/commit", "host/wasm/meter"},
	{"host/engine"},
	{"host/kafka", "host/file", "host/broker", "host/wasm", "host/observe", "host/admin"},
	{"host", "host/scenario"},
	{"internal/quickstart"},
	{"cmd/wgate", "e2e", "e2e/bench", "internal/lint", "abi/gen"},
}

// arrows are imports inside a layer, each with its reason.
var arrows = map[string]string{}

// forbidden are imports that the table would allow.
var forbidden = map[string]string{
	"host/scenario windowing/gbkw":  "a scenario tests the engine, not a copy of it",
	"host/scenario triggers":        "a scenario tests the engine, not a copy of it",
	"internal/quickstart windowing": "the expected results are computed independently",
	"internal/quickstart triggers":  "the expected results are computed independently",
	"internal/quickstart combine":   "the expected results are computed independently",
}

// thirdParty says who may import what is not ours. A path stands for itself and all packages below it, with a slash at
// its end for those below it only; the longest that matches decides. Tests may import what they like of what go.mod has.
var thirdParty = map[string][]string{
	"github.com/cespare/xxhash/v2":        {"statestore", "expr", "combine", "codec", "windowing/gbkw", "host/plan", "host/commit"},
	"github.com/cockroachdb/pebble/v2":    {"statestore/pebblestore"},
	"github.com/fsnotify/fsnotify":        {"host", "cmd/wgate"},
	"github.com/hashicorp/hcl/v2":         {"config", "host/plan", "host", "cmd/wgate"},
	"github.com/hashicorp/hcl/v2/":        {"config"},
	"github.com/prometheus/client_golang": {"host/observe"},
	"github.com/tetratelabs/wazero":       {"host/wasm"},
	"github.com/twmb/franz-go":            {"host/kafka", "host/broker", "internal/quickstart", "e2e/bench"},
	"github.com/urfave/cli/v2":            {"cmd/wgate"},
	"github.com/zclconf/go-cty":           {"config"},
}

func level(pkg string) int {
	return slices.IndexFunc(layers, func(row []string) bool { return slices.Contains(row, pkg) })
}

// checkLayers returns the imports of s that point the wrong way.
func checkLayers(s *source) []string {
	own, foreign := s.imports()
	from := s.dir()
	if level(from) < 0 {
		return []string{fmt.Sprintf("%s: package %s has no layer: give it a row in layers", s.path, from)}
	}
	var problems []string
	for _, to := range own {
		_, ok := arrows[from+" "+to]
		switch why, bad := forbidden[from+" "+to]; {
		case bad:
			problems = append(problems, fmt.Sprintf("%s: imports %s: %s", s.path, to, why))
		case level(to) < 0:
			problems = append(problems, fmt.Sprintf("%s: imports %s, which has no layer", s.path, to))
		case level(to) >= level(from) && !ok:
			problems = append(problems, fmt.Sprintf("%s: imports %s, which is not below it", s.path, to))
		}
	}
	for _, imp := range foreign {
		if standard(imp) {
			continue
		}
		if who := allowed(imp); !slices.Contains(who, from) {
			problems = append(problems, fmt.Sprintf("%s: imports %s, which only %v may", s.path, imp, who))
		}
	}
	return problems
}

// standard reports whether imp is of the standard library: its first element has no dot.
func standard(imp string) bool {
	first, _, _ := strings.Cut(imp, "/")
	return !strings.Contains(first, ".")
}

// allowed returns the packages that may import imp, by the longest matching row of thirdParty.
func allowed(imp string) []string {
	best := ""
	for row := range thirdParty { // order does not matter: the longest match is unique
		if strings.HasPrefix(imp+"/", strings.TrimSuffix(row, "/")+"/") && imp+"/" != row && len(row) > len(best) {
			best = row
		}
	}
	return thirdParty[best]
}

// productive reports whether s is part of the program: not a test, not what tests share (a package whose name ends in
// "test"), not an example plugin.
func productive(s *source) bool {
	return !s.test && !strings.HasSuffix(s.dir(), "test") && !below(s.dir(), "plugins/examples", "tools")
}

func TestLayers(t *testing.T) {
	for _, s := range sources(t, productive) {
		report(t, checkLayers(s))
	}
}

func TestLayers_broken(t *testing.T) {
	for _, tc := range []struct{ path, text, want string }{
		{"event/a.go", `package event; import _ "github.com/wgate/wgate/expr"`, "not below"},
		{"triggers/a.go", `package triggers; import _ "github.com/wgate/wgate/windowing"`, "not below"},
		{"host/kafka/a.go", `package kafka; import _ "github.com/wgate/wgate/host/wasm"`, "not below"},
		{"host/scenario/a.go", `package scenario; import _ "github.com/wgate/wgate/triggers"`, "not a copy"},
		{"novel/a.go", `package novel`, "no layer"},
		{"expr/a.go", `package expr; import _ "github.com/zclconf/go-cty/cty"`, "only [config] may"},
		{"host/plan/a.go", `package plan; import _ "github.com/hashicorp/hcl/v2/hclsyntax"`, "only [config] may"},
		{"config/a.go", `package config; import _ "example.com/new/thing"`, "only [] may"},
	} {
		wantProblem(t, checkLayers(parse(t, tc.path, tc.text)), tc.want)
	}
	good := parse(t, "host/plan/a.go", `package plan; import (_ "github.com/hashicorp/hcl/v2"; _ "github.com/wgate/wgate/config"; _ "sort")`)
	report(t, checkLayers(good))
}

// TestSDK_standardLibraryOnly keeps the module that plugin authors import free of dependencies.
func TestSDK_standardLibraryOnly(t *testing.T) {
	for _, s := range sources(t, func(s *source) bool { return below(s.dir(), "plugins/sdk-go") }) {
		own, foreign := s.imports()
		for _, imp := range own {
			if !below(imp, "plugins/sdk-go") {
				t.Errorf("%s: imports %s: the SDK is a module of its own", s.path, imp)
			}
		}
		for _, imp := range foreign {
			if !standard(imp) {
				t.Errorf("%s: imports %s: the SDK uses the standard library only", s.path, imp)
			}
		}
	}
}
