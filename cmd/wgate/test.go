package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/scenario"
)

func (s streams) testCommand() *cli.Command {
	return &cli.Command{
		Name:      "test",
		Usage:     "run scenarios: tests of what a pipeline does in time",
		ArgsUsage: "[FILE|FOLDER]...",
		Description: "Runs the scenario blocks of *.wgtest.hcl files; a folder stands for those in it, and the current folder is taken\n" +
			"if none is named. The script of a scenario takes the place of the sources, the clock and the sinks: nothing is\n" +
			"contacted and no file is written. Exit codes: 0 all passed, 1 one failed, 2 one could not be run.",
		Category: "Pipelines",
		Flags: append([]cli.Flag{
			jsonFlag,
			&cli.StringFlag{Name: "run", Usage: "only the scenarios whose name matches `REGEX`"},
			&cli.StringFlag{Name: "junit", Usage: "write a report in JUnit's format to `FILE`, too"},
			&cli.BoolFlag{Name: "watch", Usage: "run again with each save, until interrupted"},
			&cli.StringFlag{Name: "plugin-cache", EnvVars: []string{"WGATE_PLUGIN_CACHE"}, Usage: "keep compiled plugins in `FOLDER` (default: in the user's cache)"},
		}, pipelineFlags...),
		Action: func(c *cli.Context) error {
			t, err := s.newTester(c)
			if err != nil {
				return err
			}
			if c.Bool("watch") {
				return t.watch(c.Context)
			}
			return t.run(c.Context)
		},
	}
}

// tester runs scenarios as the command line says.
type tester struct {
	streams
	c     *cli.Context
	paths []string
	opts  scenario.Options
	read  map[string]bool // every file that a test is made of
}

func (s streams) newTester(c *cli.Context) (*tester, error) {
	t := &tester{streams: s, c: c, paths: c.Args().Slice(), read: map[string]bool{}}
	if len(t.paths) == 0 {
		t.paths = []string{"."}
	}
	var err error
	if t.opts.Config, err = configOptions(c); err != nil {
		return nil, err
	}
	t.opts.Config.ReadFile = func(path string) ([]byte, error) {
		t.read[path] = true
		return os.ReadFile(path)
	}
	if text := c.String("run"); text != "" {
		if t.opts.Run, err = regexp.Compile(text); err != nil {
			return nil, invalid("--run %s: %w", text, err)
		}
	}
	t.opts.PluginCache = c.String("plugin-cache")
	return t, nil
}

// run runs everything once and shows it.
func (t *tester) run(ctx context.Context) error {
	files, err := scenario.Files(t.paths)
	var r *scenario.Report
	if err == nil {
		r, err = scenario.Run(ctx, files, t.opts)
	}
	switch {
	case errors.Is(err, scenario.ErrNothing):
		return invalidError{err}
	case err != nil:
		return err
	}
	for i := range r.Files {
		for _, path := range r.Files[i].Plugins {
			t.read[path] = true
		}
	}
	if err := t.show(t.c, testReport{r}); err != nil {
		return err
	}
	if path := t.c.String("junit"); path != "" {
		if err := os.WriteFile(path, junit(r), 0o644); err != nil { //nolint:gosec // others read it
			return fmt.Errorf("--junit: %w", err)
		}
	}
	switch {
	case r.NotRun > 0:
		return shownError{exitInvalid}
	case r.Failed > 0:
		return shownError{exitFailed}
	}
	return nil
}

// watch runs everything with each save. What a run finds does not end it.
func (t *tester) watch(ctx context.Context) error {
	w, err := newWatcher(".jsonl")
	if err != nil {
		return err
	}
	defer w.close()
	for {
		err := t.run(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if shown := (shownError{}); err != nil && !errors.As(err, &shown) {
			t.report(err, t.c.Bool(jsonFlag.Name))
		}
		if err := w.set(t.folders()); err != nil {
			return err
		}
		select {
		case <-w.changes:
		case <-ctx.Done():
			return nil
		}
	}
}

// folders returns the folders of everything that was read, and those that were named.
func (t *tester) folders() []string {
	dirs := map[string]bool{}
	for path := range t.read { // order does not matter: a set is made of it
		dirs[filepath.Dir(path)] = true
	}
	for _, path := range t.paths {
		if isFolder(path) {
			dirs[path] = true
		}
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(dirs)), func(d string) bool { return !isFolder(d) })
}

