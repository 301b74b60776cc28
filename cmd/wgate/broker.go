package main

import (
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wgate/wgate/host/broker"
)

func (s streams) brokerCommand() *cli.Command {
	return &cli.Command{
		Name:      "broker",
		Usage:     "run the embedded broker as a process of its own, for development",
		ArgsUsage: " ",
		Description: "Speaks the Kafka protocol to any client, with groups and transactions. It is one node without replication and\n" +
			"runs until it is interrupted.",
		Category: "Other",
		Flags: append([]cli.Flag{
			jsonFlag,
			&cli.StringFlag{Name: "data", EnvVars: []string{"WGATE_DATA"}, Usage: "keep topics in `FOLDER` (default: in memory)"},
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:9092", Usage: "listen on `HOST:PORT`; port 0 takes a free one"},
			&cli.StringFlag{Name: "advertise", Usage: "tell clients to connect to `HOST[:PORT]`"},
			&cli.StringSliceFlag{Name: "topic", Usage: "make a topic: `NAME[:PARTITIONS]`; may be repeated"},
			&cli.IntFlag{Name: "partitions", Value: 4, Usage: "make topics of `N` partitions where no number is given"},
			&cli.BoolFlag{Name: "sync", Usage: "acknowledge a record only when it is on the disk; slow"},
		}, logFlags...),
		Action: s.broker,
	}
}

func (s streams) broker(c *cli.Context) error {
	if _, err := arguments(c, 0, 0); err != nil {
		return err
	}
	log, err := s.logger(c)
	if err != nil {
		return err
	}
	o := broker.Options{
		Listen: c.String("listen"), Advertise: c.String("advertise"), DataDir: c.String("data"), Sync: c.Bool("sync"),
		Partitions: c.Int("partitions"), Log: log,
	}
	if o.Partitions < 1 {
		return invalid("--partitions %d: want at least 1", o.Partitions)
	}
	for _, t := range c.StringSlice("topic") {
		name, count, given := strings.Cut(t, ":")
		n := o.Partitions
		if given {
			n, err = strconv.Atoi(count)
		}
		if name == "" || err != nil || n < 1 || n > 10_000 {
			return invalid("--topic %s: want NAME or NAME:PARTITIONS", t)
		}
		o.Topics = append(o.Topics, broker.Topic{Name: name, Partitions: int32(n)})
	}
	b, err := startBroker(o)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := s.show(c, listening{b.Addr(), o.DataDir}); err != nil {
		return err
	}
	<-c.Done()
	return nil
}

// listening says where a broker is to be found.
type listening struct {
	Address string `json:"address"`
	Data    string `json:"data,omitempty"`
}

func (l listening) text(p *printer) {
	where := "in memory: topics are gone when it ends"
	if l.Data != "" {
		where = "data in " + l.Data
	}
	p.printf("broker listens on %s, %s\n", p.paint(bold, l.Address), where)
}
