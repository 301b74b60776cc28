package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/admin"
)

// nodeFlag says which node a command asks.
var nodeFlag = &cli.StringFlag{
	Name: "node", Value: "http://" + defaultNode, Usage: "`URL` of the node's admin API", EnvVars: []string{"WGATE_NODE"},
}

// withNode runs f with a client of the node that the command names.
func (s streams) withNode(c *cli.Context, f func(*admin.Client) error) error {
	cl, err := admin.NewClient(c.String(nodeFlag.Name))
	if err != nil {
		return invalid("--node: %w", err)
	}
	defer cl.Close()
	return s.refused(c, f(cl))
}

// refused shows the diagnostics with which a node has refused a pipeline. Any other error is left to report.
func (s streams) refused(c *cli.Context, err error) error {
	var f *admin.Failure
	if !errors.As(err, &f) || len(f.Diagnostics) == 0 {
		return err
	}
	if c.Bool(jsonFlag.Name) {
		err = s.showJSON(f)
	} else {
		err = config.RenderJSON(s.err, f.Diagnostics, newPrinter(s.err).colour)
	}
	if err != nil {
		return err
	}
	return shownError{exitInvalid}
}

// onNode makes a command that takes the name of a pipeline and asks the node for it.
func (s streams) onNode(name, usage, description string, flags []cli.Flag, f func(*cli.Context, *admin.Client, string) error) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: "NAME", Description: description, Category: "Nodes",
		Flags: append([]cli.Flag{jsonFlag, nodeFlag}, flags...),
		Action: func(c *cli.Context) error {
			args, err := arguments(c, 1, 1)
			if err != nil {
				return err
			}
			if err := admin.CheckName(args[0]); err != nil {
				return invalidError{err}
			}
			return s.withNode(c, func(cl *admin.Client) error { return f(c, cl, args[0]) })
		},
	}
}

// settled waits until a pipeline is where it was sent, and turns a failed one into the error of the command.
func settled(ctx context.Context, cl *admin.Client, st *admin.Status, err error) (*admin.Status, error) {
	if err == nil && (st.State == admin.Starting || st.State == admin.Stopping) {
		st, err = cl.Wait(ctx, st.Name)
	}
	switch {
	case err != nil:
		return nil, err
	case st.State == admin.Failed && st.Error != nil:
		return nil, fmt.Errorf("pipeline %q failed: %w", st.Name, st.Error)
	case st.State == admin.Failed:
		return nil, fmt.Errorf("pipeline %q failed: see wgate logs %s", st.Name, st.Name)
	}
	return st, nil
}

var yesFlag = &cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask"}

// errUnasked says that a question could not be put.
var errUnasked = invalid("nobody can be asked here: add --yes to go on")

// confirm asks on a terminal whether to go on. Elsewhere --yes must have been given.
func (s streams) confirm(c *cli.Context, question string) error {
	if c.Bool(yesFlag.Name) {
		return nil
	}
	in, ok := s.in.(*os.File)
	if !ok || !isTerminal(in) || c.Bool(jsonFlag.Name) {
		return errUnasked
	}
	newPrinter(s.err).printf("%s [y/N] ", question)
	var answer string
	_, err := fmt.Fscanln(in, &answer)
	switch {
	case errors.Is(err, io.EOF): // what looked like a terminal was /dev/null
		newPrinter(s.err).printf("\n")
		return errUnasked
	case answer != "y" && answer != "Y" && answer != "yes":
		return errors.New("nothing was done")
	}
	return nil
}

// moment writes a time of the API, in milliseconds, in UTC.
func moment(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05Z")
}

// paintState colours the state of a pipeline.
func (p *printer) paintState(s admin.State) string {
	colour := map[admin.State]string{admin.Running: green, admin.Failed: red, admin.Starting: yellow, admin.Stopping: yellow}[s]
	if colour == "" {
		return string(s)
	}
	return p.paint(colour, string(s))
}
