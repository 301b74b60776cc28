package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/wgate/wgate/expr"
)

// fail reports an error at rng. The summary is short and the same for all mistakes of its kind; the detail is whole
// sentences that say what to do.
func (ld *loader) fail(rng hcl.Range, summary, format string, args ...any) {
	ld.diags = append(ld.diags, diagnostic(hcl.DiagError, rng, summary, fmt.Sprintf(format, args...)))
}

// warn reports what is allowed and probably not meant.
func (ld *loader) warn(rng hcl.Range, summary, format string, args ...any) {
	ld.diags = append(ld.diags, diagnostic(hcl.DiagWarning, rng, summary, fmt.Sprintf(format, args...)))
}

// later reports what the language has and this version has not.
func (ld *loader) later(rng hcl.Range, what string) {
	ld.fail(rng, "Not in this version", "%s is not available in this version of wgate.", what)
}

// noFile reports an error that has no place in a file.
func (ld *loader) noFile(summary, detail string) {
	ld.diags = append(ld.diags, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail})
}

func diagnostic(sev hcl.DiagnosticSeverity, rng hcl.Range, summary, detail string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: sev, Summary: summary, Detail: detail, Subject: &rng}
}

// problems reports what package expr found.
func (ld *loader) problems(ps []expr.Problem) {
	for _, p := range ps {
		ld.fail(rangeOf(p.Pos), upper(p.Summary), "%s", period(p.Detail))
	}
}

// Diagnose returns one error at a place of the pipeline, for those who find out later that something cannot work: a plugin
// that lacks a function, a topic that does not exist. The summary is short, the detail says what to do.
func (p *Pipeline) Diagnose(pos expr.Pos, summary, detail string) hcl.Diagnostics {
	d := diagnostic(hcl.DiagError, rangeOf(pos), summary, detail)
	d.Extra = sourceText(p.texts[pos.File])
	return hcl.Diagnostics{d}
}

// upper gives a message of the lower packages the form of a diagnostic. Names of the language stay as they are.
func upper(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if s == "" || strings.ContainsAny(first, "_.(") {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// period ends a message with a full stop.
func period(s string) string {
	if s != "" && !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") {
		s += "."
	}
	return s
}

// posOf converts a range of HCL.
func posOf(r hcl.Range) expr.Pos {
	return expr.Pos{
		File: r.Filename,
		Line: r.Start.Line, Col: r.Start.Column, StartByte: r.Start.Byte,
		EndLine: r.End.Line, EndCol: r.End.Column, EndByte: r.End.Byte,
	}
}

// rangeOf is the inverse of posOf.
func rangeOf(p expr.Pos) hcl.Range {
	return hcl.Range{
		Filename: p.File,
		Start:    hcl.Pos{Line: p.Line, Column: p.Col, Byte: p.StartByte},
		End:      hcl.Pos{Line: p.EndLine, Column: p.EndCol, Byte: p.EndByte},
	}
}

// at writes a place as "file:line,column".
func at(r hcl.Range) string {
	return fmt.Sprintf("%s:%d,%d", r.Filename, r.Start.Line, r.Start.Column)
}
