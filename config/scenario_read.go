package config

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
)

// scenarioSchema has the attributes of a scenario; its blocks are steps and may stand there in any number.
var scenarioSchema = schema{attrs: []string{"date", "error", "leftover", "watermarks"}}

// stepForms are the blocks of a scenario.
var stepForms = map[string]stepForm{
	"config":      {labels: 1},
	"event":       {labels: 1, attrs: eventAttrs, read: (*scenarioReader).event},
	"events":      {labels: 1, attrs: []string{"file"}, read: (*scenarioReader).events},
	"watermark":   {labels: 1, attrs: []string{"at", "partition"}, read: (*scenarioReader).watermark},
	"idle":        {labels: 1, attrs: []string{"partition"}, read: (*scenarioReader).idle},
	"clock":       {attrs: []string{"at"}, read: (*scenarioReader).clock},
	"expect":      {labels: 1, attrs: expectAttrs, read: (*scenarioReader).expect},
	"expect_none": {labels: 1, read: (*scenarioReader).expectNone},
	"expect_file": {labels: 1, attrs: []string{"path"}, read: (*scenarioReader).expectFile},
	"commit":      {read: control(Commit)},
	"restart":     {read: control(Restart)},
	"crash":       {read: control(Crash)},
	"finish":      {read: control(Finish)},
}

// laterSteps are blocks of the language that this version cannot run.
var laterSteps = []string{"signal", "reload", "http_reply", "row", "rows"}

var (
	eventAttrs  = []string{"time", "key", "value", "partition", "headers", "raw", "raw_base64"}
	expectAttrs = []string{"key", "value", "window", "time", "pane", "retract"}
)

type stepForm struct {
	labels int
	attrs  []string
	read   func(r *scenarioReader, b body, st *Step)
}

// scenarioReader reads one scenario.
type scenarioReader struct {
	ld  *loader
	s   *Scenario
	now event.Time // of the script's clock
}

func (ld *loader) readScenario(name string, hb *hclsyntax.Block) *Scenario {
	b := ld.bodyOf(hb)
	s := &Scenario{Name: name, Pos: posOf(b.head)}
	r := &scenarioReader{ld: ld, s: s}
	for _, a := range sorted(hb.Body.Attributes) {
		if !slices.Contains(scenarioSchema.attrs, a.Name) {
			ld.fail(a.NameRange, "Unknown attribute", "A scenario has no attribute %q.%s", a.Name, scenarioSchema.hint(a.Name))
		}
	}
	s.Start = r.date(b)
	s.Leftover = b.choice("leftover", "fail", []string{"fail", "ignore"}) == "ignore"
	s.Generated = b.choice("watermarks", "script", []string{"script", "pipeline"}) == "pipeline"
	s.Error = b.text("error", "")
	r.now = s.Start
	for _, in := range hb.Body.Blocks {
		r.step(in)
	}
	if s.Error != "" && len(s.Steps) > 0 {
		ld.fail(rangeOf(s.Steps[0].Pos), "Steps of a refused pipeline", `With "error" the pipeline is to be refused, so that no step would run. Remove the one or the others.`)
	}
	return s
}

func (r *scenarioReader) date(b body) event.Time {
	def := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	t, err := time.Parse(time.DateOnly, b.text("date", def.Format(time.DateOnly)))
	if err != nil {
		b.wrong(b.attr("date"), `A date is YEAR-MONTH-DAY: "2026-01-31".`)
		t = def
	}
	return event.TimeOf(t)
}

// step reads one block of the script.
func (r *scenarioReader) step(hb *hclsyntax.Block) {
	ld, b := r.ld, r.ld.bodyOf(hb)
	form, ok := stepForms[hb.Type]
	switch {
	case slices.Contains(laterSteps, hb.Type):
		ld.later(hb.TypeRange, fmt.Sprintf("A step %q", hb.Type))
		return
	case !ok:
		names := append(keysOf(stepForms), laterSteps...)
		hint := didYouMean(hb.Type, names)
		if hint == "" {
			hint = " There are: " + strings.Join(keysOf(stepForms), ", ") + "."
		}
		ld.fail(hb.TypeRange, "Unknown step", "A scenario has no step %q.%s", hb.Type, hint)
		return
	case len(hb.Labels) != form.labels:
		ld.fail(hb.DefRange(), "Wrong number of labels", "Write %s.", usage(hb.Type, form.labels))
		return
	}
	if hb.Type == "config" {
		r.s.configs = append(r.s.configs, &topBlock{body: b, kind: "config", name: hb.Labels[0]})
		return
	}
	b.check(schema{attrs: form.attrs})
	st := Step{Block: b.what, Pos: posOf(b.head)}
	if form.labels == 1 {
		st.Name = hb.Labels[0]
	}
	form.read(r, b, &st)
	r.s.Steps = append(r.s.Steps, st)
}

