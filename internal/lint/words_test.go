package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// The sizes that a reader can hold in mind. A test may be longer: its cases are read one at a time.
const (
	maxFileLines = 500
	maxFuncLines = 70
)

// checkSize returns what of s is too long.
func checkSize(s *source) []string {
	var problems []string
	if n := strings.Count(s.text, "\n"); n > maxFileLines {
		problems = append(problems, fmt.Sprintf("%s: %d lines, more than %d: one noun per file", s.path, n, maxFileLines))
	}
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		if n := fset.Position(f.End()).Line - fset.Position(f.Pos()).Line + 1; n > maxFuncLines {
			problems = append(problems, fmt.Sprintf("%s: %s has %d lines, more than %d", s.at(f.Pos()), f.Name.Name, n, maxFuncLines))
		}
	}
	return problems
}

func TestSize(t *testing.T) {
	for _, s := range sources(t, func(s *source) bool { return !s.test && !s.generated }) {
		report(t, checkSize(s))
	}
}

func TestSize_broken(t *testing.T) {
	long := "package p\nfunc f() {\n" + strings.Repeat("f()\n", maxFuncLines) + "}\n"
	wantProblem(t, checkSize(parse(t, "event/a.go", long)), "f has 72 lines")
	wantProblem(t, checkSize(parse(t, "event/a.go", "package p\n"+strings.Repeat("\n", maxFileLines))), "501 lines")
}

// checkDocs returns the exported names of s that have no doc comment, or one that is no sentence.
func checkDocs(s *source) []string {
	var problems []string
	check := func(name *ast.Ident, docs ...*ast.CommentGroup) {
		if !name.IsExported() {
			return
		}
		for _, d := range docs {
			if d == nil {
				continue
			}
			if !sentence(d.Text()) {
				problems = append(problems, fmt.Sprintf("%s: the comment of %s does not end in a period", s.at(name.Pos()), name.Name))
			}
			return
		}
		problems = append(problems, fmt.Sprintf("%s: %s has no doc comment", s.at(name.Pos()), name.Name))
	}
	for _, d := range s.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(receiver(d)) {
				check(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					check(spec.Name, spec.Doc, d.Doc)
				case *ast.ValueSpec:
					// One comment may explain a group of constants or variables.
					for _, name := range spec.Names {
						check(name, spec.Doc, d.Doc)
					}
				}
			}
		}
	}
	return problems
}

func receiver(f *ast.FuncDecl) string {
	x := f.Recv.List[0].Type
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.Ident:
			return y.Name
		default:
			return ""
		}
	}
}

// sentence reports whether text ends in a period. What is indented at its end is an example and not looked at.
func sentence(text string) bool {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for len(lines) > 0 {
		last := lines[len(lines)-1]
		if strings.TrimSpace(last) == "" || strings.HasPrefix(last, "\t") || strings.HasPrefix(last, " ") {
			lines = lines[:len(lines)-1]
			continue
		}
		last = strings.TrimRight(last, `)"`)
		return strings.HasSuffix(last, ".") || strings.HasSuffix(last, ":")
	}
	return false
}

func TestDocs(t *testing.T) {
	for _, s := range sources(t, func(s *source) bool { return productive(s) && !s.generated }) {
		report(t, checkDocs(s))
	}
}

func TestDocs_broken(t *testing.T) {
	for text, want := range map[string]string{ // order does not matter: each is a case of its own
		"package p\nfunc F() {}":                                     "F has no doc",
		"package p\ntype T int":                                      "T has no doc",
		"package p\n// T is.\ntype T int\nfunc (t *T) M() {}":        "M has no doc",
		"package p\nconst (\n A = 1\n)":                              "A has no doc",
		"package p\n// F does it\nfunc F() {}":                       "period",
		"package p\n// T is.\ntype T[A any] int\nfunc (T[A]) M() {}": "M has no doc",
	} {
		wantProblem(t, checkDocs(parse(t, "event/a.go", text)), want)
	}
	good := "package p\n// Letters.\nconst (\n A = 1\n B = 2\n)\ntype t int\nfunc (t) String() string { return \"\" }\n" +
		"// F is called so:\n//\n//\tF()\nfunc F() {}"
	report(t, checkDocs(parse(t, "event/a.go", good)))
}

// TestPackages wants a doc.go with the package's comment in every package, and nothing but the clause in it.
func TestPackages(t *testing.T) {
	has, dirs := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t, func(s *source) bool { return !below(s.dir(), "plugins/examples") && s.dir() != "." }) {
		dirs[s.dir()] = true
		if !strings.HasSuffix(s.path, "/doc.go") {
			continue
		}
		has[s.dir()] = true
		want := "Package " + s.ast.Name.Name + " "
		if s.ast.Name.Name == "main" {
			want = "Command "
		}
		if text := s.ast.Doc.Text(); !strings.HasPrefix(text, want) || !sentence(text) {
			t.Errorf("%s: want a comment that begins with %q and ends in a period", s.path, want)
		}
	}
	for dir := range dirs { // order does not matter: errors are read as a set
		if !has[dir] {
			t.Errorf("%s has no doc.go", dir)
		}
	}
}

// TestWords looks into every text file for what must not be there: places of the machine on which it was written, work
// that was put off, and bytes that are no text.
func TestWords(t *testing.T) {
	// The words are put together here, so that this file does not break its own rule.
	words := []string{"/ro" + "ot/", "/wo" + "rk/", "TO" + "DO", "FIX" + "ME", "XX" + "X:"}
	err := walk(func(name string) error {
		switch filepath.Ext(name) {
		case ".go", ".md", ".hcl", ".rs", ".toml", ".yml", ".mod", ".txtar", ".sh":
		default:
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if !utf8.Valid(text) {
			t.Errorf("%s: is not UTF-8", name)
		}
		for _, w := range words {
			if strings.Contains(string(text), w) {
				t.Errorf("%s: contains %q", name, w)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
