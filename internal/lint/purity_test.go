package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// core are the packages that are values and functions: equal inputs give equal outputs, byte for byte (docs/adr/0001).
var core = []string{
	"event", "event/jsontext", "windowing", "windowing/gbkw", "triggers", "combine", "abi", "statestore", "expr", "codec", "host/commit",
}

// impure are packages that the core may not import, with what they would bring in. A path stands for all below it.
var impure = map[string]string{
	"os": "I/O", "io/fs": "I/O", "net": "I/O", "syscall": "I/O", "log": "I/O", "runtime": "the machine",
	"math/rand": "chance", "crypto/rand": "chance", "hash/maphash": "chance",
	"sync": "goroutines", "context": "goroutines", "unique": "the machine", "weak": "the machine",
}

// clockNames are the names of package time that read the clock or wait for it.
var clockNames = []string{"Now", "Sleep", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}

// orderComment on the line of a map range, or on the line before, says why the order does not matter.
const orderComment = "// order does not matter: "

// checkPurity returns what makes the result of s depend on more than its inputs. info may be nil; then ranges over maps
// go unseen.
func checkPurity(s *source, info *types.Info) []string {
	var problems []string
	bad := func(p token.Pos, format string, args ...any) {
		problems = append(problems, s.at(p)+": "+fmt.Sprintf(format, args...))
	}
	for _, imp := range s.ast.Imports {
		name := strings.Trim(imp.Path.Value, `"`)
		for p, what := range impure { // order does not matter: at most one matches
			if below(name, p) {
				bad(imp.Pos(), "imports %s: the core has nothing to do with %s", name, what)
			}
		}
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			bad(n.Pos(), "starts a goroutine: goroutines are started in host and cmd only")
		case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
			bad(n.Pos(), "uses a channel: the core is called, not messaged")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clockNames, n.Sel.Name) {
				bad(n.Pos(), "time.%s: time enters the core as an event", n.Sel.Name)
			}
		case *ast.RangeStmt:
			if info != nil && rangesMap(info, n.X) && !s.excused(n.Pos()) {
				bad(n.Pos(), "ranges over a map: sort the keys, or write %q and the reason", orderComment)
			}
		}
		return true
	})
	return problems
}

// rangesMap reports whether x is a map, or an iterator over one from package maps.
func rangesMap(info *types.Info, x ast.Expr) bool {
	if tv, ok := info.Types[x]; ok && tv.Type != nil {
		if _, ok := tv.Type.Underlying().(*types.Map); ok {
			return true
		}
	}
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	obj := info.Uses[sel.Sel]
	return obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == "maps"
}

// excused reports whether the line of p or the one before it carries an orderComment with a reason.
func (s *source) excused(p token.Pos) bool {
	line := fset.Position(p).Line
	lines := strings.Split(s.text, "\n")
	for _, l := range lines[max(0, line-2):line] {
		if _, reason, ok := strings.Cut(l, orderComment); ok && strings.TrimSpace(reason) != "" {
			return true
		}
	}
	return false
}

// exports lists the files with the types of compiled packages, by import path.
func exports(t *testing.T, patterns ...string) map[string]string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, patterns...)...)
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	files := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
}

// typesOf checks the types of one package of several files, whose imports are read from compiled packages.
func typesOf(t *testing.T, pkg string, files []*source, compiled map[string]string) *types.Info {
	t.Helper()
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(p string) (io.ReadCloser, error) {
		if compiled[p] == "" {
			return nil, fmt.Errorf("no compiled package %s", p)
		}
		return os.Open(compiled[p])
	})}
	var asts []*ast.File
	for _, s := range files {
		asts = append(asts, s.ast)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	if _, err := conf.Check(pkg, fset, asts, info); err != nil {
		t.Fatalf("%s: %v", pkg, err)
	}
	return info
}

func TestPurity(t *testing.T) {
	var patterns []string
	for _, pkg := range core {
		patterns = append(patterns, "./"+pkg)
	}
	compiled := exports(t, patterns...)
	for _, pkg := range core {
		files := sources(t, func(s *source) bool { return s.dir() == pkg && !s.test && built(s) })
		info := typesOf(t, module+"/"+pkg, files, compiled)
		for _, s := range files {
			report(t, checkPurity(s, info))
		}
	}
}

// built reports whether s is part of an ordinary build: it has no build constraint, or one that excludes test tags.
func built(s *source) bool {
	head, _, _ := strings.Cut(s.text, "\npackage ")
	_, constraint, ok := strings.Cut("\n"+head, "\n//go:build ")
	constraint, _, _ = strings.Cut(constraint, "\n")
	return !ok || strings.HasPrefix(constraint, "!")
}

func TestPurity_broken(t *testing.T) {
	compiled := exports(t, "time", "maps", "slices", "sync", "math/rand/v2")
	for _, tc := range []struct{ text, want string }{
		{`package p; import "time"; var T = time.Now()`, "time.Now"},
		{`package p; import _ "sync/atomic"`, "sync/atomic"},
		{`package p; import _ "math/rand/v2"`, "chance"},
		{`package p; func f() { go f() }`, "goroutine"},
		{`package p; var c chan int`, "channel"},
		{`package p; func f(m map[int]int) { for range m {} }`, "ranges over a map"},
		{"package p\nimport \"maps\"\nfunc f(m map[int]int) { for range maps.Keys(m) {} }", "ranges over a map"},
	} {
		s := parse(t, "event/a.go", tc.text)
		var info *types.Info
		if strings.Contains(tc.text, "map") {
			info = typesOf(t, "p", []*source{s}, compiled)
		}
		wantProblem(t, checkPurity(s, info), tc.want)
	}
	good := parse(t, "event/a.go", `package p
import ("maps"; "slices"; "time")
var T = time.UnixMilli(0)
func f(m map[int]int) (n int) {
	for _, k := range slices.Sorted(maps.Keys(m)) { n += k }
	// order does not matter: addition commutes
	for k := range m { n += k }
	return n
}`)
	report(t, checkPurity(good, typesOf(t, "p", []*source{good}, compiled)))
}

// TestGoroutines keeps `go` statements where they are started and joined: in host, in cmd, in the quickstart, which plays
// host and client at once, and in e2e, which watches processes.
func TestGoroutines(t *testing.T) {
	for _, s := range sources(t, func(s *source) bool {
		return productive(s) && !below(s.dir(), "host", "cmd", "internal/quickstart", "e2e")
	}) {
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				t.Errorf("%s: starts a goroutine outside host and cmd", s.at(g.Pos()))
			}
			return true
		})
	}
}

// TestInit refuses init functions: importing a package must do nothing. Example plugins are programs and may; crash points
// look at the environment once, before anything can be hit.
func TestInit(t *testing.T) {
	for _, s := range sources(t, func(s *source) bool { return productive(s) && s.dir() != "internal/crash" }) {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: func init: pass what is needed as a value", s.at(f.Pos()))
			}
		}
	}
}
