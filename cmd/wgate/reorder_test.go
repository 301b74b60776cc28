package main

import (
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

func TestReorder(t *testing.T) {
	app := &cli.App{
		Flags: []cli.Flag{&cli.BoolFlag{Name: "help", Aliases: []string{"h"}}},
		Commands: []*cli.Command{
			{Name: "run", Flags: []cli.Flag{
				&cli.BoolFlag{Name: "json"},
				&cli.StringFlag{Name: "data", Aliases: []string{"d"}},
				&cli.StringSliceFlag{Name: "var"},
			}},
			{Name: "plugin", Subcommands: []*cli.Command{{Name: "pack", Flags: []cli.Flag{&cli.PathFlag{Name: "out"}}}}},
		},
	}
	for _, tc := range []struct{ in, want string }{
		{"", ""},
		{"run", "run"},
		{"run a --json", "run --json -- a"},
		{"run --json a", "run --json -- a"},
		{"--json run a", "run --json -- a"},
		{"--data x run a", "run --data x -- a"},
		{"run a --data x b", "run --data x -- a b"},
		{"run a -d x b", "run -d x -- a b"},
		{"run a --data=x b", "run --data=x -- a b"},
		{"run a --var n=1 --var m=2 b", "run --var n=1 --var m=2 -- a b"},
		{"run a --json=false b", "run --json=false -- a b"},
		{"run a -- --json", "run -- a --json"},
		{"run -- --json -- b", "run -- --json -- b"},
		{"run -", "run -- -"},
		{"run --data - a", "run --data - -- a"},
		{"run --data -1 a", "run --data -1 -- a"},
		{"run a --data", "run --data"},
		{"run a --unknown b", "run --unknown -- a b"},
		{"run run", "run -- run"},
		{"plugin pack run --out x", "plugin pack --out x -- run"},
		{"plugin --out x pack f", "plugin pack --out x -- f"},
		{"plugin f pack", "plugin -- f pack"},
		{"bogus run", "-- bogus run"},
		{"run --help", "run --help"},
		{"--help", "--help"},
		{"-h run", "run -h"},
	} {
		got := strings.Join(reorder(app, append([]string{"wgate"}, strings.Fields(tc.in)...))[1:], " ")
		if got != tc.want {
			t.Errorf("reorder(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

// TestFlags_oneArity guards what reorder relies on: a flag name takes a value in all commands or in none.
func TestFlags_oneArity(t *testing.T) {
	seen := map[string]string{}
	var visit func(path string, flags []cli.Flag, commands []*cli.Command)
	visit = func(path string, flags []cli.Flag, commands []*cli.Command) {
		for _, f := range flags {
			takes := map[string]bool{}
			flagArity([]cli.Flag{f}, nil, takes)
			for name, v := range takes {
				word := map[bool]string{true: "a value", false: "none"}[v]
				if before, ok := seen[name]; ok && !strings.HasPrefix(before, word) {
					t.Errorf("--%s takes %s in %s, and %s", name, word, path, before)
				}
				seen[name] = word + " in " + path
			}
		}
		for _, c := range commands {
			visit(path+" "+c.Name, c.Flags, c.Subcommands)
		}
	}
	app := newApp(streams{})
	visit("wgate", app.Flags, app.Commands)
	if len(seen) < 5 {
		t.Fatalf("only %d flags were seen", len(seen))
	}
}

// TestCommands_described wants a usage line for every command and flag, and a category for those at the top.
func TestCommands_described(t *testing.T) {
	var visit func(path string, commands []*cli.Command)
	visit = func(path string, commands []*cli.Command) {
		for _, c := range commands {
			name := path + " " + c.Name
			if c.Usage == "" || strings.HasSuffix(c.Usage, ".") {
				t.Errorf("%s: usage %q: want a phrase without a period", name, c.Usage)
			}
			for _, f := range c.Flags {
				if d, ok := f.(cli.DocGenerationFlag); !ok || d.GetUsage() == "" {
					t.Errorf("%s --%s has no usage", name, f.Names()[0])
				}
			}
			visit(name, c.Subcommands)
		}
	}
	app := newApp(streams{})
	visit("wgate", app.Commands)
	for _, c := range app.Commands {
		if c.Category == "" && c.Name != "help" {
			t.Errorf("%s has no category", c.Name)
		}
	}
}
