package scenario

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wgate/wgate/config"
)

// TestOwn runs the scenarios of testdata: all of them pass.
func TestOwn(t *testing.T) {
	pass(t, "testdata", nil)
}

// unavailable are scenarios of the conformance suite that need what this version has not. One that can be run after all
// must be taken out here.
var unavailable = map[string]string{
	"rules: punctuation": "after_match",
}

// TestConformance runs the files of the folder that WGATE_SCENARIOS names, which are not part of the repository: all of
// them pass, and every scenario of the folder must-fail in it fails by itself.
func TestConformance(t *testing.T) {
	dir := os.Getenv("WGATE_SCENARIOS")
	if dir == "" {
		t.Skip("skipped: WGATE_SCENARIOS names no folder of scenarios")
	}
	pass(t, dir, unavailable)
	fails := filepath.Join(dir, "must-fail")
	if _, err := os.Stat(fails); err != nil {
		return
	}
	r := runAll(t, fails, Options{})
	if r.Failed == 0 {
		t.Errorf("%s: no scenario in it has failed", fails)
	}
	for _, f := range r.Files {
		for _, s := range f.Scenarios {
			one := runAll(t, f.Path, Options{Run: regexp.MustCompile("^" + regexp.QuoteMeta(s.Name) + "$")})
			if one.Failed != 1 || one.Passed+one.NotRun != 0 {
				t.Errorf("%s: %s: %d failed, %d passed, %d not run; it must fail by itself", f.Path, s.Name, one.Failed, one.Passed, one.NotRun)
			}
		}
	}
}

func runAll(t *testing.T, path string, o Options) *Report {
	t.Helper()
	files, err := Files([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), files, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pass runs all files of dir, each as a test of its own. What is in without cannot be run.
func pass(t *testing.T, dir string, without map[string]string) {
	files, err := Files([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".wgtest.hcl")
		t.Run(name, func(t *testing.T) {
			r := runAll(t, path, Options{})
			if r.Passed == 0 {
				t.Errorf("no scenario has passed: %+v", r.Files)
			}
			for _, s := range r.Files[0].Scenarios {
				what, lacks := without[name+": "+s.Name]
				switch {
				case s.Outcome == NotRun && lacks && strings.Contains(s.Diagnostics[0].Summary, what):
					t.Logf("%s: needs %s", s.Name, what)
				case lacks:
					t.Errorf("%s: %s, but it is said to need %s", s.Name, s.Outcome, what)
				case s.Outcome == Failed:
					t.Errorf("%s:%d: %s\n%+v", s.Failure.File, s.Failure.Line, s.Name, s.Failure)
				case s.Outcome == NotRun:
					t.Errorf("%s:%d: %s cannot be run: %s %+v", s.File, s.Line, s.Name, s.Reason, s.Diagnostics)
				}
			}
		})
	}
}

// TestLeftoverOfLate: late rows of an aggregate that a scenario names count, though the scenario does not name them.
func TestLeftoverOfLate(t *testing.T) {
	path := write(t, `
scenario "late" {
  event "in" {
    time  = "00:00:10"
    value = 1
  }
  finish {}
  event "in" {
    time  = "00:00:20"
    value = 2
  }
  expect "aggregate.a" { value = { n = 1 } }
}
`)
	s := runAll(t, path, Options{}).Files[0].Scenarios[0]
	if s.Outcome != Failed || s.Failure.Collection != "aggregate.a.late" {
		t.Errorf("got %+v", s)
	}
}

// TestStopped: a pipeline that stops fails the scenario, at the step that stopped it.
func TestStopped(t *testing.T) {
	path := write(t, `
scenario "stops" {
  config "pipeline.p" { on_error = "fail" }
  event "in" { raw = "{" }
  expect_none "aggregate.a" {}
}
`)
	s := runAll(t, path, Options{}).Files[0].Scenarios[0]
	if s.Outcome != Failed || !strings.Contains(s.Failure.Message, "the pipeline stopped: source.in: not_json") || s.Failure.Step != `event "in"` {
		t.Errorf("got %+v, %+v", s, s.Failure)
	}
}

func write(t *testing.T, scenario string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.wgtest.hcl")
	const pipeline = `
pipeline "p" {}
source "in" {
  kafka { topic = "in" }
}
aggregate "a" {
  input = source.in
  window "fixed" { size = "1m" }
  compute = { n = count() }
}
`
	if err := os.WriteFile(path, []byte(pipeline+scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOwn_altered: whatever a scenario expects is compared. Without one of its rows, or with another value in it, it fails.
func TestOwn_altered(t *testing.T) {
	files, err := Files([]string{"testdata"})
	if err != nil {
		t.Fatal(err)
	}
	altered := 0
	for _, path := range files {
		tests, diags := config.LoadTests(path, config.Options{})
		if tests == nil {
			t.Fatal(diags)
		}
		for _, s := range tests.Scenarios {
			for i := range s.Steps {
				st := &s.Steps[i]
				for k := range st.Rows {
					all := st.Rows
					st.Rows = slices.Delete(slices.Clone(all), k, k+1)
					mustFail(t, tests, s, "without the row of line", all[k].Pos.Line)
					st.Rows = slices.Clone(all)
					st.Rows[k].Value = []byte(`"altered"`)
					mustFail(t, tests, s, "with another value in line", all[k].Pos.Line)
					st.Rows = all
					altered += 2
				}
			}
		}
	}
	if altered < 50 {
		t.Errorf("only %d alterations", altered)
	}
}

func mustFail(t *testing.T, tests *config.Tests, s *config.Scenario, what string, line int) {
	t.Helper()
	var res Result
	res.run(context.Background(), tests, s, &plugins{})
	if res.Outcome != Failed {
		t.Errorf("%s: %s %s %d: %s", tests.Path, s.Name, what, line, res.Outcome)
	}
}
