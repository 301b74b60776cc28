package engine_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/plan"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/pebblestore"
)

// The benchmarks measure one task from records in memory to records in memory: what is left of a run when Kafka and the
// disk cost nothing.

const benchHead = `
pipeline "bench" {
  epoch = "200ms"
}
source "events" {
  file { path = "events" }
  event_time = value.ts
  watermark {
    out_of_order = "10s"
    max_future   = "1000000h"
  }
}
`

const benchWindows = benchHead + `
aggregate "sums" {
  input = source.events
  key   = value.user
  window "fixed" { size = "1m" }
  allowed_lateness = "10s"
  late             = "drop"
  compute = {
    n   = count()
    sum = sum(value.amount)
  }
}
sink "out" {
  input = aggregate.sums
  stdout {}
  value = { user = key, start = window.start, end = window.end, count = value.n, sum = value.sum }
}
`

const benchFilter = benchHead + `
transform "big" {
  input = source.events
  where = value.amount > 50
  set = {
    cents = value.amount * 100
    big   = true
  }
}
sink "out" {
  input = transform.big
  stdout {}
}
`

// benchRecords makes n records of about 106 bytes, out of order by up to ten seconds, of 100,000 users.
func benchRecords(n int) [][]byte {
	rng := rand.New(rand.NewPCG(1, 1))
	recs := make([][]byte, n)
	for i := range recs {
		ts := 1_767_225_600_000 + int64(i)*720/1000 - rng.Int64N(10_000)
		recs[i] = fmt.Appendf(nil, `{"user":"u%d","page":"p%d","amount":%d.%02d,"ts":%d,"ref":"%016x%016x"}`,
			rng.IntN(100_000), rng.IntN(100), rng.IntN(100), rng.IntN(100), ts, rng.Uint64(), rng.Uint64())
	}
	return recs
}

// memoryInput gives records once.
type memoryInput struct {
	recs [][]byte
	next int
}

func (m *memoryInput) Poll(_ context.Context, _ time.Duration, b *event.Bundle) (bool, error) {
	from := m.next
	for ; m.next < len(m.recs) && m.next < from+event.BundleRows; m.next++ {
		b.Times = append(b.Times, 0)
		b.Marks = append(b.Marks, 0)
		b.Ops = append(b.Ops, event.Insert)
		b.Keys = append(b.Keys, event.NullValue())
		b.Values = append(b.Values, event.HeapValue(event.JSON, b.Heap.Put(m.recs[m.next])))
		b.Origins = append(b.Origins, event.Origin{Offset: int64(m.next)})
	}
	return m.next > from, nil
}

func (m *memoryInput) Partitions(dst []engine.PartitionState) []engine.PartitionState {
	done := m.next == len(m.recs)
	return append(dst, engine.PartitionState{Partition: engine.Partition{Topic: "events"}, Position: int64(m.next), Ended: done, CaughtUp: done})
}

func (m *memoryInput) Pause(engine.Partition, bool)                {}
func (m *memoryInput) Seek(context.Context, []engine.Offset) error { return nil }

// countOutput counts what it is given.
type countOutput struct{ records, bytes int }

func (c *countOutput) Write(_ context.Context, recs []engine.Record) error {
	c.records += len(recs)
	for i := range recs {
		c.bytes += len(recs[i].Value)
	}
	return nil
}

func (c *countOutput) Flush(context.Context) error { return nil }

type benchClock struct{}

func (benchClock) Now() event.Time { return event.TimeOf(time.Now()) }

func runTask(tb testing.TB, source string, in engine.Input, out engine.Output, store statestore.Store) {
	tb.Helper()
	p, diags := config.LoadBytes("bench.hcl", []byte(source), config.Options{})
	if diags.HasErrors() {
		tb.Fatal(diags)
	}
	pl, err := plan.Build(p)
	if err != nil {
		tb.Fatal(err)
	}
	ops := map[string]uint16{}
	for i, n := range pl.Nodes {
		if n.Kind == plan.Aggregate {
			ops[n.Block] = uint16(i)
		}
	}
	outs := map[string]engine.Output{}
	for _, s := range p.Sinks {
		outs[s.Name] = out
	}
	task := engine.NewTask(engine.Config{
		Plan: pl, Inputs: []engine.Input{in}, Topic: func(uint16, uint16) string { return "events" },
		Outputs: outs, DeadLetters: out, Store: store, Operators: ops, Clock: benchClock{}, Log: slog.New(slog.DiscardHandler),
		Committer: engine.NewCommitter(nil, store, engine.CommitterOptions{
			Config: commit.Config{InGroup: func(int) bool { return false }}, Outputs: []engine.Output{out},
		}),
	}, engine.NewStats(pl))
	if err := task.Run(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

func benchmarkTask(b *testing.B, source string) {
	recs := benchRecords(500_000)
	var out countOutput
	b.ReportAllocs()
	began := cpuTime()
	for b.Loop() {
		out = countOutput{}
		store, err := pebblestore.Open(b.TempDir(), pebblestore.Options{})
		if err != nil {
			b.Fatal(err)
		}
		runTask(b, source, &memoryInput{recs: recs}, &out, store)
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(recs)), "ns/record")
	b.ReportMetric(float64((cpuTime()-began).Nanoseconds())/float64(b.N*len(recs)), "cpu-ns/record")
	b.ReportMetric(float64(out.records), "results")
}

func BenchmarkTask_windows(b *testing.B) { benchmarkTask(b, benchWindows) }
func BenchmarkTask_filter(b *testing.B)  { benchmarkTask(b, benchFilter) }
