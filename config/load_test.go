package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const small = `pipeline "p" {}
source "s" {
  kafka { topic = "t" }
}
`

// Each of these kills the process with a stack overflow, or would with more of it, if it reaches the parser.
func TestNestedTooDeep(t *testing.T) {
	tests := map[string]string{
		"parentheses": strings.Repeat("(", 200_000),
		"brackets":    strings.Repeat("[", 200_000),
		"braces":      strings.Repeat("{a=", 100_000),
		"templates":   strings.Repeat(`"${`, 60_000),
		"controls":    `"` + strings.Repeat(`%{if x}`, 60_000),
		"unary":       strings.Repeat("!", 200_000) + "x",
		"minus":       strings.Repeat("-", 200_000) + "x",
		"conditions":  strings.Repeat("x ? y : ", 100_000) + "z",
		"middle":      strings.Repeat("x ? ", 100_000) + "z",
		"splats":      "x" + strings.Repeat("[*]", 60_000),
		"indexes":     strings.Repeat("a[", 100_000),
		"calls":       strings.Repeat("f(", 100_000),
		"heredocs":    strings.Repeat("<<A\n${", 50_000),
		"mixed":       strings.Repeat("(!a?[-b?", 50_000),
	}
	for name, src := range tests {
		t.Run(name, func(t *testing.T) {
			_, diags := LoadBytes("p.hcl", []byte("a = "+src), Options{})
			if len(diags) == 0 || diags[0].Summary != "Nested too deep" {
				t.Fatalf("got %v", diags)
			}
		})
	}
}

// What is long without being deep is not refused by the scan, whatever else is wrong with it.
func TestLongIsNotDeep(t *testing.T) {
	tests := map[string]string{
		"sum":        "a = " + strings.Repeat("1 + ", 500) + "1",
		"list":       "a = [" + strings.Repeat("-1, ", 20_000) + "]",
		"conditions": "a = [" + strings.Repeat("x ? y : z,\n", 20_000) + "]",
		"lines":      strings.Repeat("b { a = x ? !y : -z }\n", 10_000),
		"controls":   `a = "` + strings.Repeat("%{if x}y%{endif}", 1_000) + `"`,
		"strings":    "a = \"" + strings.Repeat("(", 100_000) + "\"",
		"comment":    "/* " + strings.Repeat("(", 100_000) + " */",
	}
	for name, src := range tests {
		t.Run(name, func(t *testing.T) {
			if d := prescan("p.hcl", []byte(src)); d != nil {
				t.Fatal(d)
			}
		})
	}
}

func TestDepthLimitIsExact(t *testing.T) {
	for n, want := range map[int]bool{maxDepth: false, maxDepth + 1: true} {
		src := "a = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n)
		if got := prescan("p.hcl", []byte(src)) != nil; got != want {
			t.Errorf("%d levels: refused %v, want %v", n, got, want)
		}
	}
}

// A chain of operators is deep as a tree, but not for the parser.
func TestLongChain(t *testing.T) {
	for n, want := range map[int]string{500: "", 20_000: "Expression too deep"} {
		src := small + "local { a = " + strings.Repeat("1 + ", n) + "1 }"
		_, diags := LoadBytes("p.hcl", []byte(src), Options{})
		got := ""
		if len(diags) > 0 {
			got = diags[0].Summary
		}
		if got != want {
			t.Errorf("%d operators: %q, want %q", n, got, want)
		}
	}
}

func TestFileTooLarge(t *testing.T) {
	src := bytes.Repeat([]byte("# a comment\n"), maxFileBytes/12+1)
	_, diags := LoadBytes("p.hcl", src, Options{})
	if len(diags) != 1 || diags[0].Summary != "File too large" {
		t.Fatalf("got %v", diags)
	}
}

// Files that would be slow if every block or name were compared with every other without a bound.
func TestLarge(t *testing.T) {
	var blocks, locals, names, reads strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&blocks, "transform \"t%d\" { input = transform.x%d }\n", i, i)
		fmt.Fprintf(&locals, "a%d = local.b%d\n", i, i)
		fmt.Fprintf(&names, "a%d = value.x\n", i)
	}
	for i := range 900 {
		fmt.Fprintf(&reads, "b%d = value.c%d\n", i, i)
	}
	closed := strings.ReplaceAll(reads.String(), "value.c", "1+")
	tests := map[string]string{
		"Too many blocks":   small + blocks.String(),
		"Too many names":    small + "transform \"t\" {\ninput = source.s\nset = {\n" + names.String() + "}\n}\n",
		"Too many mistakes": small + "local {\n" + locals.String() + "}\n",
		"Unknown field c0": small + "transform \"a\" {\ninput = source.s\nvalue = {\n" + closed + "}\n}\n" +
			"transform \"b\" {\ninput = transform.a\nvalue = {\n" + reads.String() + "}\n}\n",
	}
	for want, src := range tests {
		t.Run(want, func(t *testing.T) {
			_, diags := LoadBytes("p.hcl", []byte(src), Options{})
			if text := lines(diags); !strings.Contains(text, want) {
				t.Errorf("got %d diagnostics: %.300s", len(diags), text)
			}
		})
	}
}

// A file of nonsense does not give a mistake for every byte.
func TestManyMistakes(t *testing.T) {
	_, diags := LoadBytes("p.hcl", []byte(strings.Repeat("${", 100)+strings.Repeat("x = @\n", 1000)), Options{})
	if len(diags) == 0 || len(diags) > maxDiags+1 {
		t.Fatalf("%d diagnostics", len(diags))
	}
}

func TestLoadFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("b.hcl", `plugin "x" { path = "x.wasm" }`)
	write("a.hcl", small)
	write("a.wgtest.hcl", "nonsense")
	write("README.md", "nonsense")
	p, diags := Load([]string{dir, filepath.Join(dir, "a.hcl")}, Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if p.Name != "p" || p.Dir != dir || len(p.Plugins) != 1 || p.Plugins[0].Path != filepath.Join(dir, "x.wasm") {
		t.Errorf("got %s", dump(p))
	}
}

func TestLoadFails(t *testing.T) {
	dir := t.TempDir()
	for name, paths := range map[string][]string{
		"No pipeline given":     nil,
		"No pipeline in folder": {dir},
		"File cannot be read":   {filepath.Join(dir, "none.hcl")},
	} {
		p, diags := Load(paths, Options{})
		if p != nil || len(diags) != 1 || diags[0].Summary != name {
			t.Errorf("%s: got %v", name, diags)
		}
	}
}

// Paths of an uploaded pipeline stay relative: the node knows its modules by digest.
func TestUpload(t *testing.T) {
	p, diags := LoadBytes("up.hcl", []byte(small+`plugin "x" { path = "mods/x.wasm" }`), Options{})
	if diags.HasErrors() || p.Plugins[0].Path != filepath.Join("mods", "x.wasm") {
		t.Fatalf("%v %v", p, diags)
	}
}

func TestSecretsAreNotLookedUpWithoutGetenv(t *testing.T) {
	src := small + `broker "b" {
  addresses = ["h:1"]
  sasl {
    user     = env("NOT_SET")
    password = file("not-there")
  }
}`
	p, diags := LoadBytes("p.hcl", []byte(src), Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if s := p.Brokers[0].SASL; s.User.Reveal() != "" || s.Password.Reveal() != "" {
		t.Error("a secret was looked up")
	}
}

func TestSecretFile(t *testing.T) {
	src := small + `broker "b" {
  addresses = ["h:1"]
  sasl {
    user     = "u"
    password = file("pw")
  }
}`
	var path string
	read := func(p string) ([]byte, error) {
		path = p
		return []byte("geheim\n"), nil
	}
	p, diags := LoadBytes("dir/p.hcl", []byte(src), Options{ReadFile: read, Getenv: func(string) (string, bool) { return "", false }})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if got := p.Brokers[0].SASL.Password; got.Reveal() != "geheim" || path != filepath.Join("dir", "pw") || got.String() == "geheim" {
		t.Errorf("password %q of %s", got.Reveal(), path)
	}
}

func TestRender(t *testing.T) {
	_, diags := LoadBytes("dir/p.hcl", []byte(small+"aggregate \"a\" {\n\tinput = source.s\n\talowed_lateness = \"1m\"\n\tcompute = { n = count() }\n}\n"), Options{})
	var b strings.Builder
	if err := Render(&b, diags, false); err != nil {
		t.Fatal(err)
	}
	want := `Error: Unknown attribute

  on dir/p.hcl line 7:
   7: 	alowed_lateness = "1m"
      	^^^^^^^^^^^^^^^

An aggregate block has no attribute "alowed_lateness". Did you mean "allowed_lateness"?
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	text, err := json.Marshal(DiagnosticsJSON(diags))
	if err != nil {
		t.Fatal(err)
	}
	wantJSON := `[{"severity":"error","summary":"Unknown attribute",` +
		`"detail":"An aggregate block has no attribute \"alowed_lateness\". Did you mean \"allowed_lateness\"?","file":"dir/p.hcl",` +
		`"range":{"start":{"line":7,"column":2,"byte":90},"end":{"line":7,"column":17,"byte":105}},` +
		`"snippet":{"code":"\talowed_lateness = \"1m\"","line":7,"mark_start":1,"mark_end":16}}]`
	if d := cmp.Diff(wantJSON, string(text)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// A diagnostic of a very long line, or with control characters, does not flood or steer the terminal.
func TestRenderIsTame(t *testing.T) {
	_, diags := LoadBytes("p.hcl", []byte("a = \"\x1b[2J\" "+strings.Repeat("(", 100_000)), Options{})
	var b strings.Builder
	if err := Render(&b, diags, false); err != nil {
		t.Fatal(err)
	}
	if len(b.String()) > 1000 || strings.ContainsRune(b.String(), '\x1b') {
		t.Errorf("%d bytes: %q", b.Len(), b.String()[:200])
	}
}

func TestDiagnose(t *testing.T) {
	p, diags := LoadBytes("p.hcl", []byte(small), Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got := lines(p.Diagnose(p.Sources[0].Kafka.Pos, "Missing topic", "Make it."))
	if want := "p.hcl:3,3-8: Missing topic; Make it.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFormat(t *testing.T) {
	got := string(Format([]byte("source \"s\" {\nkafka {\ntopic=\"t\"\n  start   = \"latest\"\n}\n}\n")))
	want := "source \"s\" {\n  kafka {\n    topic = \"t\"\n    start = \"latest\"\n  }\n}\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if deep := bytes.Repeat([]byte("("), 100_000); !bytes.Equal(Format(deep), deep) {
		t.Error("a file that is too deep was changed")
	}
}

// FuzzLoad: no text makes the loader panic, hang, or accept without a pipeline.
func FuzzLoad(f *testing.F) {
	for _, dir := range []string{"good", "bad"} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil {
			f.Fatal(err)
		}
		for _, name := range files {
			src, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			_, body, _ := strings.Cut(string(src), ".hcl --\n")
			body, _, _ = strings.Cut(body, "\n-- ")
			f.Add([]byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		p, diags := LoadBytes("p.hcl", src, Options{})
		if (p == nil) != diags.HasErrors() {
			t.Fatalf("pipeline %v with %v", p != nil, diags)
		}
		if err := Render(&strings.Builder{}, diags, true); err != nil {
			t.Fatal(err)
		}
		_ = Format(src)
	})
}
