package config

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/expr"
)

// timeForms is the end of every message about a time of a scenario.
const timeForms = `A time is "12:00", "12:00:30", "12:00:30.250" on the scenario's date, "2026-01-31T12:00:00Z", or whole milliseconds since the epoch.`

// timeOf reads an attribute that is a time.
func (r *scenarioReader) timeOf(b body, a *hclsyntax.Attribute) event.Time {
	lit, ok := b.literal(a)
	if !ok {
		return r.s.Start
	}
	t, ok := r.time(lit)
	if !ok {
		b.wrong(a, "%s", timeForms)
		return r.now // so that nothing more is said of it
	}
	return t
}

func (r *scenarioReader) time(lit event.Literal) (event.Time, bool) {
	switch lit.Kind {
	case event.Int:
		return event.Time(lit.Value.Int()), true
	case event.Instant:
		return lit.Value.Time(), true
	case event.String:
	default:
		return 0, false
	}
	if t, err := time.Parse(time.RFC3339Nano, lit.Text); err == nil {
		return event.TimeOf(t), true
	}
	for _, form := range []string{"15:04", "15:04:05"} { // the second takes a fraction, too
		if t, err := time.Parse(form, lit.Text); err == nil && len(lit.Text) <= len("15:04:05.000") {
			since := t.Sub(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC))
			return r.s.Start.Add(event.Duration(since.Milliseconds())), true
		}
	}
	return 0, false
}

// arrival sets one attribute of a record. It returns what is wrong with it.
func (r *scenarioReader) arrival(rec *Arrival, name string, lit event.Literal) string {
	switch name {
	case "time":
		t, ok := r.time(lit)
		if !ok {
			return timeForms
		}
		rec.Time = &t
	case "partition":
		if lit.Kind != event.Int || lit.Value.Int() < 0 || lit.Value.Int() > maxPartition {
			return "A partition is a whole number from 0 to " + strconv.Itoa(maxPartition) + "."
		}
		rec.Partition = int32(lit.Value.Int())
	case "key":
		rec.Key = plainBytes(lit)
	case "headers":
		return rec.readHeaders(lit)
	default:
		return rec.readValue(name, lit)
	}
	return ""
}

// plainBytes are the bytes of a Kafka key or header: a text as it is, an int in decimal, anything else JSON, null nil.
func plainBytes(lit event.Literal) []byte {
	switch lit.Kind {
	case event.String:
		return []byte(lit.Text)
	case event.Null:
		return nil
	}
	return jsonOf(lit)
}

func (rec *Arrival) readValue(name string, lit event.Literal) string {
	if rec.Value != nil || rec.Raw != nil {
		return "The record has a value already: value, raw and raw_base64 exclude each other."
	}
	switch {
	case name == "value" && lit.Kind == event.Null:
	case name == "value":
		rec.Value = jsonOf(lit)
	case lit.Kind != event.String:
		return "A text is needed here, in quotes."
	case name == "raw":
		rec.Raw = []byte(lit.Text)
	default:
		b, err := base64.StdEncoding.DecodeString(lit.Text)
		if err != nil {
			return "This is not base64 (standard alphabet, padded)."
		}
		rec.Raw = append([]byte{}, b...)
	}
	return ""
}

func (rec *Arrival) readHeaders(lit event.Literal) string {
	const form = `Headers are a list of pairs: [["trace", "1"], ["flag", null]].`
	var pairs [][]*string
	if lit.Kind != event.List || json.Unmarshal([]byte(lit.Text), &pairs) != nil {
		return form
	}
	for _, p := range pairs {
		if len(p) != 2 || p[0] == nil {
			return form
		}
		h := ArrivalHeader{Name: *p[0]}
		if p[1] != nil {
			h.Value = []byte(*p[1])
		}
		rec.Headers = append(rec.Headers, h)
	}
	return ""
}

// expected sets one attribute of an expected row. It returns what is wrong with it.
func (r *scenarioReader) expected(row *ExpectedRow, name string, lit event.Literal) string {
	switch name {
	case "key":
		row.Key = jsonOf(lit)
	case "value":
		row.Value = jsonOf(lit)
	case "time":
		t, ok := r.time(lit)
		if !ok {
			return timeForms
		}
		row.Time = &t
	case "window":
		return r.window(row, lit)
	case "retract":
		if lit.Kind != event.Bool {
			return "true or false is needed here."
		}
		is := lit.Value.Bool()
		row.Retract = &is
	case "pane":
		return row.readPane(lit)
	}
	return ""
}

