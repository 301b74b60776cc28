package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/event"
)

// loadTests reads a file of scenarios and the files beside it from a map.
func loadTests(t *testing.T, files map[string]string) *Tests {
	t.Helper()
	tests, diags := LoadTests("t.wgtest.hcl", Options{ReadFile: func(path string) ([]byte, error) {
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, os.ErrNotExist
	}})
	if tests == nil {
		t.Fatal(lines(diags))
	}
	return tests
}

// Times of a script are read against the scenario's date, which may stand anywhere in the block.
func TestScenario_times(t *testing.T) {
	tests := loadTests(t, map[string]string{"t.wgtest.hcl": small + `
scenario "times" {
  clock { at = "00:00:01" }
  clock { at = "12:30" }
  clock { at = "12:30:01.250" }
  clock { at = "2020-03-01T00:00:00+01:00" }
  clock { at = 1583020800000 }
  date = "2020-02-29"
}`})
	s := tests.Scenarios[0]
	if s.Problems().HasErrors() {
		t.Fatal(lines(s.Problems()))
	}
	var got []string
	for _, st := range s.Steps {
		got = append(got, st.At.String())
	}
	want := []string{
		"2020-02-29T00:00:01.000Z", "2020-02-29T12:30:00.000Z", "2020-02-29T12:30:01.250Z",
		"2020-02-29T23:00:00.000Z", "2020-03-01T00:00:00.000Z",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// A line of a file has what a block has.
func TestScenario_linesAreBlocks(t *testing.T) {
	tests := loadTests(t, map[string]string{
		"t.wgtest.hcl": small + `
scenario "lines" {
  event "s" {
    time      = "12:00"
    key       = "k"
    partition = 3
    headers   = [["a", "b"], ["c", null]]
    value     = { x = [1, 2.50, "t", null] }
  }
  expect "source.s" {
    key     = 1
    window  = [0, "00:01"]
    time    = -1
    pane    = { index = 2, timing = "late", first = false, last = true }
    retract = true
    value   = null
  }
  events "s" { file = "in.jsonl" }
  expect_file "source.s" { path = "out.jsonl" }
}`,
		"in.jsonl":  `{"time":"12:00","key":"k","partition":3,"headers":[["a","b"],["c",null]],"value":{"x":[1,2.5,"t",null]}}`,
		"out.jsonl": `{"key":1,"window":[0,"00:01"],"time":-1,"pane":{"index":2,"timing":"late","first":false,"last":true},"retract":true,"value":null}`,
	})
	s := tests.Scenarios[0]
	if s.Problems().HasErrors() {
		t.Fatal(lines(s.Problems()))
	}
	block, file := s.Steps[0].Records[0], s.Steps[2].Records[0]
	file.Pos = block.Pos
	if d := cmp.Diff(block, file); d != "" {
		t.Errorf("record: %s", d)
	}
	row, line := s.Steps[1].Rows[0], s.Steps[3].Rows[0]
	line.Pos = row.Pos
	if d := cmp.Diff(row, line); d != "" {
		t.Errorf("row: %s", d)
	}
	if row.Time == nil || *row.Time != -1 || row.Window.End != event.Time(1767225660000) || string(row.Value) != "null" {
		t.Errorf("row: %+v", row)
	}
}

// A scenario changes its own pipeline and no other's.
func TestScenario_config(t *testing.T) {
	tests := loadTests(t, map[string]string{"t.wgtest.hcl": small + `
broker "b" {}
aggregate "a" {
  input = source.s
  window "fixed" { size = "1m" }
  compute = { n = count() }
}
scenario "changed" {
  config "aggregate.a" {
    panes = "discarding"
    window "session" { gap = "5s" }
  }
  config "source.s" {
    kafka {
      topic  = "other"
      broker = broker.b
    }
  }
  expect_none "aggregate.a" {}
}
scenario "plain" {
  expect_none "aggregate.a.late" {}
}`})
	describe := func(s *Scenario) []string {
		p, diags := tests.Pipeline(s)
		if p == nil {
			t.Fatal(lines(diags))
		}
		a := p.Aggregates[0]
		got := []string{a.Window.String(), a.Panes, p.Sources[0].Kafka.Topics[0]}
		for _, r := range p.Taps {
			got = append(got, r.ID())
		}
		return got
	}
	plain := []string{"fixed(1m)", "accumulating", "t", "aggregate.a.late"}
	if d := cmp.Diff(plain, describe(tests.Scenarios[1])); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"session(5s)", "discarding", "other", "aggregate.a", "aggregate.a.late"}, describe(tests.Scenarios[0])); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(plain, describe(tests.Scenarios[1])); d != "" {
		t.Errorf("after the other: %s", d)
	}
}

// FuzzLoadTests: no text of a scenario, and no line of a file, may end the process.
func FuzzLoadTests(f *testing.F) {
	archives, err := filepath.Glob("../host/scenario/testdata/*.wgtest.hcl")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range archives {
		src, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		_, script, _ := strings.Cut(string(src), "\nscenario ")
		f.Add("scenario "+script, `{"time": "12:00", "value": {"a": 1}}`)
	}
	f.Add(`scenario "x" { events "s" { file = "f" } expect_file "s" { path = "f" } }`, `{"window":[0,1],"pane":{"index":1}}`)
	f.Fuzz(func(t *testing.T, script, line string) {
		tests, _ := LoadTests("t.wgtest.hcl", Options{ReadFile: func(path string) ([]byte, error) {
			if path == "t.wgtest.hcl" {
				return []byte(small + script), nil
			}
			return []byte(line), nil
		}})
		if tests == nil {
			return
		}
		for _, s := range tests.Scenarios {
			tests.Pipeline(s)
		}
	})
}
