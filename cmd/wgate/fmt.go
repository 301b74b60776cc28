package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
)

func (s streams) fmtCommand() *cli.Command {
	return &cli.Command{
		Name:      "fmt",
		Usage:     "format pipelines",
		ArgsUsage: "[FILE|FOLDER|-]...",
		Description: "Prints the formatted text; -w writes it back, --check only names the files that would change and exits with 1.\n" +
			"Without an argument it is the current folder; - is standard input. A file that does not parse stays as it is.",
		Category: "Pipelines",
		Flags: []cli.Flag{
			jsonFlag,
			&cli.BoolFlag{Name: "write", Aliases: []string{"w"}, Usage: "write the result back to the files"},
			&cli.BoolFlag{Name: "check", Usage: "name the files that are not formatted, and change nothing"},
		},
		Action: s.format,
	}
}

// formatted says what became of the files that wgate fmt was given.
type formatted struct {
	Files       []formattedFile     `json:"files"`
	Diagnostics []config.Diagnostic `json:"diagnostics"`
}

type formattedFile struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"` // or would be
}

// text names the files that changed or would.
func (f formatted) text(p *printer) {
	for _, file := range f.Files {
		if file.Changed {
			p.printf("%s\n", file.File)
		}
	}
}

func (s streams) format(c *cli.Context) error {
	write, check := c.Bool("write"), c.Bool("check")
	switch {
	case write && check:
		return invalid("--write and --check exclude each other")
	case c.Bool(jsonFlag.Name) && !write && !check:
		return invalid("--json goes with --write or --check: the formatted text is no JSON")
	}
	names, err := formatNames(c.Args().Slice())
	if err != nil {
		return err
	}
	out := formatted{Files: []formattedFile{}, Diagnostics: []config.Diagnostic{}}
	for _, name := range names {
		if name == "-" && write {
			return invalid("standard input cannot be written back: leave --write out")
		}
		before, err := s.read(name)
		if err != nil {
			return invalidError{err}
		}
		diags := config.Syntax(name, before)
		out.Diagnostics = append(out.Diagnostics, config.DiagnosticsJSON(diags)...)
		if diags.HasErrors() {
			continue
		}
		after := config.Format(before)
		changed := !bytes.Equal(before, after)
		out.Files = append(out.Files, formattedFile{name, changed})
		switch {
		case write && changed:
			if err := overwrite(name, after); err != nil {
				return err
			}
		case !write && !check:
			if _, err := s.out.Write(after); err != nil {
				return err
			}
		}
	}
	return s.showFormatted(c, out, write || check, check)
}

// showFormatted prints the outcome, where the text itself was not, and chooses the exit code.
func (s streams) showFormatted(c *cli.Context, out formatted, list, check bool) error {
	if !c.Bool(jsonFlag.Name) {
		if err := config.RenderJSON(s.err, out.Diagnostics, newPrinter(s.err).colour); err != nil {
			return err
		}
	}
	if list {
		if err := s.show(c, out); err != nil {
			return err
		}
	}
	switch {
	case slices.ContainsFunc(out.Diagnostics, func(d config.Diagnostic) bool { return d.Severity == "error" }):
		return shownError{exitInvalid}
	case check && slices.ContainsFunc(out.Files, func(f formattedFile) bool { return f.Changed }):
		return shownError{exitFailed}
	}
	return nil
}

// formatNames resolves folders to the .hcl files in them.
func formatNames(args []string) ([]string, error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	var names []string
	for _, a := range args {
		st, err := os.Stat(a)
		if err != nil || !st.IsDir() {
			names = append(names, a) // reading it says what is wrong
			continue
		}
		entries, err := os.ReadDir(a)
		if err != nil {
			return nil, invalidError{err}
		}
		n := len(names)
		for _, e := range entries {
			if !e.IsDir() && strings.HasSuffix(e.Name(), ".hcl") {
				names = append(names, filepath.Join(a, e.Name()))
			}
		}
		if len(names) == n {
			return nil, invalid("folder %s has no .hcl file", a)
		}
	}
	return names, nil
}

// read returns the text of a file, or of standard input for "-".
func (s streams) read(name string) ([]byte, error) {
	if name == "-" {
		text, err := io.ReadAll(s.in)
		if err != nil {
			return nil, fmt.Errorf("standard input: %w", err)
		}
		return text, nil
	}
	return os.ReadFile(name)
}

// overwrite replaces the text of a file and keeps its mode. A link stays a link.
func overwrite(name string, text []byte) error {
	st, err := os.Stat(name)
	if err != nil {
		return err
	}
	return os.WriteFile(name, text, st.Mode().Perm())
}
