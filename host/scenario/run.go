package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/plan"
)

// Options say what is run. The zero Options run everything.
type Options struct {
	Config      config.Options
	Run         *regexp.Regexp // only scenarios whose name it matches; nil: all
	PluginCache string         // folder of compiled plugins; empty: a folder of the user's cache
}

// ErrNothing is wrapped by the error of a run that has nothing to run.
var ErrNothing = errors.New("nothing to run")

// Files returns the files of scenarios that paths name: a file is one itself, a folder stands for those in it, in the order
// of their names.
func Files(paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil || !info.IsDir() {
			out = append(out, filepath.Clean(p)) // reading it says what is wrong
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			return nil, fmt.Errorf("folder of scenarios: %w", err)
		}
		n := len(out)
		for _, e := range entries {
			if !e.IsDir() && strings.HasSuffix(e.Name(), config.TestSuffix) {
				out = append(out, filepath.Join(p, e.Name()))
			}
		}
		if len(out) == n {
			return nil, fmt.Errorf("%w: folder %s has no file *%s", ErrNothing, p, config.TestSuffix)
		}
	}
	return out, nil
}

// Run runs the scenarios of files, one after the other. The error is of the machinery, or ErrNothing if no scenario has a
// name that Options.Run matches; what is wrong with files and scenarios is in the report.
func Run(ctx context.Context, files []string, o Options) (r *Report, err error) {
	r = &Report{}
	p := &plugins{cache: o.PluginCache}
	defer func() { err = errors.Join(err, p.close(context.WithoutCancel(ctx))) }()
	for _, path := range files {
		f, err := runFile(ctx, path, o, p)
		if err != nil {
			return nil, err
		}
		r.add(f)
	}
	if o.Run != nil && r.Passed+r.Failed+r.NotRun == 0 {
		return nil, fmt.Errorf("%w: no scenario has a name that %q matches", ErrNothing, o.Run)
	}
	return r, nil
}

func (r *Report) add(f File) {
	if f.Unreadable {
		r.NotRun++
	}
	for i := range f.Scenarios {
		switch f.Scenarios[i].Outcome {
		case Passed:
			r.Passed++
		case Failed:
			r.Failed++
		case NotRun:
			r.NotRun++
		}
	}
	r.Files = append(r.Files, f)
}

func runFile(ctx context.Context, path string, o Options, p *plugins) (File, error) {
	f := File{Path: path, Scenarios: []Result{}}
	tests, diags := config.LoadTests(path, o.Config)
	f.Diagnostics = config.DiagnosticsJSON(diags)
	if tests == nil {
		f.Unreadable = true
		return f, nil
	}
	for _, s := range tests.Scenarios {
		if err := ctx.Err(); err != nil {
			return f, err
		}
		if o.Run != nil && !o.Run.MatchString(s.Name) {
			continue
		}
		began := time.Now()
		res := Result{Name: s.Name, File: path, Line: s.Pos.Line}
		res.run(ctx, tests, s, p)
		res.Millis = time.Since(began).Milliseconds()
		f.Scenarios = append(f.Scenarios, res)
	}
	f.Plugins, p.seen = p.seen, nil
	return f, nil
}

// run runs a scenario.
func (res *Result) run(ctx context.Context, tests *config.Tests, s *config.Scenario, p *plugins) {
	if s.Problems().HasErrors() {
		res.Outcome, res.Diagnostics = NotRun, config.DiagnosticsJSON(s.Problems())
		return
	}
	pipe, diags := tests.Pipeline(s)
	var pl *plan.Plan
	if pipe != nil {
		var err error
		if pl, err = plan.Build(scripted(pipe)); err != nil {
			diags = append(diags, pipe.Diagnose(pipe.Pos, "Pipeline cannot run", err.Error())...)
		}
	}
	switch {
	case s.Error != "":
		res.refused(s, pl == nil, config.DiagnosticsJSON(diags))
		return
	case pl == nil:
		res.Outcome, res.Diagnostics = NotRun, config.DiagnosticsJSON(diags)
		return
	}
	mods, err := p.load(ctx, pl)
	if err != nil {
		res.Outcome, res.Reason = NotRun, err.Error()
		return
	}
	b, err := newBench(pipe, s, pl, mods)
	if err != nil {
		closeModules(ctx, mods)
		res.Outcome, res.Reason = NotRun, err.Error()
		return
	}
	(&player{b: b, s: s, res: res, f: newFormat(s)}).play(ctx)
	if err := b.close(); err != nil && res.Outcome == Passed {
		res.Outcome, res.Reason = NotRun, err.Error()
	}
}

