package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

var rewrite = flag.Bool("rewrite", false, "write what the loader gives into testdata")

// TestGolden loads the .hcl files of every archive. A section "vars" holds NAME=VALUE lines, "varfile" a file of
// variables; "diagnostics" and "pipeline" are what is expected.
func TestGolden(t *testing.T) {
	for _, dir := range []string{"good", "bad"} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no archives in %s: %v", dir, err)
		}
		for _, f := range files {
			t.Run(dir+"/"+strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) { golden(t, dir, f) })
		}
	}
}

func golden(t *testing.T, dir, name string) {
	ar, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p, diags := loadArchive(ar)
	got := map[string]string{}
	if len(diags) > 0 || dir == "bad" {
		got["diagnostics"] = lines(diags)
	}
	if p != nil && dir == "good" {
		got["pipeline"] = dump(p)
	}
	if (dir == "bad") != diags.HasErrors() {
		t.Errorf("errors: %v, want %v:\n%s", diags.HasErrors(), dir == "bad", lines(diags))
	}
	want := map[string]string{}
	var kept []txtar.File
	for _, f := range ar.Files {
		if f.Name == "diagnostics" || f.Name == "pipeline" {
			want[f.Name] = string(f.Data)
		} else {
			kept = append(kept, f)
		}
	}
	if *rewrite {
		for _, section := range []string{"diagnostics", "pipeline"} {
			if got[section] != "" {
				kept = append(kept, txtar.File{Name: section, Data: []byte(got[section])})
			}
		}
		ar.Files = kept
		if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func loadArchive(ar *txtar.Archive) (*Pipeline, hcl.Diagnostics) {
	opts := Options{Vars: map[string]string{}, Getenv: func(name string) (string, bool) { return "of " + name, name != "UNSET" }}
	files := map[string][]byte{}
	var paths []string
	for _, f := range ar.Files {
		files[f.Name] = f.Data
		switch {
		case strings.HasSuffix(f.Name, ".hcl"):
			paths = append(paths, f.Name)
		case f.Name == "varfile":
			opts.VarFiles = append(opts.VarFiles, f.Name)
		case f.Name == "vars":
			for line := range strings.Lines(string(f.Data)) {
				k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
				opts.Vars[k] = v
			}
		}
	}
	opts.ReadFile = func(path string) ([]byte, error) {
		if src, ok := files[path]; ok {
			return src, nil
		}
		return nil, os.ErrNotExist
	}
	return Load(paths, opts)
}

// lines writes diagnostics one on a line: "file:line,col-col: Summary; Detail".
func lines(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range DiagnosticsJSON(diags) {
		if d.Severity == "warning" {
			b.WriteString("warning: ")
		}
		if d.Range != nil {
			end := fmt.Sprint(d.Range.End.Column)
			if d.Range.End.Line != d.Range.Start.Line {
				end = fmt.Sprintf("%d,%d", d.Range.End.Line, d.Range.End.Column)
			}
			fmt.Fprintf(&b, "%s:%d,%d-%s: ", d.File, d.Range.Start.Line, d.Range.Start.Column, end)
		}
		fmt.Fprintf(&b, "%s; %s\n", d.Summary, d.Detail)
	}
	return b.String()
}

// dump writes what is not zero in a pipeline, without places.
func dump(p *Pipeline) string {
	var b bytes.Buffer
	dumpValue(&b, reflect.ValueOf(*p), "")
	return strings.ReplaceAll(b.String(), "\\", "/")
}

func dumpValue(b *bytes.Buffer, v reflect.Value, indent string) {
	t := v.Type()
	for i := range t.NumField() {
		f := v.Field(i)
		if t.Field(i).Name == "Pos" || !t.Field(i).IsExported() || f.IsZero() {
			continue
		}
		dumpField(b, f, indent+t.Field(i).Name)
	}
}

func dumpField(b *bytes.Buffer, f reflect.Value, label string) {
	switch x := f.Interface().(type) {
	case Ref:
		fmt.Fprintf(b, "%s = %s\n", label, x.ID())
	case *expr.Expr:
		fmt.Fprintf(b, "%s = %s : %s\n", label, x, x.Type())
	case *Broker:
		if strings.HasSuffix(label, ".Broker") {
			fmt.Fprintf(b, "%s = %s\n", label, x.Name)
			return
		}
		dumpValue(b, f.Elem(), label+".")
	case *Plugin:
		if strings.HasSuffix(label, ".Plugin") {
			fmt.Fprintf(b, "%s = %s\n", label, x.Name)
			return
		}
		dumpValue(b, f.Elem(), label+".")
	case event.Type:
		fmt.Fprintf(b, "%s = %s\n", label, x)
	case *event.Type:
		fmt.Fprintf(b, "%s = %s\n", label, x)
	case triggers.Spec:
		fmt.Fprintf(b, "%s = %s\n", label, x)
	case windowing.Spec:
		fmt.Fprintf(b, "%s = %s\n", label, x)
	case event.Duration, event.Time, Secret:
		fmt.Fprintf(b, "%s = %s\n", label, x)
	case []byte:
		fmt.Fprintf(b, "%s = %s\n", label, x)
	default:
		dumpOther(b, f, label)
	}
}

func dumpOther(b *bytes.Buffer, f reflect.Value, label string) {
	switch {
	case f.Kind() == reflect.Pointer:
		dumpValue(b, f.Elem(), label+".")
	case f.Kind() == reflect.Struct:
		dumpValue(b, f, label+".")
	case f.Kind() == reflect.Slice:
		for i := range f.Len() {
			dumpField(b, f.Index(i), fmt.Sprintf("%s[%d]", label, i))
		}
	default:
		fmt.Fprintf(b, "%s = %v\n", label, f.Interface())
	}
}
