package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/host/admin"
)

func (s streams) startCommand() *cli.Command {
	return s.onNode("start", "start a pipeline of a node", "It goes on where its last commit was.", nil, s.move((*admin.Client).Start))
}

func (s streams) stopCommand() *cli.Command {
	return s.onNode("stop", "stop a pipeline of a node", "After a last commit; it stays stopped, also over a restart of the node.", nil, s.move((*admin.Client).Stop))
}

// move sends a pipeline to another state and waits until it is there.
func (s streams) move(ask func(*admin.Client, context.Context, string) (*admin.Status, error)) func(*cli.Context, *admin.Client, string) error {
	return func(c *cli.Context, cl *admin.Client, name string) error {
		st, err := ask(cl, c.Context, name)
		if st, err = settled(c.Context, cl, st, err); err != nil {
			return err
		}
		return s.show(c, moved{Pipeline: name, State: st.State, Revision: st.Revision})
	}
}

// moved says where a pipeline is now.
type moved struct {
	Pipeline string      `json:"pipeline"`
	State    admin.State `json:"state"`
	Revision int         `json:"revision,omitempty"`
}

func (m moved) text(p *printer) {
	p.printf("pipeline %q is %s\n", m.Pipeline, p.paintState(m.State))
}

func (s streams) deleteCommand() *cli.Command {
	withState := &cli.BoolFlag{Name: "with-state", Usage: "delete its state, too: what is in its open windows is lost"}
	return s.onNode("delete", "stop a pipeline and remove it from a node",
		"Its topics stay. Its state stays as well, for a pipeline of the same name and plan, unless --with-state is given.",
		[]cli.Flag{withState, yesFlag}, func(c *cli.Context, cl *admin.Client, name string) error {
			if _, err := cl.Pipeline(c.Context, name); err != nil {
				return err
			}
			question := "Delete pipeline " + name + " and keep its state?"
			if c.Bool(withState.Name) {
				question = "Delete pipeline " + name + " with its state?"
			}
			if err := s.confirm(c, question); err != nil {
				return err
			}
			if err := cl.Delete(c.Context, name, c.Bool(withState.Name)); err != nil {
				return err
			}
			return s.show(c, moved{Pipeline: name, State: "deleted"})
		})
}
