package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/internal/quickstart"
)

// What the quickstart may take: it is to be looked at, not waited for.
const (
	quickstartLimit = 50 * time.Second
	quickstartPace  = 4 * time.Second // on a terminal, so that panes are seen to come
	maxEvents       = 200_000
)

func (s streams) quickstartCommand() *cli.Command {
	return &cli.Command{
		Name:      "quickstart",
		Usage:     "see a pipeline at work: topic in, plugin, windows, topic out",
		ArgsUsage: " ",
		Description: "Starts a broker in this process, produces events that are out of order, runs the example pipeline, reads the\n" +
			"results back from its topic and compares them with an independent computation. Leaves nothing on disk.",
		Category: "Try it",
		Flags: []cli.Flag{
			jsonFlag,
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "make other events: any `NUMBER`"},
			&cli.IntFlag{Name: "events", Value: 1000, Usage: "produce `N` events"},
			&cli.StringFlag{Name: "plugin", Usage: "use `FILE` as the example plugin (default: scores.wasm near this program)"},
			&cli.StringFlag{Name: "log-level", Value: "error", EnvVars: []string{"WGATE_LOG_LEVEL"}, Usage: "log what is at least of `LEVEL`: debug, info, warn or error"},
			&cli.StringFlag{Name: "log-format", Value: "text", EnvVars: []string{"WGATE_LOG_FORMAT"}, Usage: "log as `FORMAT`: text or json"},
		},
		Action: s.quickstart,
	}
}

func (s streams) quickstart(c *cli.Context) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	log, err := s.logger(c)
	if err != nil {
		return err
	}
	o := quickstart.Options{
		Seed: c.Uint64("seed"), Events: c.Int("events"), Limit: quickstartLimit, Log: log, Show: func(quickstart.Pane) {},
	}
	if o.Events < 1 || o.Events > maxEvents {
		return invalid("--events %d: want 1 to %d", o.Events, maxEvents)
	}
	if o.Plugin, err = examplePlugin(c.String("plugin")); err != nil {
		return err
	}
	p := newPrinter(s.out)
	if !c.Bool(jsonFlag.Name) {
		if isTerminal(s.out) {
			o.Pace = quickstartPace
		}
		o.Show = func(pane quickstart.Pane) { paneLine(p, time.Now(), pane) }
	}
	r, err := quickstart.Run(c.Context, o)
	if err != nil {
		return err
	}
	if err := s.show(c, quickstartReport{r}); err != nil {
		return err
	}
	if !r.Equal {
		return shownError{exitFailed}
	}
	return nil
}

// examplePlugin finds the plugin that `make guests` builds: in the repository, seen from the current folder or from
// bin/wgate, or beside the program.
func examplePlugin(given string) (string, error) {
	const name = "scores.wasm"
	places := []string{given}
	if given == "" {
		places = []string{filepath.Join("plugins", "examples", name)}
		if exe, err := os.Executable(); err == nil {
			dir := filepath.Dir(exe)
			places = append(places, filepath.Join(dir, name), filepath.Join(dir, "..", "plugins", "examples", name))
		}
	}
	for _, p := range places {
		if st, err := os.Stat(p); err == nil && st.Mode().IsRegular() {
			return p, nil
		}
	}
	return "", invalid("example plugin not found in %s: build it with make guests, or name it with --plugin FILE", strings.Join(places, ", "))
}

// paneLine writes one result: when it came, key, window, timing, index, value.
func paneLine(p *printer, at time.Time, pane quickstart.Pane) {
	colour := map[string]string{"early": yellow, "on_time": green, "late": red}[pane.Timing]
	p.printf("%s  %-5s  %s  %s  %2d  %s\n", p.paint(dim, at.Format(time.TimeOnly)), pane.Key, pane.Window(),
		p.paint(colour, fmt.Sprintf("%-7s", pane.Timing)), pane.Index, pane.Value())
}

// quickstartReport is the last line; the panes have been shown as they came.
type quickstartReport struct{ *quickstart.Report }

func (r quickstartReport) text(p *printer) {
	for _, d := range r.Differences {
		p.printf("%s %s\n", p.paint(red, "differs:"), d)
	}
	verdict := p.paint(green, "equal to the independent computation")
	if !r.Equal {
		verdict = p.paint(red, "NOT equal to the independent computation")
	}
	p.printf("%s, %s, %d late: %s (seed %d)\n", noun(r.Events, "event"), noun(r.Results, "result"), r.Late, verdict, r.Seed)
}
