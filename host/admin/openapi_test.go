package admin

import (
	"os"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOpenAPI compares docs/openapi.yaml with the routes, and the fields of its schemas with those of the types.
func TestOpenAPI(t *testing.T) {
	text, err := os.ReadFile("../../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	paths, schemas, ok := strings.Cut(string(text), "\n  schemas:\n")
	if !ok {
		t.Fatal("no schemas")
	}
	var got, want []string
	path := ""
	for line := range strings.Lines(paths) {
		if m := regexp.MustCompile(`^  (/\S*):\n`).FindStringSubmatch(line); m != nil {
			path = m[1]
		}
		if m := regexp.MustCompile(`^    (get|put|post|delete|head):\n`).FindStringSubmatch(line); m != nil {
			got = append(got, strings.ToUpper(m[1])+" "+path)
		}
	}
	for _, rt := range routes {
		want = append(want, rt.method+" "+rt.path)
	}
	sort.Strings(got)
	sort.Strings(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("routes (-code +page):\n%s", d)
	}
	for name, v := range map[string]any{ // order does not matter
		"Failure": Failure{}, "About": About{}, "Bundle": Bundle{}, "File": File{}, "Summary": Summary{}, "Source": SourceStatus{},
		"Stage": StageStatus{}, "Plugin": PluginStatus{}, "Change": Change{}, "LogLine": LogLine{}, "Status": Status{}, "ModuleRef": ModuleRef{},
	} {
		_, rest, ok := strings.Cut(schemas, "    "+name+":\n")
		if !ok {
			t.Errorf("no schema %s", name)
			continue
		}
		rest = regexp.MustCompile(`(?m)^    [A-Z]\w*:$`).Split(rest, 2)[0]
		for _, field := range fields(reflect.TypeOf(v)) {
			if !regexp.MustCompile(`(?m)^ +` + field + `:`).MatchString(rest) {
				t.Errorf("schema %s: no field %s", name, field)
			}
		}
	}
}

// fields returns the JSON names of the fields of a struct itself.
func fields(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}
