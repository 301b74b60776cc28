package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// runApp runs the command that args name and returns the exit code. Whatever went wrong has been shown by then.
func runApp(ctx context.Context, args []string, s streams) int {
	app := newApp(s)
	err := app.RunContext(ctx, reorder(app, args))
	s.report(err, false)
	return exitCode(err)
}

// newApp returns the tree of commands.
func newApp(s streams) *cli.App {
	app := &cli.App{
		Name:      "wgate",
		HelpName:  "wgate",
		Usage:     "streaming pipelines in HCL, with WebAssembly plugins, exactly once",
		UsageText: "wgate COMMAND [FLAGS] [ARGUMENTS]",
		Description: "Flags may stand before or after arguments; what follows -- is an argument.\n" +
			"Exit codes: 0 done, 1 failed, 2 invalid input.",
		Version:     version,
		HideVersion: true,
		Reader:      s.in, Writer: s.out, ErrWriter: s.err,
		// A comma in --var names=a,b belongs to the value.
		DisableSliceFlagSeparator: true,
		// The code is made in main, from the error that comes back.
		ExitErrHandler: func(*cli.Context, error) {},
		Action:         unknownCommand,
		Commands: []*cli.Command{
			s.quickstartCommand(),
			s.validateCommand(),
			s.planCommand(),
			s.graphCommand(),
			s.testCommand(),
			s.fmtCommand(),
			s.runCommand(),
			s.pluginCommand(),
			s.brokerCommand(),
			s.devCommand(),
			s.serveCommand(),
			s.deployCommand(),
			s.reloadCommand(),
			s.listCommand(),
			s.statusCommand(),
			s.startCommand(),
			s.stopCommand(),
			s.deleteCommand(),
			s.logsCommand(),
			s.versionCommand(),
		},
	}
	app.OnUsageError = usageError
	s.finish(app.Commands)
	app.Setup()
	return app
}

// finish gives every command what all have in common.
func (s streams) finish(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = usageError
		if len(c.Subcommands) > 0 {
			c.Action = unknownCommand
			s.finish(c.Subcommands)
			continue
		}
		// Else an argument "help" would be a command.
		c.HideHelpCommand = true
		c.Action = s.reporting(c.Action)
	}
}

// reporting shows the error of an action where it is known whether it shall be JSON.
func (s streams) reporting(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		err := action(c)
		if err == nil {
			return nil
		}
		s.report(err, c.Bool(jsonFlag.Name))
		return shownError{exitCode(err)}
	}
}

func usageError(c *cli.Context, err error, _ bool) error {
	name := c.Command.HelpName
	if name == "" {
		name = "wgate"
	}
	return invalid("%w: see %s --help", err, name)
}

// unknownCommand runs where a command should stand and does not: without an argument it shows what there is.
func unknownCommand(c *cli.Context) error {
	if !c.Args().Present() {
		if c.Command.HelpName == "" || c.Command.Name == c.App.Name {
			return cli.ShowAppHelp(c)
		}
		return cli.ShowSubcommandHelp(c)
	}
	var names []string
	commands := c.Command.Subcommands
	if c.Command.Name == c.App.Name {
		commands = c.App.Commands
	}
	for _, sub := range commands {
		if !sub.Hidden && sub.Name != "help" {
			names = append(names, sub.Name)
		}
	}
	return invalid("no command %q: there are %s", c.Args().First(), strings.Join(names, ", "))
}

// arguments returns the arguments of c, which must be between least and most in number; most < 0 means any number.
func arguments(c *cli.Context, least, most int) ([]string, error) {
	n := c.NArg()
	switch {
	case n < least:
		return nil, invalid("%s: want %s: see %s --help", c.Command.HelpName, c.Command.ArgsUsage, c.Command.HelpName)
	case most >= 0 && n > most:
		return nil, invalid("%s: unexpected argument %q: see %s --help", c.Command.HelpName, c.Args().Get(most), c.Command.HelpName)
	}
	return c.Args().Slice(), nil
}

// noun returns n and a word, with an s at its end where it needs one.
func noun(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
