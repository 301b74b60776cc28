package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// What a file may have at most. The HCL parser descends once for every level of nesting, without a limit of its own: some
// hundred kilobytes of "(" overflow its stack, which ends the process and cannot be recovered from.
const (
	maxFileBytes = 1 << 20
	maxDepth     = 200
)

// What a pipeline may have at most. Everything that is done for a pair of blocks or names stays cheap, whatever a node is
// sent.
const (
	maxBlocks = 1000
	maxNames  = 1000 // in one object, schema or list of names
)

// prescan refuses a file that must not reach the parser: one that is too large or nested too deep. It looks at HCL's own
// tokens, whose scanner has an explicit stack, so that strings, heredocs and comments are what the parser takes them for.
func prescan(name string, src []byte) *hcl.Diagnostic {
	if len(src) > maxFileBytes {
		return &hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "File too large",
			Detail: fmt.Sprintf("%s has %d bytes; a pipeline file may have %d (1 MiB). Split it: all .hcl files of a folder make one pipeline.",
				name, len(src), maxFileBytes),
			Subject: &hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos},
		}
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	var d depth
	d.levels = append(d.levels, 0)
	for i := range tokens {
		if d.take(&tokens[i], tokens[i+1:]) > maxDepth {
			return &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Nested too deep",
				Detail: fmt.Sprintf("Brackets, templates, operators and conditions may stand in each other %d levels deep, this is the next one. "+
					"Give the inner parts names in a local block.", maxDepth),
				Subject: tokens[i].Range.Ptr(),
			}
		}
	}
	return nil
}

// depth follows how deep the parser would be. Beside brackets it descends for: a run of unary operators, each ? of a chain
// of conditions, each [*] after the other, and each %{if and %{for until its end.
type depth struct {
	levels   []int // for each open bracket, the conditions and splats that are open inside it
	pending  int   // sum of levels
	controls int   // open %{if and %{for
	unary    int   // operators that directly precede
}

// take accounts for one token; rest are those that follow. It returns the depth after it.
func (d *depth) take(t *hclsyntax.Token, rest hclsyntax.Tokens) int {
	top := len(d.levels) - 1
	unary := 0
	switch t.Type {
	case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenTemplateInterp:
		d.levels = append(d.levels, 0)
	case hclsyntax.TokenTemplateControl:
		d.levels = append(d.levels, 0)
		d.control(rest)
	case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenTemplateSeqEnd:
		if top > 0 {
			d.pending -= d.levels[top]
			d.levels = d.levels[:top]
		}
	case hclsyntax.TokenQuestion:
		d.levels[top]++
		d.pending++
	case hclsyntax.TokenStar:
		// a * directly after [ or . is a splat: what follows the whole of it is parsed inside it
		if len(rest) > 0 && rest[0].Type == hclsyntax.TokenCBrack && top > 0 {
			d.levels[top-1]++
			d.pending++
		}
	case hclsyntax.TokenComma, hclsyntax.TokenNewline:
		d.pending -= d.levels[top]
		d.levels[top] = 0
	case hclsyntax.TokenMinus, hclsyntax.TokenBang:
		unary = d.unary + 1
	}
	d.unary = unary
	return len(d.levels) - 1 + d.pending + d.controls + d.unary
}

func (d *depth) control(rest hclsyntax.Tokens) {
	if len(rest) == 0 || rest[0].Type != hclsyntax.TokenIdent {
		return
	}
	switch string(rest[0].Bytes) {
	case "if", "for":
		d.controls++
	case "endif", "endfor":
		d.controls = max(d.controls-1, 0)
	}
}
