package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// reorder lets flags stand anywhere: before the command, before its arguments and after them. cli stops looking for flags
// at the first argument, so what it gets is always program, command path, flags, "--", arguments. A "--" of the user's
// stays what it is: nothing after it is a flag or a command.
//
// For that it must know which flags take a value before it knows the command. So a flag name takes a value in all
// commands or in none, which a test checks. A flag that no command has is left for cli to complain of.
func reorder(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	takes := map[string]bool{}
	flagArity(app.Flags, app.Commands, takes)

	path, flags, words := []string{args[0]}, []string(nil), []string(nil)
	commands := app.Commands
	for rest := args[1:]; len(rest) > 0; {
		a := rest[0]
		rest = rest[1:]
		if a == "--" {
			words = append(words, rest...)
			break
		}
		if name, inline, ok := flagName(a); ok {
			flags = append(flags, a)
			if !takes[name] || inline {
				continue
			}
			if len(rest) == 0 {
				return append(path, flags...) // cli complains of the missing value; nothing may take its place
			}
			flags = append(flags, rest[0])
			rest = rest[1:]
			continue
		}
		if cmd := findCommand(commands, a); cmd != nil && len(words) == 0 {
			path, commands = append(path, a), cmd.Subcommands
			continue
		}
		words = append(words, a)
	}
	out := append(path, flags...)
	if len(words) > 0 {
		out = append(append(out, "--"), words...)
	}
	return out
}

// flagName reports whether a is a flag and returns its name without dashes. inline says that a value is attached, as in
// --seed=7. A single dash is an argument: it stands for standard input.
func flagName(a string) (name string, inline, ok bool) {
	if len(a) < 2 || a[0] != '-' {
		return "", false, false
	}
	name, _, inline = strings.Cut(strings.TrimPrefix(a[1:], "-"), "=")
	return name, inline, true
}

func findCommand(commands []*cli.Command, name string) *cli.Command {
	i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
	if i < 0 {
		return nil
	}
	return commands[i]
}

// flagArity notes for every flag of the tree of commands whether it takes a value.
func flagArity(flags []cli.Flag, commands []*cli.Command, takes map[string]bool) {
	for _, f := range flags {
		d, ok := f.(cli.DocGenerationFlag)
		for _, name := range f.Names() {
			takes[name] = ok && d.TakesValue()
		}
	}
	for _, c := range commands {
		flagArity(c.Flags, c.Subcommands, takes)
	}
}
