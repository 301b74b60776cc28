package abi

import (
	"errors"
	"strings"
	"testing"
)

func TestParseManifest(t *testing.T) {
	m, err := ParseManifest([]byte(`{"abi":1,"name":"p","new":{},"functions":[{"id":0,"name":"a","kind":"dofn","tags":["x","y"]},{"id":1,"name":"b","kind":"dofn"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	f := m.Function("a")
	if f == nil || f.Tag("") != 0 || f.Tag("x") != 1 || f.Tag("y") != 2 || f.Tag("z") != -1 || m.Function("c") != nil {
		t.Errorf("%+v", m)
	}
	for text, want := range map[string]string{
		`{`:                         "unexpected end",
		`{"abi":2,"functions":[]}`:  "it is for ABI 2, this wgate speaks 1",
		`{"abi":1,"functions":[]}`:  "names no function",
		strings.Repeat(" ", 70_000): "at most 65536",
		`{"abi":1,"functions":[{"id":1,"name":"a","kind":"dofn"}]}`:                                   "has id 1 in place 0",
		`{"abi":1,"functions":[{"id":0,"name":"a b","kind":"dofn"}]}`:                                 `name "a b"`,
		`{"abi":1,"functions":[{"id":0,"name":"a","kind":"trigger"}]}`:                                `kind "trigger", which is not available`,
		`{"abi":1,"functions":[{"id":0,"name":"a","kind":"dofn"},{"id":1,"name":"a","kind":"dofn"}]}`: `"a" occurs twice`,
		`{"abi":1,"functions":[{"id":0,"name":"a","kind":"dofn","tags":["x","x"]}]}`:                  `tag "x"`,
		`{"abi":1,"functions":[{"id":0,"name":"a","kind":"dofn","tags":[""]}]}`:                       `tag ""`,
	} {
		if _, err := ParseManifest([]byte(text)); !errors.Is(err, ErrManifest) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}