// refused judges a scenario that expects the pipeline to be refused.
func (res *Result) refused(s *config.Scenario, refused bool, diags []config.Diagnostic) {
	res.Compared = 1
	res.Outcome = Failed
	res.Failure = &Failure{File: s.Pos.File, Line: s.Pos.Line, Step: "error"}
	if !refused {
		res.Failure.Message = fmt.Sprintf("the pipeline is accepted; it was to be refused with a diagnostic that has %q", s.Error)
		return
	}
	for _, d := range diags {
		if d.Severity != "error" {
			continue
		}
		text := d.Summary + ": " + d.Detail
		if strings.Contains(text, s.Error) {
			res.Outcome, res.Failure = Passed, nil
			return
		}
		res.Failure.Extra = append(res.Failure.Extra, text)
	}
	res.Failure.Message = fmt.Sprintf("the pipeline is refused, but no diagnostic has %q", s.Error)
}

// player plays one scenario.
type player struct {
	b   *bench
	s   *config.Scenario
	res *Result
	f   *format
}

func (p *player) play(ctx context.Context) {
	p.res.Outcome = Passed
	if err := p.b.open(ctx, !p.s.Generated); err != nil {
		p.fail(nil, &Failure{Message: "the pipeline stopped: " + err.Error()})
		return
	}
	for i := 0; i < len(p.s.Steps); {
		st := &p.s.Steps[i]
		if st.Kind == config.Expect {
			n := p.run(i)
			if !p.expect(p.s.Steps[i : i+n]) {
				return
			}
			i += n
			continue
		}
		if st.Kind == config.ExpectNone {
			p.res.Compared++
			if !p.check(st, nil) {
				return
			}
		} else if err := p.step(ctx, st); err != nil {
			p.fail(st, &Failure{Message: "the pipeline stopped: " + err.Error()})
			return
		}
		i++
	}
	p.finish()
}

// run returns how many expect blocks follow one another from step i on.
func (p *player) run(i int) int {
	n := 0
	for i+n < len(p.s.Steps) && p.s.Steps[i+n].Kind == config.Expect {
		n++
	}
	return n
}

// step does what one step says.
func (p *player) step(ctx context.Context, st *config.Step) error {
	b, sc := p.b, p.b.script
	switch st.Kind {
	case config.Arrive:
		for i := range st.Records {
			r := &st.Records[i]
			e := entry{kind: record, source: p.source(st.Name), rec: r, at: sc.now}
			if r.Time != nil {
				e.at = *r.Time
			}
			if err := b.play(sc.add(e)); err != nil {
				return err
			}
		}
		return nil
	case config.Mark:
		src := p.source(st.Name)
		return b.play(sc.add(entry{kind: mark, source: src, parts: sc.partitions(src, st.Partition), at: st.At}))
	case config.Idle:
		src := p.source(st.Name)
		return b.play(sc.add(entry{kind: idle, source: src, parts: sc.partitions(src, st.Partition)}))
	case config.MoveClock:
		return b.moveClock(st.At)
	case config.Commit:
		return b.commit()
	case config.Restart:
		if err := b.commit(); err != nil {
			return err
		}
		return b.open(ctx, !p.s.Generated)
	case config.Crash:
		return b.crash(ctx, !p.s.Generated)
	}
	return b.play(sc.add(entry{kind: end}))
}

func (p *player) source(name string) int {
	for i, s := range p.b.plan.Pipeline.Sources {
		if s.Name == name {
			return i
		}
	}
	return -1 // the pipeline was checked for it
}

