package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// module is the path of the root module; nested modules live below it under the same path.
const module = "github.com/wgate/wgate"

// root is where the repository starts, seen from this folder.
const root = "../.."

// fset has the places of all sources.
var fset = token.NewFileSet()

// source is one parsed Go file.
type source struct {
	path      string // from the root of the repository, with slashes
	test      bool
	generated bool
	ast       *ast.File
	text      string
}

// dir returns the folder of the file, which is also its package's path below the module ("." for the root).
func (s *source) dir() string { return path.Dir(s.path) }

// at names a place for a message.
func (s *source) at(p token.Pos) string {
	return s.path + ":" + strconv.Itoa(fset.Position(p).Line)
}

// imports returns the import paths of the file. Those of this repository are cut to what follows the module path.
func (s *source) imports() (own, foreign []string) {
	for _, imp := range s.ast.Imports {
		p, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			continue
		}
		if rest, ok := strings.CutPrefix(p, module+"/"); ok {
			own = append(own, rest)
		} else {
			foreign = append(foreign, p)
		}
	}
	return own, foreign
}

// parse makes a source of a text, for the tests of rules.
func parse(t *testing.T, name, text string) *source {
	t.Helper()
	s, err := parseText(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parseText(name, text string) (*source, error) {
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	return &source{
		path: name, test: strings.HasSuffix(name, "_test.go"), generated: ast.IsGenerated(f), ast: f, text: text,
	}, nil
}

// allSources reads every Go file of the repository once, in the order of their paths.
var allSources = sync.OnceValues(func() ([]*source, error) {
	var all []*source
	err := walk(func(name string) error {
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		s, err := parseText(name, string(text))
		if err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	return all, err
})

// sources returns the files of the repository that keep accepts.
func sources(t *testing.T, keep func(*source) bool) []*source {
	t.Helper()
	all, err := allSources()
	if err != nil {
		t.Fatal(err)
	}
	var out []*source
	for _, s := range all {
		if keep(s) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		t.Fatal("no source was found: the rule would hold for nothing")
	}
	return out
}

// walk calls visit for every file that belongs to the repository; hidden folders, what was built and test data do not.
func walk(visit func(name string) error) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "target") {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel))
	})
}

// below reports whether dir is one of the folders or lies in one.
func below(dir string, folders ...string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return dir == f || strings.HasPrefix(dir, f+"/") })
}

// report fails the test with every problem.
func report(t *testing.T, problems []string) {
	t.Helper()
	for _, p := range problems {
		t.Error(p)
	}
}

// wantProblem checks that a rule finds just one problem in a source that breaks it, and that it says what it should.
func wantProblem(t *testing.T, problems []string, part string) {
	t.Helper()
	if len(problems) != 1 || !strings.Contains(problems[0], part) {
		t.Errorf("problems = %q, want one with %q", problems, part)
	}
}
