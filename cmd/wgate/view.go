package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// streams are the three standard streams of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// result is what a command found out. As JSON it is itself, as text it is what text writes: both come from one value, so
// that they cannot disagree.
type result interface {
	text(p *printer)
}

var jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print the result as JSON"}

// show prints r on standard output, as JSON if --json was given.
func (s streams) show(c *cli.Context, r result) error {
	if c.Bool(jsonFlag.Name) {
		return s.showJSON(r)
	}
	p := newPrinter(s.out)
	r.text(p)
	return p.err
}

func (s streams) showJSON(v any) error {
	enc := json.NewEncoder(s.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printer writes text for people. It keeps the first error, so that a view need not look after every line.
type printer struct {
	w      io.Writer
	colour bool
	err    error
}

// newPrinter returns a printer on w. Colours are used on a terminal only, and not if NO_COLOR is set to anything.
func newPrinter(w io.Writer) *printer {
	return &printer{w: w, colour: isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

// The colours of views, as the parameters of an SGR sequence.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint returns s in a colour, or as it is where there are none.
func (p *printer) paint(colour, s string) string {
	if !p.colour || s == "" {
		return s
	}
	return "\x1b[" + colour + "m" + s + "\x1b[0m"
}

// sgr finds what paint adds.
var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// columns is how wide s is on a screen.
func columns(s string) int { return utf8.RuneCountInString(sgr.ReplaceAllString(s, "")) }

// table prints rows with their columns aligned. The last column is not padded.
func (p *printer) table(rows [][]string) {
	var width []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], columns(cell))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		for i, cell := range r {
			b.WriteString(cell)
			if i < len(r)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-columns(cell)+2))
			}
		}
		p.printf("%s\n", strings.TrimRight(b.String(), " "))
	}
}
