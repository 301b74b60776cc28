package kafka

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
)

// DialFunc opens a connection, as net.Dialer.DialContext does.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Options is what a Session or an Output is opened with. Zero durations take the defaults that are named here.
type Options struct {
	Pipeline string // the group and the client id are wgate.PIPELINE
	Instance string // uuid of the state folder: static member id, and part of the transactional id
	Broker   *config.Broker
	Sources  []Source
	Sinks    []Sink

	CreateTopics bool // make topics that are missing, as `wgate dev` does; else only those with a create block
	DeadLetters  bool // make the dead-letter topic if it is missing

	TxnTimeout     time.Duration // transactions older than this are aborted by the broker; 10 s
	SessionTimeout time.Duration // a silent member is out of the group after this; 10 s
	ConnectTimeout time.Duration // for the first answer of the broker; 8 s
	MetadataAge    time.Duration // how soon new partitions and topics are seen; 2 s
	ProbeInterval  time.Duration // how often the ends of partitions are asked for; 1 s
	Compression    string        // of what is written: "lz4" (default) or "none"

	Dial DialFunc     // nil: TCP
	Log  *slog.Logger // nil: nothing is logged
}

// Source is a kafka source of the pipeline.
type Source struct {
	Index int    // in the plan; Partition.Source and Origin.Source carry it
	Name  string // for messages
	Kafka *config.Kafka
	Raw   event.Kind // kind of the raw values: JSON, String or Bytes
}

// Sink is a kafka sink of the pipeline.
type Sink struct {
	Name  string // for messages
	Kafka *config.KafkaSink
}

// GroupName returns the name of a pipeline's consumer group, which is its client id, too.
func GroupName(pipeline string) string { return "wgate." + pipeline }

// DeadLetterTopic returns the name of a pipeline's dead-letter topic.
func DeadLetterTopic(pipeline string) string { return "wgate." + pipeline + ".dead_letters" }

// TransactionalID returns the transactional id of an instance of a pipeline.
func TransactionalID(pipeline, instance string) string { return pipeline + "/" + instance }

func orDefault(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

// complete fills in the defaults.
func (o *Options) complete() {
	orDefault(&o.TxnTimeout, 10*time.Second)
	orDefault(&o.SessionTimeout, 10*time.Second)
	orDefault(&o.ConnectTimeout, 8*time.Second)
	orDefault(&o.MetadataAge, 2*time.Second)
	orDefault(&o.ProbeInterval, time.Second)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Dial == nil {
		d := &net.Dialer{Timeout: 5 * time.Second}
		o.Dial = d.DialContext
	}
}

// check refuses options that a Session cannot work with.
func (o *Options) check() error {
	bad := func(format string, args ...any) error {
		return fault(CodeSettings, fmt.Sprintf(format, args...), nil, "correct the pipeline")
	}
	if o.Broker == nil || len(o.Broker.Addresses) == 0 {
		return bad("no address of a broker is known")
	}
	isolation, reader := "", map[string]string{}
	for _, s := range o.Sources {
		if isolation != "" && isolation != s.Kafka.Isolation {
			return bad("source %q: all sources of one broker must have the same isolation, and an earlier one has %q", s.Name, isolation)
		}
		isolation = s.Kafka.Isolation
		if _, err := regexp.Compile(s.Kafka.Pattern); err != nil {
			return bad("source %q: pattern: %v", s.Name, err)
		}
		for _, t := range s.Kafka.Topics {
			if other, ok := reader[t]; ok {
				return bad("source %q: topic %q is read by source %q already; read it once and let two blocks take that source as input", s.Name, t, other)
			}
			reader[t] = s.Name
		}
	}
	return nil
}

// readCommitted reports whether records of open and aborted transactions are left out.
func (o *Options) readCommitted() bool {
	return len(o.Sources) == 0 || o.Sources[0].Kafka.Isolation != "read_uncommitted"
}
