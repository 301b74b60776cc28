package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const moodyPipeline = `
variable "word" { default = "hello" }

pipeline "moody" {}

source "in" {
  file { path = "in.jsonl" }
  event_time = arrival()
}

plugin "echo" {
  path = "PLUGIN"
  limits {
    time   = "200ms"
    memory = "32MiB"
    output = "1MiB"
  }
  config = { word = var.word }
}

transform "moody" {
  input = source.in
  do    = plugin.echo.moody
}

transform "split" {
  input = source.in
  do    = plugin.echo.split
}

sink "out" {
  input = transform.moody
  stdout {}
}

sink "even" {
  input = transform.split
  file { path = "even.jsonl" }
}

sink "odd" {
  input = transform.split.odd
  file { path = "odd.jsonl" }
}
`

// TestPluginFailures: a plugin that panics, loops, hoards, floods, refuses or gives what is not JSON on some records costs
// those records and no others. They are dead letters with the plugin's digest; what it gave for others stays in order.
func TestPluginFailures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in := []string{`1`, `"panic"`, `2`, `"loop"`, `"drop"`, `[3]`, `"refuse"`, `"hoard"`, `4`, `"flood"`, `"broken"`, `5`}
	put("in.jsonl", strings.Join(in, "\n")+"\n")
	put("p.hcl", strings.ReplaceAll(moodyPipeline, "PLUGIN", echo(t)))
	out := succeeds(t, "run", filepath.Join(dir, "p.hcl"))
	same(t, "results", []string{
		`{"word":"hello","value":1}`, `{"word":"hello","value":2}`, `{"word":"hello","value":[3]}`,
		`{"word":"hello","value":4}`, `{"word":"hello","value":5}`,
	}, strings.Split(strings.TrimSpace(out), "\n"))

	codes := map[string]string{}
	for _, line := range fileLines(t, filepath.Join(dir, "moody.dead_letters.jsonl")) {
		var d struct {
			Value   json.RawMessage
			Headers [][2]string
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		h := map[string]string{}
		for _, x := range d.Headers {
			h[x[0]] = x[1]
		}
		codes[string(d.Value)] = h["wgate-dl-code"]
		if h["wgate-dl-operator"] != "transform.moody" || h["wgate-dl-reason"] == "" {
			t.Errorf("%s: %v", d.Value, h)
		}
		if len(h["wgate-dl-digest"]) != 64 && string(d.Value) != `"broken"` {
			t.Errorf("%s: no digest: %v", d.Value, h)
		}
	}
	for _, v := range []string{`"panic"`, `"loop"`, `"refuse"`, `"hoard"`, `"flood"`, `"broken"`} {
		if codes[v] == "" {
			t.Errorf("%s is no dead letter", v)
		}
		delete(codes, v)
	}
	for v := range codes { // there should be none
		t.Errorf("%s is a dead letter", v)
	}

	even, odd := fileLines(t, filepath.Join(dir, "even.jsonl")), fileLines(t, filepath.Join(dir, "odd.jsonl"))
	var wantEven, wantOdd []string
	for _, v := range in {
		if len(v)%2 == 0 {
			wantEven = append(wantEven, v)
		} else {
			wantOdd = append(wantOdd, v)
		}
	}
	same(t, "even", wantEven, even)
	same(t, "odd", wantOdd, odd)

	refused(t, 2, []string{"run", filepath.Join(dir, "p.hcl"), "--var", "word=refuse"}, `plugin "echo"`, "this word is not liked")
}

func fileLines(t testing.TB, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []string
	for s := bufio.NewScanner(f); s.Scan(); {
		out = append(out, s.Text())
	}
	return out
}
