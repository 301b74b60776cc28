package main

import (
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
)

// pipelineFlags are those of every command that reads a pipeline.
var pipelineFlags = []cli.Flag{
	&cli.StringSliceFlag{Name: "var", Usage: "set a variable of the pipeline: `NAME=VALUE`; may be repeated"},
	&cli.StringSliceFlag{Name: "var-file", Usage: "read variables from `FILE`; may be repeated, a later one wins"},
}

// secrets says whether a command needs the values of env("NAME"). Those that only look at a pipeline do not: it can be
// checked where the secrets are not.
type secrets bool

// load reads the pipeline that the arguments name, the current folder if there are none. What is wrong with it has been
// shown when it returns an error; with --json that is the same value that `wgate validate --json` prints.
func (s streams) load(c *cli.Context, withSecrets secrets) (*config.Pipeline, error) {
	p, check, err := s.check(c, withSecrets)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		if err := check.show(s, c); err != nil {
			return nil, err
		}
		return nil, shownError{exitInvalid}
	case len(check.Diagnostics) > 0:
		// Warnings: the result goes to standard output, they do not belong to it.
		return p, config.RenderJSON(s.err, check.Diagnostics, newPrinter(s.err).colour)
	}
	return p, nil
}

// check reads the pipeline and returns what was found. The pipeline is nil if it is not valid.
func (s streams) check(c *cli.Context, withSecrets secrets) (*config.Pipeline, *checked, error) {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		paths = []string{"."}
	}
	opts, err := configOptions(c)
	if err != nil {
		return nil, nil, err
	}
	if withSecrets {
		opts.Getenv = os.LookupEnv
	}
	p, diags := config.Load(paths, opts)
	return p, newChecked(p, config.DiagnosticsJSON(diags)), nil
}

// configOptions reads --var and --var-file.
func configOptions(c *cli.Context) (config.Options, error) {
	opts := config.Options{Vars: map[string]string{}, VarFiles: c.StringSlice("var-file")}
	for _, v := range c.StringSlice("var") {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return opts, invalid("--var %s: want NAME=VALUE", v)
		}
		opts.Vars[name] = value
	}
	return opts, nil
}
