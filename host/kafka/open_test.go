package kafka

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/engine"
)

func TestOpen_faults(t *testing.T) {
	for name, tc := range map[string]struct {
		code string
		says string // in the message
		opts []kfake.Opt
		edit func(o *Options)
	}{
		"source's topic is missing": {code: CodeNoTopic, says: `source "events": topic "nowhere" does not exist on broker 127.0.0.1:9092`, edit: func(o *Options) { o.Sources[0].Kafka = kafkaOf("nowhere") }},
		"sink's topic is missing":   {code: CodeNoTopic, says: `sink "out": topic "out" does not exist on broker 127.0.0.1:9092; add a create block`, edit: func(o *Options) { o.Sinks[0].Kafka.Create = nil }},
		"nothing matches":           {code: CodeNoMatch, says: `pattern "^x-"`, edit: func(o *Options) { o.Sources[0].Kafka = &config.Kafka{Pattern: "^x-", StopTime: event.MaxTime} }},
		"reads its own results":     {code: CodeSettings, says: `topic "out", which sink "out" writes`, edit: func(o *Options) { o.Sources[0].Kafka = &config.Kafka{Pattern: "o", StopTime: event.MaxTime} }},
		"a topic read twice":        {code: CodeSettings, says: `topic "in" is read by source "events" already`, edit: func(o *Options) { o.Sources = append(o.Sources, Source{Index: 1, Name: "b", Kafka: kafkaOf("in")}) }},
		"two isolations": {code: CodeSettings, says: "isolation", edit: func(o *Options) {
			k := kafkaOf("in2")
			k.Isolation = "read_uncommitted"
			o.Sources = append(o.Sources, Source{Index: 1, Name: "b", Kafka: k})
		}},
		"no name of a topic":  {code: CodeNoTopic, edit: func(o *Options) { o.Sources[0].Kafka = kafkaOf("a b") }},
		"nobody listens":      {code: commit.CodeBroker, says: "no broker answers at 127.0.0.1:1, 127.0.0.1:2", edit: func(o *Options) { o.Broker.Addresses = []string{"127.0.0.1:1", "127.0.0.1:2"} }},
		"no port":             {code: commit.CodeBroker, says: `"127.0.0.1"`, edit: func(o *Options) { o.Broker.Addresses = []string{"127.0.0.1"} }},
		"an old broker":       {code: CodeTooOld, says: "KIP-447", opts: []kfake.Opt{kfake.MaxVersions(kversion.V2_0_0())}},
		"asks for a user":     {code: CodeCredentials, opts: []kfake.Opt{kfake.EnableSASL()}},
		"unknown mechanism":   {code: CodeSettings, says: "scram-sha-256", edit: func(o *Options) { o.Broker.SASL = &config.SASL{Mechanism: "gssapi"} }},
		"no such certificate": {code: CodeTLS, says: `ca "nowhere.pem"`, edit: func(o *Options) { o.Broker.TLS = &config.TLS{CA: "nowhere.pem"} }},
		"wrong password": {code: CodeCredentials, opts: []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("PLAIN", "u", "p")}, edit: func(o *Options) {
			o.Broker.SASL = &config.SASL{Mechanism: "plain", User: config.NewSecret("u"), Password: config.NewSecret("hunter2")}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				if len(tc.opts) == 0 {
					e.topic("in", 1)
				}
				o := e.options()
				if tc.edit != nil {
					tc.edit(&o)
				}
				start := time.Now()
				s, err := Open(e.ctx, o)
				if err == nil {
					s.Close()
				}
				wantFault2(t, err, tc.code, tc.says)
				if took := time.Since(start); took > 15*time.Second {
					t.Errorf("took %v", took)
				}
			}, tc.opts...)
		})
	}
}

// wantFault2 checks a Stop's code and text.
func wantFault2(t *testing.T, err error, code, says string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), code+": ") || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want %s and %q", err, code, says)
	}
	if err != nil && strings.Contains(err.Error(), "hunter2") {
		t.Error("a secret is in the message")
	}
}

// An address that takes connections and never answers.
func TestOpen_silentAddress(t *testing.T) {
	bubble(t, func(e *env) {
		o := e.options()
		o.Dial = func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() {
				buf := make([]byte, 1024)
				for {
					if _, err := server.Read(buf); err != nil {
						return
					}
				}
			}()
			return client, nil
		}
		start := time.Now()
		_, err := Open(e.ctx, o)
		wantFault(t, err, commit.CodeBroker)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestOpen_createsTopics(t *testing.T) {
	bubble(t, func(e *env) {
		o := e.options()
		o.CreateTopics, o.DeadLetters = true, true
		o.Sinks[0].Kafka.Create = &config.Create{Partitions: 3, Cleanup: "compact"}
		o.Sinks = append(o.Sinks, Sink{Name: "more", Kafka: &config.KafkaSink{Topic: "more"}})
		e.open(o)
		adm := kadm.NewClient(e.client())
		got, err := adm.ListTopics(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, d := range got.Sorted() {
			counts[d.Topic] = len(d.Partitions)
		}
		diff(t, "topics", map[string]int{"in": 4, "out": 3, "more": 4, "wgate.p.dead_letters": 1}, counts)
		configs, err := adm.DescribeTopicConfigs(e.ctx, "out")
		if err != nil {
			t.Fatal(err)
		}
		policy := ""
		for _, c := range configs[0].Configs {
			if c.Key == "cleanup.policy" {
				policy = c.MaybeValue()
			}
		}
		diff(t, "policy", "compact", policy)
	})
}

// The broker's cap on transaction timeouts is found at the fence.
func TestSession_transactionTimeoutCap(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		s := e.open(e.options())
		wantFault(t, s.Fence(e.ctx), CodeTxnTimeout)
	}, kfake.BrokerConfigs(map[string]string{"transaction.max.timeout.ms": "5000"}))
}

// A second live instance is refused and does not disturb the first; after the first has died it gets in.
func TestSession_secondMember(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 2)
		e.produce(values("in", 0, 0, 2)...)
		first := e.ready(e.options())
		e.drain(first)
		o := e.options()
		o.Instance = "instance-2"
		second := e.open(o)
		wantFault(t, second.Fence(e.ctx), commit.CodeSecond)
		if outcome, err := e.epoch(first, "t", "a"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		if first.Revoked() {
			t.Error("the first was disturbed")
		}
		first.Close() // stays in the group until its session ends, as after a crash
		e.all = e.all[1:]
		e.recover(second)
		e.produce(values("in", 1, 5, 6)...)
		diff(t, "read", []string{"in/1/0=5"}, e.drain(second))
	})
}

// An instance that leaves for good lets another in at once.
func TestSession_leave(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		first := e.ready(e.options())
		e.drain(first)
		if err := first.Rebuild(e.ctx); err != nil {
			t.Fatal(err)
		}
		if err := first.Leave(e.ctx); err != nil {
			t.Fatal(err)
		}
		if err := first.Leave(e.ctx); err != nil {
			t.Errorf("leaving twice: %v", err)
		}
		o := e.options()
		o.Instance = "instance-2"
		start := time.Now()
		e.ready(o)
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}
