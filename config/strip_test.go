package config_test

import (
	"testing"

	"github.com/wgate/wgate/config"
)

func TestWithoutPlugins(t *testing.T) {
	const before = `# a pipeline
plugin "a" {
  path   = "a.wasm"
  config = { text = "}" }
}
source "in" { x = 1 } # plugin "b" {
plugin "c" { path = "c.wasm" }
`
	const want = `# a pipeline
plugin "a" }
source "in" { x = 1 } # plugin "b" {
plugin "c" }
`
	got, err := config.WithoutPlugins([]byte(before))
	if err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := config.WithoutPlugins([]byte(`plugin "a" {`)); err == nil {
		t.Error("a broken file is taken")
	}
}