func (r *scenarioReader) window(row *ExpectedRow, lit event.Literal) string {
	const form = `A window is [START, END]: ["12:00:00", "12:02:00"]. The global window is expected by leaving "window" out. `
	ends := members(lit)
	if lit.Kind != event.List || len(ends) != 2 {
		return form + timeForms
	}
	start, ok1 := r.time(ends[0])
	end, ok2 := r.time(ends[1])
	switch {
	case !ok1 || !ok2:
		return form + timeForms
	case end < start:
		return "The window ends before it starts."
	}
	row.Window = &event.Window{Start: start, End: end}
	return ""
}

// members returns the members of a constant list.
func members(lit event.Literal) []event.Literal {
	if lit.Kind != event.List {
		return nil
	}
	var out []event.Literal
	for m := jsontext.Each([]byte(lit.Text)); m.Next(); {
		out = append(out, literalOf(m.Value()))
	}
	return out
}

// literalOf reads the checked JSON text b as a constant.
func literalOf(b []byte) event.Literal {
	var h event.Heap
	v := jsontext.Read(&h, h.Put(b))
	if v.InHeap() {
		return event.Literal{Kind: v.Kind, Text: string(v.Bytes(&h))}
	}
	return event.Literal{Kind: v.Kind, Value: v}
}

var paneAttrs = []string{"index", "timing", "first", "last"}

func (row *ExpectedRow) readPane(lit event.Literal) string {
	const form = `A pane has index, timing, first and last: { index = 0, timing = "on_time", first = true, last = false }.`
	if lit.Kind != event.Object {
		return form
	}
	p := &ExpectedPane{}
	for m := jsontext.Each([]byte(lit.Text)); m.Next(); {
		name, v := string(m.Name()), literalOf(m.Value())
		is := v.Kind == event.Bool && v.Value.Bool()
		switch {
		case name == "index" && v.Kind == event.Int:
			n := v.Value.Int()
			p.Index = &n
		case name == "timing" && v.Kind == event.String && slices.Contains([]string{"early", "on_time", "late"}, v.Text):
			p.Timing = &v.Text
		case name == "first" && v.Kind == event.Bool:
			p.First = &is
		case name == "last" && v.Kind == event.Bool:
			p.Last = &is
		case !slices.Contains(paneAttrs, name):
			return "There is no " + strconv.Quote(name) + " in a pane." + didYouMean(name, paneAttrs) + " " + form
		default:
			return "The value of " + name + " is not what it must be. " + form
		}
	}
	row.Pane = p
	return ""
}

// line is one line of a file of events or expected rows: an object with the attributes of the block.
type line struct {
	ld   *loader
	a    *hclsyntax.Attribute
	file string
	num  int
	text []byte
	pos  expr.Pos
}

func (l *line) fail(why string) {
	l.ld.fail(l.a.Expr.Range(), "Invalid line", "%s line %d: %s", l.file, l.num, why)
}

func (l *line) has(name string) bool {
	_, _, ok := jsontext.Find(l.text, name)
	return ok
}

// each gives the members of the line to set, which returns what is wrong with one.
func (l *line) each(names []string, set func(name string, lit event.Literal) string) {
	seen := map[string]bool{}
	for m := jsontext.Each(l.text); m.Next(); {
		name := string(m.Name())
		switch {
		case !slices.Contains(names, name):
			l.fail("There is no attribute " + strconv.Quote(name) + "." + schema{attrs: names}.hint(name))
		case seen[name]:
			l.fail(strconv.Quote(name) + " stands there twice.")
		default:
			if why := set(name, literalOf(m.Value())); why != "" {
				l.fail(strconv.Quote(name) + ": " + why)
			}
		}
		seen[name] = true
	}
}

// lines reads the file that an attribute names, line by line.
func (r *scenarioReader) lines(b body, attr string, take func(*line)) {
	path := b.file(attr)
	if path == "" {
		return
	}
	a := b.attr(attr)
	text, err := r.ld.opts.ReadFile(path)
	if err != nil {
		r.ld.fail(a.Expr.Range(), "File cannot be read", "%s: %s. The path is relative to the file that names it.", path, cause(err))
		return
	}
	n := 0
	for raw := range strings.Lines(string(text)) {
		n++
		raw = strings.TrimSpace(raw)
		if raw == "" || len(r.ld.diags) > maxDiags {
			continue
		}
		l := &line{ld: r.ld, a: a, file: path, num: n, text: []byte(raw)}
		l.pos = expr.Pos{File: path, Line: n, Col: 1, EndLine: n, EndCol: len(raw) + 1}
		if !jsontext.Valid(l.text) || l.text[0] != '{' {
			l.fail("This is not a JSON object.")
			continue
		}
		take(l)
	}
}
