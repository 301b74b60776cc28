package kafka

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

// env is a broker and what a test opened on it.
type env struct {
	t    *testing.T
	ctx  context.Context
	addr string
	dial DialFunc       // nil: TCP
	fake *kfake.Cluster // nil: a real broker

	mu      sync.Mutex
	clients []*kgo.Client
	all     []*Session
}

// bubble runs a test in fake time against an embedded broker.
func bubble(t *testing.T, f func(e *env), opts ...kfake.Opt) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := new(kfake.VirtualNetwork)
		e := &env{t: t, ctx: t.Context(), addr: "127.0.0.1:9092", dial: network.DialContext}
		all := append([]kfake.Opt{kfake.Ports(9092), kfake.ListenFn(network.Listen)}, opts...)
		fake, err := kfake.NewCluster(all...)
		if err != nil {
			t.Fatal(err)
		}
		e.fake = fake
		defer fake.Close()
		defer e.close()
		f(e)
	})
}

func (e *env) close() {
	for _, s := range e.all {
		s.Close()
	}
	for _, cl := range e.clients {
		cl.Close()
	}
}

func (e *env) topic(name string, partitions int32) {
	e.t.Helper()
	if _, err := kadm.NewClient(e.client()).CreateTopic(e.ctx, partitions, 1, nil, name); err != nil {
		e.t.Fatal(err)
	}
}

func kafkaOf(topics ...string) *config.Kafka {
	return &config.Kafka{Topics: topics, Start: "earliest", StopTime: event.MaxTime, Isolation: "read_committed"}
}

// options reads topic "in" and writes topic "out".
func (e *env) options() Options {
	return Options{
		Pipeline: "p", Instance: "instance-1",
		Broker:  &config.Broker{Addresses: []string{e.addr}},
		Sources: []Source{{Index: 0, Name: "events", Kafka: kafkaOf("in"), Raw: event.JSON}},
		Sinks:   []Sink{{Name: "out", Kafka: &config.KafkaSink{Topic: "out", Create: &config.Create{Partitions: 1}}}},
		Dial:    e.dial,
	}
}

func (e *env) open(o Options) *Session {
	e.t.Helper()
	s, err := Open(e.ctx, o)
	if err != nil {
		e.t.Fatal(err)
	}
	e.all = append(e.all, s)
	return s
}

// ready is a session that was taken through the start of a recovery, at the committed offsets.
func (e *env) ready(o Options) *Session {
	e.t.Helper()
	s := e.open(o)
	e.recover(s)
	return s
}

// recover does what the commit protocol does at its start.
func (e *env) recover(s *Session) []engine.Offset {
	e.t.Helper()
	if err := s.Fence(e.ctx); err != nil {
		e.t.Fatal(err)
	}
	offs := e.fetch(s)
	if err := s.Seek(e.ctx, offs); err != nil {
		e.t.Fatal(err)
	}
	return offs
}

// fetch returns the committed offsets as soon as they are stable.
func (e *env) fetch(s *Session) []engine.Offset {
	e.t.Helper()
	for range 1000 {
		offs, stable, err := s.FetchOffsets(e.ctx)
		if err != nil {
			e.t.Fatal(err)
		}
		if stable {
			return offs
		}
		time.Sleep(10 * time.Millisecond)
	}
	e.t.Fatal("the offsets do not become stable")
	return nil
}

// client returns a plain client.
func (e *env) client(opts ...kgo.Opt) *kgo.Client {
	e.t.Helper()
	if e.dial != nil {
		opts = append(opts, kgo.Dialer(e.dial))
	}
	cl, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(e.addr), kgo.RecordPartitioner(kgo.ManualPartitioner()),
	}, opts...)...)
	if err != nil {
		e.t.Fatal(err)
	}
	e.mu.Lock()
	e.clients = append(e.clients, cl)
	e.mu.Unlock()
	return cl
}

// produce writes records as they are.
func (e *env) produce(recs ...*kgo.Record) {
	e.t.Helper()
	cl := e.client()
	if err := cl.ProduceSync(e.ctx, recs...).FirstErr(); err != nil {
		e.t.Fatal(err)
	}
}

// values makes records of partition 0 with the values lo..hi-1.
func values(topic string, partition int32, lo, hi int) []*kgo.Record {
	var recs []*kgo.Record
	for i := lo; i < hi; i++ {
		recs = append(recs, &kgo.Record{Topic: topic, Partition: partition, Value: fmt.Appendf(nil, "%d", i), Timestamp: time.UnixMilli(int64(1000 * i))})
	}
	return recs
}

// committedValues reads a topic from its start to its end as a read_committed reader.
func (e *env) committedValues(topic string, partitions int32) []string {
	e.t.Helper()
	var got []string
	for _, r := range e.committedRecords(topic, partitions) {
		got = append(got, string(r.Value))
	}
	return got
}

func (e *env) committedRecords(topic string, partitions int32) []*kgo.Record {
	e.t.Helper()
	parts := map[int32]kgo.Offset{}
	for p := range partitions {
		parts[p] = kgo.NewOffset().AtStart()
	}
	cl := e.client(kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: parts}), kgo.FetchMaxWait(100*time.Millisecond))
	var got []*kgo.Record
	for {
		ctx, cancel := context.WithTimeout(e.ctx, 2*time.Second)
		f := cl.PollFetches(ctx)
		cancel()
		if f.NumRecords() == 0 {
			return got
		}
		got = append(got, f.Records()...)
	}
}

// bundle is a new, empty bundle.
func bundle() *event.Bundle { return &event.Bundle{Heap: new(event.Heap)} }

// drain polls until nothing comes for a second and returns the values as "partition/offset=value".
func (e *env) drain(s *Session) []string {
	e.t.Helper()
	var got []string
	for {
		b := bundle()
		ok, err := s.Poll(e.ctx, time.Second, b)
		if err != nil {
			e.t.Fatal(err)
		}
		if !ok {
			return got
		}
		for i := range b.Len() {
			o := b.Origins[i]
			got = append(got, fmt.Sprintf("%s/%d/%d=%s", s.Topic(o.Source, o.Topic), o.Partition, o.Offset, b.Values[i].Bytes(b.Heap)))
		}
	}
}

// positions returns the offsets of all owned partitions, with metadata on the first.
func positions(s *Session, metadata string) []engine.Offset {
	var offs []engine.Offset
	for i, st := range s.Partitions(nil) {
		o := engine.Offset{Partition: st.Partition, Offset: st.Position, LeaderEpoch: -1}
		if i == 0 {
			o.Metadata = metadata
		}
		offs = append(offs, o)
	}
	return offs
}

// epoch sends values to "out" and tries to commit the session's positions.
func (e *env) epoch(s *Session, token string, send ...string) (engine.Outcome, error) {
	e.t.Helper()
	m, err := s.Begin(e.ctx)
	if err != nil {
		e.t.Fatal(err)
	}
	e.send(s, send...)
	if err := s.Flush(e.ctx); err != nil {
		e.t.Fatal(err)
	}
	return s.End(e.ctx, m, positions(s, token))
}

func (e *env) send(s *Session, send ...string) {
	e.t.Helper()
	var recs []engine.Record
	for _, v := range send {
		recs = append(recs, engine.Record{Topic: "out", Value: []byte(v), Timestamp: 5})
	}
	if err := s.Send(e.ctx, recs); err != nil {
		e.t.Fatal(err)
	}
}

func diff[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
