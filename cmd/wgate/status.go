package main

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/host/admin"
)

func (s streams) statusCommand() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "show how the pipelines of a node are doing",
		ArgsUsage: "[NAME]",
		Description: "Per source partition: position, lag, watermark, and whether it is idle or waits for slower partitions. Per\n" +
			"block: rows in and out, late, dead-lettered. Per plugin: digest, calls, time.",
		Category: "Nodes",
		Flags:    []cli.Flag{jsonFlag, nodeFlag},
		Action: func(c *cli.Context) error {
			args, err := arguments(c, 0, 1)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if err := admin.CheckName(args[0]); err != nil {
					return invalidError{err}
				}
			}
			return s.withNode(c, func(cl *admin.Client) error {
				if len(args) == 1 {
					st, err := cl.Pipeline(c.Context, args[0])
					if err != nil {
						return err
					}
					return s.show(c, pipelineStatus{st})
				}
				return s.nodeStatus(c, cl)
			})
		},
	}
}

// nodeStatus shows the node and all its pipelines.
func (s streams) nodeStatus(c *cli.Context, cl *admin.Client) error {
	about, err := cl.About(c.Context)
	if err != nil {
		return err
	}
	all, err := cl.List(c.Context)
	if err != nil {
		return err
	}
	st := nodeStatus{Node: about, Pipelines: []*admin.Status{}}
	for _, p := range all {
		one, err := cl.Pipeline(c.Context, p.Name)
		if err != nil {
			return err
		}
		st.Pipelines = append(st.Pipelines, one)
	}
	return s.show(c, st)
}

type nodeStatus struct {
	Node      *admin.About    `json:"node"`
	Pipelines []*admin.Status `json:"pipelines"`
}

func (n nodeStatus) text(p *printer) {
	p.printf("node: wgate %s, started %s, %s\n", n.Node.Version, moment(n.Node.Started), noun(n.Node.Pipelines, "pipeline"))
	if n.Node.EmbeddedBroker != "" {
		p.printf("embedded broker: %s\n", n.Node.EmbeddedBroker)
	}
	for _, st := range n.Pipelines {
		p.printf("\n")
		pipelineStatus{st}.text(p)
	}
}

type pipelineStatus struct{ *admin.Status }

func (s pipelineStatus) text(p *printer) {
	p.printf("pipeline %s: %s since %s, revision %d\n", p.paint(bold, s.Name), p.paintState(s.State), moment(s.Since), s.Revision)
	p.failure(s.Summary)
	line := fmt.Sprintf("%d epochs, state %s", s.Epochs, byteSize(s.StateBytes))
	if s.LastCommit != 0 {
		line += ", last commit " + moment(s.LastCommit)
	}
	p.printf("%s\n", line)
	s.sources(p)
	if len(s.Stages) > 0 {
		p.printf("\n")
		rows := [][]string{{"BLOCK", "IN", "OUT", "LATE", "DEAD LETTERS", "SKIPPED", "STATE", "WATERMARK"}}
		for _, b := range s.Stages {
			state := "-"
			if b.StateBytes != nil {
				state = byteSize(*b.StateBytes)
			}
			rows = append(rows, []string{b.Block, count(b.In), count(b.Out), count(b.Late), count(b.DeadLetters), count(b.Skipped), state, eventTime(b.Watermark)})
		}
		p.table(rows)
	}
	if len(s.Plugins) > 0 {
		p.printf("\n")
		rows := [][]string{{"PLUGIN", "DIGEST", "CALLS", "TIME"}}
		for _, pl := range s.Plugins {
			digest := pl.Digest
			if pl.Trial {
				digest += " (no record yet)"
			}
			rows = append(rows, []string{pl.Name, digest, count(pl.Calls), time.Duration(pl.Nanos).Round(time.Microsecond).String()})
		}
		p.table(rows)
	}
}

func (s pipelineStatus) sources(p *printer) {
	rows := [][]string{{"SOURCE", "TOPIC", "PARTITION", "POSITION", "LAG", "WATERMARK", "NOTE"}}
	for _, src := range s.Sources {
		for _, part := range src.Partitions {
			lag := "?"
			if part.Lag != nil {
				lag = count(*part.Lag)
			}
			rows = append(rows, []string{
				src.Block, part.Topic, strconv.Itoa(int(part.Partition)), count(part.Position), lag, eventTime(part.Watermark), note(part),
			})
		}
	}
	if len(rows) > 1 {
		p.printf("\n")
		p.table(rows)
	}
}

// note says what holds a partition.
func note(p admin.PartitionStatus) string {
	switch {
	case p.Ended:
		return "ended"
	case p.Held:
		return "waits for slower partitions"
	case p.Idle:
		return "idle"
	case p.CaughtUp:
		return "caught up"
	}
	return ""
}

// eventTime writes a watermark. It is the greatest time when all inputs have ended.
func eventTime(ms *int64) string {
	switch {
	case ms == nil:
		return "none"
	case *ms == math.MaxInt64:
		return "end"
	}
	return time.UnixMilli(*ms).UTC().Format("2006-01-02 15:04:05.000Z")
}

// byteSize writes a number of bytes with one digit behind the point.
func byteSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(n), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}
