package scenario

import (
	"fmt"
	"strings"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
)

// Outcome says how a scenario ended.
type Outcome string

// The outcomes.
const (
	Passed Outcome = "passed"
	Failed Outcome = "failed"
	NotRun Outcome = "not_run" // the script or the pipeline cannot be run
)

// Report is what a run of tests found.
type Report struct {
	Passed int    `json:"passed"`
	Failed int    `json:"failed"`
	NotRun int    `json:"not_run"` // scenarios, and files that could not be read
	Files  []File `json:"files"`
}

// File is a file of scenarios.
type File struct {
	Path        string              `json:"path"`
	Diagnostics []config.Diagnostic `json:"diagnostics,omitempty"` // of the file as a whole
	Unreadable  bool                `json:"unreadable,omitempty"`  // nothing in it could be run
	Scenarios   []Result            `json:"scenarios"`
	Plugins     []string            `json:"-"` // paths of the plugins of its pipelines
}

// Result is what became of one scenario.
type Result struct {
	Name        string              `json:"name"`
	File        string              `json:"file"`
	Line        int                 `json:"line"`
	Outcome     Outcome             `json:"outcome"`
	Millis      int64               `json:"ms"`
	Compared    int                 `json:"compared"`              // how many times something was compared
	Failure     *Failure            `json:"failure,omitempty"`     // of one that failed
	Diagnostics []config.Diagnostic `json:"diagnostics,omitempty"` // of one that was not run
	Reason      string              `json:"reason,omitempty"`      // why it was not run, where no diagnostic says it
}

// Failure says at which step a scenario failed, why, and how things stood then.
type Failure struct {
	File       string       `json:"file"`
	Line       int          `json:"line"`
	Step       string       `json:"step"`
	Message    string       `json:"message"`
	Collection string       `json:"collection,omitempty"`
	Missing    []string     `json:"missing,omitempty"` // expected rows that did not come
	Extra      []string     `json:"extra,omitempty"`   // rows that came and were not expected
	Notes      []string     `json:"notes,omitempty"`   // what the differences are
	Clock      string       `json:"clock"`
	Watermarks []Watermark  `json:"watermarks,omitempty"`
	Windows    []OpenWindow `json:"windows,omitempty"`
	Dead       []string     `json:"dead_letters,omitempty"`
}

// Watermark is how far a block's event time had come: of a source its own, of an aggregate that of its input.
type Watermark struct {
	Block string `json:"block"`
	At    string `json:"at"`
}

// OpenWindow is a window that an aggregate held when a scenario failed.
type OpenWindow struct {
	Block   string   `json:"block"`
	Key     string   `json:"key"`
	Window  string   `json:"window"`
	Panes   uint32   `json:"panes"`
	Unsent  bool     `json:"unsent"`
	Trigger []string `json:"trigger,omitempty"`
}

// text shows a row.
func (f *format) row(g *row) string {
	parts := []string{"key = " + g.key, "value = " + g.value}
	if g.windowed && !g.window.IsGlobal() {
		parts = append(parts, "window = "+f.window(g.window))
	}
	parts = append(parts, "time = "+f.time(g.time))
	if g.paned {
		parts = append(parts, fmt.Sprintf("pane = { index = %d, timing = %s, first = %t, last = %t }",
			g.pane.Index, g.pane.Timing, g.pane.First, g.pane.Last))
	}
	if g.retract {
		parts = append(parts, "retract = true")
	}
	return strings.Join(parts, "  ")
}

// want shows an expected row: what it names.
func (f *format) want(w *want) string {
	var parts []string
	add := func(name, text string) { parts = append(parts, name+" = "+text) }
	if w.key != "" {
		add("key", w.key)
	}
	if w.value != "" {
		add("value", w.value)
	}
	if w.Window != nil {
		add("window", f.window(*w.Window))
	}
	if w.Time != nil {
		add("time", f.time(*w.Time))
	}
	if w.Pane != nil {
		add("pane", f.pane(w.Pane))
	}
	if w.Retract != nil {
		add("retract", fmt.Sprint(*w.Retract))
	}
	if len(parts) == 0 {
		return "any row"
	}
	return strings.Join(parts, "  ")
}

func (f *format) pane(p *config.ExpectedPane) string {
	var parts []string
	if p.Index != nil {
		parts = append(parts, fmt.Sprintf("index = %d", *p.Index))
	}
	if p.Timing != nil {
		parts = append(parts, "timing = "+*p.Timing)
	}
	if p.First != nil {
		parts = append(parts, fmt.Sprintf("first = %t", *p.First))
	}
	if p.Last != nil {
		parts = append(parts, fmt.Sprintf("last = %t", *p.Last))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// mostShown is how many rows of a kind a failure shows.
const mostShown = 20

// explain fills a failure with what a comparison found.
func (fl *Failure) explain(v verdict, ws []want, got []row, f *format) {
	switch {
	case v.order:
		fl.Message = "the rows came in another order within their key"
		for i := range ws {
			fl.Missing = append(fl.Missing, f.want(&ws[i]))
		}
		for i := range got {
			fl.Extra = append(fl.Extra, f.row(&got[i]))
		}
	case len(got) == 0:
		fl.Message = "nothing came"
	case len(ws) == 0:
		fl.Message = "nothing was to come"
	default:
		fl.Message = fmt.Sprintf("%d of %d expected rows came; %d came that were not expected", len(ws)-len(v.missing), len(ws), len(v.extra))
	}
	left := append([]int(nil), v.extra...)
	for _, i := range v.missing {
		w := &ws[i]
		fl.Missing = append(fl.Missing, f.want(w))
		if g := nearest(w, got, left); g >= 0 && len(fl.Notes) < mostShown {
			fl.Notes = append(fl.Notes, f.note(w, &got[g]))
			left = remove(left, g)
		}
	}
	for _, g := range v.extra {
		fl.Extra = append(fl.Extra, f.row(&got[g]))
	}
	fl.Missing, fl.Extra = cut(fl.Missing), cut(fl.Extra)
}

// note says how a row differs from the expected one that it is most like.
func (f *format) note(w *want, g *row) string {
	var parts []string
	for _, d := range w.differences(g, f) {
		parts = append(parts, fmt.Sprintf("%s is %s, expected %s", d.attr, d.got, d.want))
	}
	return fmt.Sprintf("line %d: %s", w.Pos.Line, strings.Join(parts, "; "))
}

func remove(list []int, x int) []int {
	out := list[:0]
	for _, y := range list {
		if y != x {
			out = append(out, y)
		}
	}
	return out
}

func cut(list []string) []string {
	if len(list) <= mostShown {
		return list
	}
	return append(list[:mostShown:mostShown], fmt.Sprintf("and %d more", len(list)-mostShown))
}

func newFormat(s *config.Scenario) *format { return &format{day: s.Start} }

// mark is a watermark as people read it.
func (f *format) mark(t event.Time) string {
	switch t {
	case event.MinTime:
		return "not begun"
	case event.MaxTime:
		return "at the end of time"
	}
	return f.time(t)
}
