package main

import (
	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
)

func (s streams) validateCommand() *cli.Command {
	return &cli.Command{
		Name:      "validate",
		Usage:     "check a pipeline and say everything that is wrong with it",
		ArgsUsage: "[FILE|FOLDER]...",
		Description: "All files together are one pipeline; without an argument it is the current folder. Nothing is contacted, and\n" +
			"secrets need not be there.",
		Category: "Pipelines",
		Flags:    append([]cli.Flag{jsonFlag}, pipelineFlags...),
		Action: func(c *cli.Context) error {
			p, check, err := s.check(c, false)
			if err != nil {
				return err
			}
			if err := check.show(s, c); err != nil {
				return err
			}
			if p == nil {
				return shownError{exitInvalid}
			}
			return nil
		},
	}
}

// checked is what is known of a pipeline after reading it.
type checked struct {
	Valid       bool                `json:"valid"`
	Pipeline    string              `json:"pipeline,omitempty"`
	Blocks      *blockCounts        `json:"blocks,omitempty"`
	Diagnostics []config.Diagnostic `json:"diagnostics"`
}

// blockCounts says how many blocks of each kind a pipeline has.
type blockCounts struct {
	Sources    int `json:"sources"`
	Plugins    int `json:"plugins"`
	Transforms int `json:"transforms"`
	Aggregates int `json:"aggregates"`
	Sinks      int `json:"sinks"`
}

func newChecked(p *config.Pipeline, diags []config.Diagnostic) *checked {
	v := &checked{Valid: p != nil, Diagnostics: diags}
	if p != nil {
		v.Pipeline = p.Name
		v.Blocks = &blockCounts{len(p.Sources), len(p.Plugins), len(p.Transforms), len(p.Aggregates), len(p.Sinks)}
	}
	return v
}

// show prints v. Diagnostics for people go to standard error.
func (v *checked) show(s streams, c *cli.Context) error {
	if c.Bool(jsonFlag.Name) {
		return s.showJSON(v)
	}
	if err := config.RenderJSON(s.err, v.Diagnostics, newPrinter(s.err).colour); err != nil {
		return err
	}
	if !v.Valid {
		return nil
	}
	return s.show(c, v)
}

func (v *checked) text(p *printer) {
	b := v.Blocks
	p.printf("pipeline %q is %s: %s, %s, %s, %s, %s\n", v.Pipeline, p.paint(green, "valid"), noun(b.Sources, "source"),
		noun(b.Plugins, "plugin"), noun(b.Transforms, "transform"), noun(b.Aggregates, "aggregate"), noun(b.Sinks, "sink"))
}