// testReport shows a report to people.
type testReport struct{ *scenario.Report }

func (r testReport) text(p *printer) {
	shown := map[string]bool{}
	for i := range r.Files {
		f := &r.Files[i]
		r.diagnostics(p, f.Diagnostics, shown)
		if f.Unreadable {
			p.printf("%s  %s\n", p.paint(yellow, "NOT RUN"), f.Path)
			continue
		}
		passed := 0
		for k := range f.Scenarios {
			passed += r.scenario(p, &f.Scenarios[k], shown)
		}
		if n := len(f.Scenarios); n > 0 && passed == n {
			p.printf("%s  %s: %s\n", p.paint(green, "ok"), f.Path, noun(n, "scenario"))
		}
	}
	p.printf("%s passed", noun(r.Passed, "scenario"))
	if r.Failed > 0 {
		p.printf(", %s", p.paint(red, fmt.Sprintf("%d failed", r.Failed)))
	}
	if r.NotRun > 0 {
		p.printf(", %s", p.paint(yellow, fmt.Sprintf("%d could not be run", r.NotRun)))
	}
	p.printf("\n")
}

// diagnostics shows what was not shown before: one mistake of a pipeline keeps many scenarios from running.
func (testReport) diagnostics(p *printer, diags []config.Diagnostic, shown map[string]bool) {
	var fresh []config.Diagnostic
	for _, d := range diags {
		id := d.File + d.Summary + d.Detail
		if d.Range != nil {
			id += fmt.Sprint(d.Range.Start)
		}
		if !shown[id] {
			shown[id] = true
			fresh = append(fresh, d)
		}
	}
	if len(fresh) == 0 || p.err != nil {
		return
	}
	p.err = config.RenderJSON(p.w, fresh, p.colour)
	p.printf("\n")
}

// scenario shows what became of one scenario, nothing if it passed. It returns 1 if it passed.
func (r testReport) scenario(p *printer, s *scenario.Result, shown map[string]bool) int {
	head := fmt.Sprintf("%s:%d: %s", s.File, s.Line, p.paint(bold, s.Name))
	switch s.Outcome {
	case scenario.Passed:
		return 1
	case scenario.NotRun:
		r.diagnostics(p, s.Diagnostics, shown)
		p.printf("%s  %s\n", p.paint(yellow, "NOT RUN"), head)
		if s.Reason != "" {
			p.printf("  %s\n", s.Reason)
		}
	case scenario.Failed:
		p.printf("%s  %s\n", p.paint(red, "FAIL"), head)
		failureText(p, s.Failure)
	}
	p.printf("\n")
	return 0
}

func failureText(p *printer, f *scenario.Failure) {
	p.printf("  %s:%d: %s: %s\n", f.File, f.Line, f.Step, f.Message)
	list := func(title, mark string, lines []string) {
		if len(lines) == 0 {
			return
		}
		p.printf("  %s\n", title)
		for _, l := range lines {
			p.printf("    %s%s\n", mark, l)
		}
	}
	list("expected, and did not come:", p.paint(green, "- "), f.Missing)
	list("came, and was not expected:", p.paint(red, "+ "), f.Extra)
	list("nearest:", "", f.Notes)
	if f.Clock == "" {
		return
	}
	var marks []string
	for _, m := range f.Watermarks {
		marks = append(marks, m.Block+" "+m.At)
	}
	p.printf("  clock %s; watermarks: %s\n", f.Clock, strings.Join(marks, ", "))
	var open []string
	for _, w := range f.Windows {
		text := fmt.Sprintf("%s: key = %s  window = %s  %s sent", w.Block, w.Key, w.Window, noun(int(w.Panes), "pane"))
		if w.Unsent {
			text += ", something unsent"
		}
		if len(w.Trigger) > 0 {
			text += "  trigger: " + strings.Join(w.Trigger, ", ")
		}
		open = append(open, text)
	}
	list("open windows:", "", open)
	list("dead letters:", "", f.Dead)
}
