package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestReadme runs the example of the README in a folder of its own: what it says is what happens.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		t.Helper()
		m := regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```\n").FindAllSubmatch(text, -1)
		if len(m) != 1 {
			t.Fatalf("%d blocks of %s in the README, want 1", len(m), language)
		}
		return string(m[0][1])
	}
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"events.jsonl": block("json"), "pipeline.hcl": block("hcl")} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	s := streams{in: strings.NewReader(""), out: &stdout, err: &stderr}
	if code := runApp(t.Context(), []string{"wgate", "run", "pipeline.hcl"}, s); code != exitOK {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	if want := block("text"); stdout.String() != want {
		t.Errorf("wgate run prints\n%s\nthe README says\n%s", stdout.String(), want)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 2 {
		t.Errorf("the run left something behind: %v (%v)", entries, err)
	}
}
