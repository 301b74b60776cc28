package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/host/plan"
)

func (s streams) planCommand() *cli.Command {
	return &cli.Command{
		Name:      "plan",
		Usage:     "show how a pipeline would run",
		ArgsUsage: "[FILE|FOLDER]...",
		Description: "Steps in their order, with the types of values, the fields that are decoded, windows, triggers, and what sinks\n" +
			"write. Nothing is contacted.",
		Category: "Pipelines",
		Flags:    append([]cli.Flag{jsonFlag}, pipelineFlags...),
		Action: func(c *cli.Context) error {
			pl, err := s.plan(c)
			if err != nil {
				return err
			}
			return s.show(c, explanation{plan.Explain(pl)})
		},
	}
}

// plan loads and plans the pipeline that the arguments name.
func (s streams) plan(c *cli.Context) (*plan.Plan, error) {
	p, err := s.load(c, false)
	if err != nil {
		return nil, err
	}
	pl, err := plan.Build(p)
	if err != nil {
		return nil, invalidError{err}
	}
	return pl, nil
}

type explanation struct{ plan.Explanation }

func (x explanation) text(p *printer) {
	p.printf("pipeline %q: %s, state %s, an epoch every %s\n", x.Pipeline, strings.ReplaceAll(x.Delivery, "_", " "), x.Durability, x.Epoch)
	for _, st := range x.Steps {
		p.printf("\n%s  %s\n", p.paint(bold, st.Block), p.paint(cyan, st.Kind))
		var rows [][]string
		line := func(name, value string) {
			if value != "" {
				rows = append(rows, []string{"  " + p.paint(dim, name), value})
			}
		}
		line("input", st.Input)
		line("gives", st.Type)
		fields := strings.Join(st.Fields, ", ")
		if st.Whole {
			fields = strings.TrimPrefix(fields+", the whole value", ", ")
		}
		line("fields", fields)
		for _, d := range st.Detail {
			line("", d)
		}
		p.table(rows)
	}
}

func (s streams) graphCommand() *cli.Command {
	return &cli.Command{
		Name:      "graph",
		Usage:     "draw a pipeline as a graph",
		ArgsUsage: "[FILE|FOLDER]...",
		Category:  "Pipelines",
		Flags: append([]cli.Flag{
			jsonFlag,
			&cli.StringFlag{Name: "format", Value: "mermaid", Usage: "`FORMAT` of the text: mermaid or dot"},
		}, pipelineFlags...),
		Action: func(c *cli.Context) error {
			draw := map[string]func(*plan.Plan) string{"mermaid": plan.Mermaid, "dot": plan.DOT}[c.String("format")]
			if draw == nil {
				return invalid("--format %s: want mermaid or dot", c.String("format"))
			}
			pl, err := s.plan(c)
			if err != nil {
				return err
			}
			return s.show(c, drawing{plan.GraphOf(pl), draw(pl)})
		},
	}
}

// drawing is a graph as data and as text in the chosen language.
type drawing struct {
	plan.Graph
	drawn string
}

func (d drawing) text(p *printer) { p.printf("%s", d.drawn) }
