package config

import (
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// WithoutPlugins returns the text of a pipeline file with the bodies of its plugin blocks taken out: of two texts that are
// equal then, only plugins differ.
func WithoutPlugins(text []byte) ([]byte, error) {
	f, diags := hclsyntax.ParseConfig(text, "", hcl.InitialPos)
	if diags.HasErrors() {
		return nil, diags
	}
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok {
		return nil, errors.New("config: not a file in the native syntax")
	}
	var out []byte
	from := 0
	for _, b := range body.Blocks {
		if b.Type == "plugin" {
			out = append(out, text[from:b.OpenBraceRange.Start.Byte]...)
			from = b.CloseBraceRange.Start.Byte
		}
	}
	return append(out, text[from:]...), nil
}