func control(k StepKind) func(*scenarioReader, body, *Step) {
	return func(_ *scenarioReader, _ body, st *Step) { st.Kind = k }
}

func (r *scenarioReader) event(b body, st *Step) {
	st.Kind = Arrive
	rec := Arrival{Pos: st.Pos}
	for _, a := range sorted(b.hb.Attributes) {
		if lit, ok := b.literal(a); ok && slices.Contains(eventAttrs, a.Name) {
			if why := r.arrival(&rec, a.Name, lit); why != "" {
				b.wrong(a, "%s", why)
			}
		}
	}
	if b.attr("value") == nil && b.attr("raw") == nil && b.attr("raw_base64") == nil {
		b.required("value", `{ user = "a" }`)
	}
	st.Records = []Arrival{rec}
}

func (r *scenarioReader) events(b body, st *Step) {
	st.Kind = Arrive
	if b.required("file", `"events.jsonl"`) == nil {
		return
	}
	r.lines(b, "file", func(l *line) {
		rec := Arrival{Pos: l.pos}
		l.each(eventAttrs, func(name string, lit event.Literal) string { return r.arrival(&rec, name, lit) })
		if !l.has("value") && !l.has("raw") && !l.has("raw_base64") {
			l.fail(`The record has no "value" (nor "raw", nor "raw_base64"). A line is what an event block has: {"time": "12:00:30", "value": {"user": "a"}}.`)
		}
		st.Records = append(st.Records, rec)
	})
}

func (r *scenarioReader) watermark(b body, st *Step) {
	st.Kind, st.Partition = Mark, r.partition(b)
	if a := b.required("at", `"12:00:00"`); a != nil {
		st.At = r.timeOf(b, a)
	}
	if r.s.Generated {
		r.ld.fail(b.head, "Two makers of watermarks", `The scenario says watermarks = "pipeline", so that the source makes them from its events. Remove one of the two.`)
	}
}

func (r *scenarioReader) idle(b body, st *Step) {
	st.Kind, st.Partition = Idle, r.partition(b)
}

func (r *scenarioReader) partition(b body) int32 {
	return int32(b.integer("partition", int64(AllPartitions), 0, maxPartition))
}

// maxPartition is the largest number of a partition in a script; all partitions up to it take part.
const maxPartition = 9999

func (r *scenarioReader) clock(b body, st *Step) {
	st.Kind = MoveClock
	a := b.required("at", `"12:00:00"`)
	if a == nil {
		return
	}
	st.At = r.timeOf(b, a)
	if st.At < r.now {
		b.wrong(a, "The clock does not go back: it stands at %s already.", r.now)
	}
	r.now = max(r.now, st.At)
}

func (r *scenarioReader) expect(b body, st *Step) {
	st.Kind = Expect
	row := ExpectedRow{Pos: st.Pos}
	for _, a := range sorted(b.hb.Attributes) {
		if lit, ok := b.literal(a); ok && slices.Contains(expectAttrs, a.Name) {
			if why := r.expected(&row, a.Name, lit); why != "" {
				b.wrong(a, "%s", why)
			}
		}
	}
	st.Rows = []ExpectedRow{row}
}

func (r *scenarioReader) expectNone(_ body, st *Step) { st.Kind = ExpectNone }

func (r *scenarioReader) expectFile(b body, st *Step) {
	st.Kind = Expect
	if b.required("path", `"results.jsonl"`) == nil {
		return
	}
	r.lines(b, "path", func(l *line) {
		row := ExpectedRow{Pos: l.pos}
		l.each(expectAttrs, func(name string, lit event.Literal) string { return r.expected(&row, name, lit) })
		st.Rows = append(st.Rows, row)
	})
}