// expect compares a run of expect blocks with what their collections gave. Blocks of several collections may stand in any
// order: nothing happens between them.
func (p *player) expect(steps []config.Step) bool {
	var names []string
	for i := range steps {
		if !slices.Contains(names, steps[i].Name) {
			names = append(names, steps[i].Name)
		}
	}
	for _, name := range names {
		var rows []config.ExpectedRow
		var first *config.Step
		for i := range steps {
			if steps[i].Name != name {
				continue
			}
			if first == nil {
				first = &steps[i]
			}
			rows = append(rows, steps[i].Rows...)
		}
		p.res.Compared++
		if !p.check(first, rows) {
			return false
		}
	}
	return true
}

// check compares rows with everything that a collection gave since the last time.
func (p *player) check(st *config.Step, rows []config.ExpectedRow) bool {
	c := p.b.rec.byName[st.Name]
	ws := p.b.rec.wanted(rows)
	v := compare(ws, c.rows)
	if v.good() {
		c.rows = nil
		return true
	}
	fl := &Failure{Collection: st.Name}
	fl.explain(v, ws, c.rows, p.f)
	at := *st
	if len(v.missing) > 0 {
		at.Pos = ws[v.missing[0]].Pos
	}
	p.fail(&at, fl)
	return false
}

// finish looks at what is left over, and whether anything was compared.
func (p *player) finish() {
	if p.res.Compared == 0 {
		p.fail(nil, &Failure{Message: "the scenario compares nothing: add expect, expect_none or expect_file"})
		return
	}
	if p.s.Leftover {
		return
	}
	for _, name := range p.b.rec.names {
		c := p.b.rec.byName[name]
		if len(c.rows) == 0 {
			continue
		}
		fl := &Failure{Collection: name}
		fl.explain(compare(nil, c.rows), nil, c.rows, p.f)
		fl.Message = fmt.Sprintf("at the end something is left over on %s", name)
		p.fail(nil, fl)
		return
	}
}

// fail ends the scenario, with how things stand.
func (p *player) fail(st *config.Step, fl *Failure) {
	p.res.Outcome, p.res.Failure = Failed, fl
	fl.File, fl.Line, fl.Step = p.s.Pos.File, p.s.Pos.Line, "end of the scenario"
	if st != nil {
		fl.File, fl.Line, fl.Step = st.Pos.File, st.Pos.Line, st.Block
	}
	fl.Clock = p.f.time(p.b.script.now)
	for _, n := range p.b.plan.Nodes {
		if n.Kind == plan.Source || n.Kind == plan.Aggregate {
			w := event.Time(p.b.task.Stats().Node(n.ID).Watermark.Load())
			fl.Watermarks = append(fl.Watermarks, Watermark{n.Block, p.f.mark(w)})
		}
	}
	p.windows(fl)
	for _, d := range p.b.rec.dead {
		fl.Dead = append(fl.Dead, p.letter(d))
	}
	fl.Dead = cut(fl.Dead)
}

// windows adds the open windows of the aggregate that the failure is about, or of all.
func (p *player) windows(fl *Failure) {
	for _, n := range p.b.plan.Nodes {
		about := fl.Collection == n.Block || fl.Collection == n.Block+".late" || !strings.HasPrefix(fl.Collection, "aggregate.")
		if n.Kind != plan.Aggregate || !about {
			continue
		}
		open, err := p.b.task.Windows(n.Block, mostShown)
		if err != nil {
			continue // the failure itself is what matters
		}
		for _, w := range open {
			fl.Windows = append(fl.Windows, OpenWindow{
				Block: n.Block, Key: w.Key, Window: p.f.window(w.Window), Panes: w.Panes, Unsent: w.Unsent, Trigger: w.Trigger,
			})
		}
	}
}

// letter says which record became a dead letter, and why.
func (p *player) letter(d deadLetter) string {
	text := fmt.Sprintf("%s: %s: %s", d.operator, d.code, d.reason)
	if r := p.b.script.find(d.topic, d.partition, d.offset); r != nil {
		text += fmt.Sprintf(" (the record of line %d)", r.Pos.Line)
	}
	return text
}
