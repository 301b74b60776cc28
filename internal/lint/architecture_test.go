package lint

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quoted finds what stands between back-ticks on one line.
var quoted = regexp.MustCompile("`([^`\n]+)`")

// A back-ticked text of docs/architecture.md that looks like one of these must exist: a path with a slash, a path and a
// name in that file, or a package and an exported name.
var (
	pathForm   = regexp.MustCompile(`^[\w.-]+(/[\w.*-]+)*/?$`)
	placeForm  = regexp.MustCompile(`^([\w.-]+(?:/[\w.-]+)*\.go):([A-Za-z]\w*(?:\.\w+)?)$`)
	symbolForm = regexp.MustCompile(`^([a-z]\w*)\.([A-Z]\w*(?:\.[A-Z]\w*)?)$`)
)

// index knows every top-level name of the repository.
type index struct {
	files    map[string]map[string]bool // path -> names declared there; methods as Type.Method and Method
	packages map[string]map[string]bool // last element of the folder -> names
}

func indexOf(all []*source) index {
	ix := index{map[string]map[string]bool{}, map[string]map[string]bool{}}
	for _, s := range all {
		names := map[string]bool{}
		ix.files[s.path] = names
		pkg := s.ast.Name.Name
		if ix.packages[pkg] == nil {
			ix.packages[pkg] = map[string]bool{}
		}
		for _, n := range declared(s.ast) {
			names[n] = true
			ix.packages[pkg][n] = true
		}
	}
	return ix
}

// declared returns the names that f declares at its top level, with the fields of its structs and the methods of its
// interfaces as Type.Name.
func declared(f *ast.File) []string {
	var names []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, d.Name.Name)
			if d.Recv != nil {
				names = append(names, receiver(d)+"."+d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						names = append(names, n.Name)
					}
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
					for _, m := range members(spec.Type) {
						names = append(names, spec.Name.Name+"."+m)
					}
				}
			}
		}
	}
	return names
}

func members(x ast.Expr) []string {
	var list *ast.FieldList
	switch x := x.(type) {
	case *ast.StructType:
		list = x.Fields
	case *ast.InterfaceType:
		list = x.Methods
	default:
		return nil
	}
	var names []string
	for _, f := range list.List {
		for _, n := range f.Names {
			names = append(names, n.Name)
		}
	}
	return names
}

// checkReferences returns what a document names that is not there. exists answers for paths from the root.
func checkReferences(doc, text string, ix index, exists func(string) bool) []string {
	var problems []string
	line := 0
	for l := range strings.Lines(text) {
		line++
		for _, m := range quoted.FindAllStringSubmatch(l, -1) {
			if why := ix.missing(m[1], exists); why != "" {
				problems = append(problems, fmt.Sprintf("%s:%d: `%s`: %s", doc, line, m[1], why))
			}
		}
	}
	return problems
}

func (ix index) missing(ref string, exists func(string) bool) string {
	if m := placeForm.FindStringSubmatch(ref); m != nil {
		switch names := ix.files[m[1]]; {
		case names == nil:
			return "no such file"
		case !names[m[2]]:
			return "the file declares no " + m[2]
		}
		return ""
	}
	if m := symbolForm.FindStringSubmatch(ref); m != nil {
		switch names := ix.packages[m[1]]; {
		case names == nil:
			return "no package " + m[1]
		case !names[m[2]]:
			return "package " + m[1] + " declares no " + m[2]
		}
		return ""
	}
	if pathForm.MatchString(ref) && (strings.Contains(ref, "/") || strings.HasSuffix(ref, ".go")) && !exists(ref) {
		return "no such path"
	}
	return ""
}

func TestArchitecture(t *testing.T) {
	all, err := allSources()
	if err != nil {
		t.Fatal(err)
	}
	ix := indexOf(all)
	docs := []string{"docs/architecture.md", "CONTRIBUTING.md"}
	adrs, err := filepath.Glob(filepath.Join(root, "docs/adr/*.md"))
	if err != nil || len(adrs) == 0 {
		t.Fatalf("docs/adr: no records found (%v)", err)
	}
	for _, p := range adrs {
		docs = append(docs, "docs/adr/"+filepath.Base(p))
	}
	for _, doc := range docs {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Error(err)
			continue
		}
		report(t, checkReferences(doc, string(text), ix, func(p string) bool {
			found, err := filepath.Glob(filepath.Join(root, p))
			return err == nil && len(found) > 0
		}))
	}
}

func TestArchitecture_broken(t *testing.T) {
	ix := indexOf([]*source{parse(t, "event/a.go", "package event\ntype T struct{ F int }\nfunc (*T) M() {}")})
	exists := func(p string) bool { return p == "event/" }
	for ref, want := range map[string]string{ // order does not matter: each is a case of its own
		"event/b.go:T":   "no such file",
		"event/a.go:X":   "declares no X",
		"event/a.go:T.X": "declares no T.X",
		"event.X":        "declares no X",
		"expr.T":         "no package expr",
		"expr/":          "no such path",
	} {
		wantProblem(t, checkReferences("d.md", "see `"+ref+"`.", ix, exists), want)
	}
	report(t, checkReferences("d.md", "`event/a.go:T.M` `event.T.F` `event/` `value.user` `wgate plan`", ix, exists))
}

// TestADR holds the form of the records of decisions: five sections, at most eighty lines.
func TestADR(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "docs/adr/*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range files {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), "\n"); n > 80 {
			t.Errorf("%s: %d lines, more than 80", filepath.Base(p), n)
		}
		for _, h := range []string{"Status", "Context", "Decision", "Rejected", "Consequences"} {
			if !strings.Contains(string(text), "\n## "+h+"\n") {
				t.Errorf("%s: no section %q", filepath.Base(p), h)
			}
		}
	}
}
