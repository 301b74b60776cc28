package config

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// Diagnostic is one mistake as editors and other programs get it. Render shows people the same.
type Diagnostic struct {
	Severity string   `json:"severity"` // error | warning
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail"`
	File     string   `json:"file,omitempty"`
	Range    *Range   `json:"range,omitempty"`
	Snippet  *Snippet `json:"snippet,omitempty"`
}

// Range is a span of source text: Start is inside, End is not.
type Range struct {
	Start Place `json:"start"`
	End   Place `json:"end"`
}

// Place is a position in a file: lines and columns count from 1, bytes from 0.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Snippet is the line of source text that a diagnostic is about. Code[MarkStart:MarkEnd], in bytes, is what is marked. A
// very long line is cut around the mark.
type Snippet struct {
	Code      string `json:"code"`
	Line      int    `json:"line"`
	MarkStart int    `json:"mark_start"`
	MarkEnd   int    `json:"mark_end"`
}

// sourceText travels in hcl.Diagnostic.Extra, so that whoever shows a diagnostic needs no access to the files.
type sourceText []byte

// DiagnosticsJSON converts diagnostics to values that encoding/json writes. It never returns nil, so that no diagnostics
// are an empty list.
func DiagnosticsJSON(diags hcl.Diagnostics) []Diagnostic {
	out := make([]Diagnostic, 0, len(diags))
	for _, d := range diags {
		v := Diagnostic{Severity: "error", Summary: d.Summary, Detail: d.Detail}
		if d.Severity == hcl.DiagWarning {
			v.Severity = "warning"
		}
		if s := d.Subject; s != nil {
			v.File = s.Filename
			v.Range = &Range{
				Start: Place{s.Start.Line, s.Start.Column, s.Start.Byte},
				End:   Place{s.End.Line, s.End.Column, s.End.Byte},
			}
			if src, ok := d.Extra.(sourceText); ok {
				v.Snippet = snippet(src, *s)
			}
		}
		out = append(out, v)
	}
	return out
}

// snippetBytes is how much of a line is shown.
const snippetBytes = 160

// snippet cuts the first line of rng out of src.
func snippet(src []byte, rng hcl.Range) *Snippet {
	start, end := min(rng.Start.Byte, len(src)), min(rng.End.Byte, len(src))
	end = max(start, end)
	lo := bytes.LastIndexByte(src[:start], '\n') + 1
	hi := len(src)
	if i := bytes.IndexByte(src[start:], '\n'); i >= 0 {
		hi = start + i
	}
	hi = lo + len(bytes.TrimRight(src[lo:hi], "\r"))
	if hi-lo > snippetBytes {
		lo = max(lo, start-snippetBytes/2)
		hi = min(hi, lo+snippetBytes)
		for lo < start && !utf8.RuneStart(src[lo]) {
			lo++
		}
	}
	start, end = min(start, hi), min(end, hi)
	return &Snippet{
		Code:      strings.ToValidUTF8(string(src[lo:start]), "?") + strings.ToValidUTF8(string(src[start:hi]), "?"),
		Line:      rng.Start.Line,
		MarkStart: len(strings.ToValidUTF8(string(src[lo:start]), "?")),
		MarkEnd:   len(strings.ToValidUTF8(string(src[lo:start]), "?")) + len(strings.ToValidUTF8(string(src[start:end]), "?")),
	}
}

// Render shows diagnostics to people: what is wrong, where, the line with the place marked, and what to do.
func Render(w io.Writer, diags hcl.Diagnostics, color bool) error {
	return RenderJSON(w, DiagnosticsJSON(diags), color)
}

// The colours of a terminal.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	bold   = "\x1b[1m"
	faint  = "\x1b[2m"
	plain  = "\x1b[0m"
)

// RenderJSON is Render for diagnostics that came as JSON, for example from a node.
func RenderJSON(w io.Writer, diags []Diagnostic, color bool) error {
	var b strings.Builder
	paint := func(code, s string) string {
		if !color {
			return s
		}
		return code + s + plain
	}
	for i, d := range diags {
		if i > 0 {
			b.WriteByte('\n')
		}
		if d.Severity == "warning" {
			b.WriteString(paint(yellow+bold, "Warning: "))
		} else {
			b.WriteString(paint(red+bold, "Error: "))
		}
		b.WriteString(paint(bold, printable(d.Summary)) + "\n\n")
		if d.Range != nil {
			fmt.Fprintf(&b, "  on %s line %d:\n", printable(d.File), d.Range.Start.Line)
			if s := d.Snippet; s != nil {
				renderSnippet(&b, s, paint)
			}
			b.WriteByte('\n')
		}
		b.WriteString(printable(d.Detail) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func renderSnippet(b *strings.Builder, s *Snippet, paint func(code, s string) string) {
	num := fmt.Sprintf("%4d: ", s.Line)
	b.WriteString(paint(faint, num) + printable(s.Code[:s.MarkStart]) + paint(bold, printable(s.Code[s.MarkStart:s.MarkEnd])) +
		printable(s.Code[s.MarkEnd:]) + "\n")
	b.WriteString(strings.Repeat(" ", len(num)))
	for _, r := range s.Code[:s.MarkStart] {
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	b.WriteString(paint(red, strings.Repeat("^", max(1, utf8.RuneCountInString(s.Code[s.MarkStart:s.MarkEnd])))) + "\n")
}

// printable replaces what could steer a terminal: a file may come from anyone.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}
