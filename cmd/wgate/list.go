package main

import (
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/host/admin"
)

func (s streams) listCommand() *cli.Command {
	return &cli.Command{
		Name:     "list",
		Usage:    "list the pipelines of a node",
		Category: "Nodes",
		Flags:    []cli.Flag{jsonFlag, nodeFlag},
		Action: func(c *cli.Context) error {
			if _, err := arguments(c, 0, 0); err != nil {
				return err
			}
			return s.withNode(c, func(cl *admin.Client) error {
				all, err := cl.List(c.Context)
				if err != nil {
					return err
				}
				return s.show(c, pipelineList{all})
			})
		},
	}
}

type pipelineList struct {
	Pipelines []admin.Summary `json:"pipelines"`
}

func (l pipelineList) text(p *printer) {
	if len(l.Pipelines) == 0 {
		p.printf("no pipelines; deploy one with: wgate deploy FILE\n")
		return
	}
	rows := [][]string{{"NAME", "STATE", "SINCE", "REVISION", "IN", "OUT", "DEAD LETTERS"}}
	for _, s := range l.Pipelines {
		rows = append(rows, []string{
			s.Name, string(s.State), moment(s.Since), strconv.Itoa(s.Revision),
			count(s.RecordsIn), count(s.RecordsOut), count(s.DeadLetters),
		})
	}
	p.table(rows)
	for _, s := range l.Pipelines {
		p.failure(s)
	}
}

// failure writes why a pipeline failed, if it did.
func (p *printer) failure(s admin.Summary) {
	if s.Error == nil {
		return
	}
	p.printf("\n%s %s\n", p.paint(red, s.Name+":"), coded(s.Error))
	if s.Error.Next != "" {
		p.printf("  next: %s\n", s.Error.Next)
	}
}

// coded writes an error with its code, unless the text starts with it.
func coded(f *admin.Failure) string {
	if f.Code == "" || len(f.Text) >= len(f.Code) && f.Text[:len(f.Code)] == f.Code {
		return f.Text
	}
	return f.Code + ": " + f.Text
}

func count(n int64) string { return strconv.FormatInt(n, 10) }
