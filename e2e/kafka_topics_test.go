package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// flowPipeline copies every score, and sums them by key and window. What comes from a partition that is found late may be
// behind the watermark: allowed lateness takes it.
const flowPipeline = `
pipeline "%[1]s" {
  epoch = "50ms"
}

broker "main" {
  addresses = [%[2]q]
}

source "in" {
  kafka {
    %[3]s
  }
  event_time = value.ts
  watermark {
    out_of_order = "1s"
    idle         = "10m"
    max_future   = "100000h"
    max_ahead    = "100000h"
  }
}

sink "copy" {
  input = source.in
  kafka {
    topic = "%[1]s-copy"
    create { partitions = 2 }
  }
}

aggregate "sums" {
  input = source.in
  key   = value.k
  window "fixed" { size = "10s" }
  allowed_lateness = "2h"
  compute = {
    total = sum(value.v)
    n     = count()
  }
}

sink "sums" {
  input = aggregate.sums
  kafka {
    topic = "%[1]s-sums"
    create { partitions = 2 }
  }
  value = { k = key, start = window.start, total = value.total, n = value.n }
}
`

// flow is a run of flowPipeline.
type flow struct {
	k         *apache
	name      string
	file, dir string
}

// newFlow makes a pipeline that reads what a line of its kafka block says.
func newFlow(t *testing.T, k *apache, name, reads string) *flow {
	t.Helper()
	f := &flow{k: k, name: name, file: writePipeline(t, fmt.Sprintf(flowPipeline, name, k.Addr, reads))}
	f.dir = filepath.Join(filepath.Dir(f.file), "state")
	return f
}

func (f *flow) run(t *testing.T) *process {
	t.Helper()
	p := start(t, binary(t, ""), nil, "run", f.file, "--data", f.dir)
	p.explain(t)
	return p
}

// want wants that the scores before end came out once, as they are and in the sums, and that nothing else did.
func (f *flow) want(t *testing.T, end int) {
	t.Helper()
	wantScores(t, f.k.committed(t, f.name+"-copy"), 0, end)
	wantSums(t, f.k.committed(t, f.name+"-sums"), end)
	for i, r := range f.k.committed(t, "wgate."+f.name+".dead_letters") {
		if i < 5 {
			t.Errorf("a dead letter: %s: %s", headerOf(r, "wgate-dl-reason"), r.Value)
		}
	}
}

// kafkaPattern reads topics by a pattern: the one that is there, one that appears while the pipeline runs, and one that
// appears while it does not.
func kafkaPattern(t *testing.T, k *apache) {
	f := newFlow(t, k, "pattern", `pattern = "^scores-[a-z]+$"`)
	topics := []string{"scores-eu", "scores-us", "scores-asia"}
	n := 0
	produce := func(topic string, count int) {
		t.Helper()
		for range count {
			k.produce(t, scoreAt(n).record(t, topic, int32(n%2)))
			n++
		}
	}
	k.topic(t, "scores-eu", 2)
	for _, other := range []string{"scores-2", "my-scores-eu"} {
		k.topic(t, other, 1)
		k.produce(t, score{ID: -7, K: "other"}.record(t, other, 0))
	}
	produce("scores-eu", 50)
	p := f.run(t)
	k.drained(t, p, f.name, "scores-eu")

	k.topic(t, "scores-us", 2)
	produce("scores-us", 50)
	produce("scores-eu", 50)
	k.drained(t, p, f.name, topics[:2]...)
	p.stop(t)

	k.topic(t, "scores-asia", 2)
	produce("scores-asia", 50)
	produce("scores-us", 50)
	p = f.run(t)
	k.drained(t, p, f.name, topics...)
	for _, topic := range topics {
		k.produce(t, closing(t, topic, 2)...)
	}
	k.drained(t, p, f.name, topics...)
	p.stop(t)
	f.want(t, n)
}

// kafkaPartitionAdded adds partitions to a topic while the pipeline reads it and somebody writes it.
func kafkaPartitionAdded(t *testing.T, k *apache) {
	k.topic(t, "grows", 2)
	var partitions atomic.Int32
	partitions.Store(2)
	in := k.feed(t, 0, func(n int) (string, int32) { return "grows", int32(n) % partitions.Load() })
	f := newFlow(t, k, "grown", `topic = "grows"`)
	p := f.run(t)
	in.more(t, 200)
	for _, size := range []int32{3, 6} {
		if _, err := k.adm.UpdatePartitions(t.Context(), int(size), "grows"); err != nil {
			t.Fatal(err)
		}
		until(t, 30*time.Second, "the new partitions", func() bool {
			k.cl.ForceMetadataRefresh()
			leader, _, err := k.cl.PartitionLeader("grows", size-1)
			return err == nil && leader >= 0
		})
		partitions.Store(size)
		in.more(t, 500)
	}
	n := in.halt(t)
	k.drained(t, p, f.name, "grows") // a partition that is not known yet does not hold the watermark back
	k.produce(t, closing(t, "grows", 6)...)
	k.drained(t, p, f.name, "grows")
	p.stop(t)
	f.want(t, n)
}

// spanPipeline reads what was written to topic span from one time up to another.
const spanPipeline = `
pipeline "%[1]s" {}

broker "main" {
  addresses = [%[2]q]
}

source "in" {
  kafka {
    topic = "%[3]s"
    start = "%[4]s"
    stop  = "%[5]s"
  }
  event_time = value.ts
  watermark { max_future = "100000h" }
}

aggregate "all" {
  input = source.in
  window "fixed" { size = "1h" }
  compute = {
    n     = count()
    total = sum(value.v)
  }
}

sink "copy" {
  input = source.in
  kafka {
    topic = "%[1]s-copy"
    create { partitions = 1 }
  }
}

sink "all" {
  input = aggregate.all
  kafka {
    topic = "%[1]s-all"
    create { partitions = 1 }
  }
}
`

func rfc3339(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// kafkaStartStop reads from a time up to a time and ends by itself; run again, it has nothing to do.
func kafkaStartStop(t *testing.T, k *apache) {
	k.topic(t, "span", 4)
	const records = 1000 // of which the last third lies in partition 2 alone; partition 3 is empty
	for n := range records {
		p := int32(n % 3)
		if n > records*2/3 {
			p = 2
		}
		k.cl.Produce(t.Context(), scoreAt(n).record(t, "span", p), nil)
	}
	if err := k.cl.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	const first, end = 300, 800
	file := writePipeline(t, fmt.Sprintf(spanPipeline, "span", k.Addr, "span", rfc3339(scoreAt(first).TS), rfc3339(scoreAt(end).TS)))
	dir := t.TempDir()
	for range 2 {
		p := start(t, binary(t, ""), nil, "run", file, "--data", dir)
		if code := p.exitCode(t, time.Minute); code != 0 {
			t.Fatalf("exit code %d:\n%s", code, p.output())
		}
	}
	wantScores(t, k.committed(t, "span-copy"), first, end)
	wantTotal(t, k, "span-all", first, end)
}

// kafkaStopLater starts at a time in the past, reads what is written meanwhile, and ends by itself when its time has come.
func kafkaStopLater(t *testing.T, k *apache) {
	k.topic(t, "later", 2)
	begin := time.Now()
	stop := begin.Add(6 * time.Second)
	file := writePipeline(t, fmt.Sprintf(spanPipeline, "later", k.Addr, "later", rfc3339(begin.UnixMilli()), rfc3339(stop.UnixMilli())))
	old := scoreAt(-1).record(t, "later", 0)
	old.Timestamp = begin.Add(-time.Minute)
	k.produce(t, old)
	p := start(t, binary(t, ""), nil, "run", file, "--data", t.TempDir())
	n, end := 0, 0
	for ; time.Now().Before(stop.Add(500 * time.Millisecond)); n++ {
		r := scoreAt(n).record(t, "later", int32(n%2))
		if r.Timestamp = time.Now(); r.Timestamp.UnixMilli() < stop.UnixMilli() {
			if end = n + 1; p.ended() {
				t.Fatalf("ended before its time: %v\n%s", p.err, p.output())
			}
		}
		k.produce(t, r)
		time.Sleep(10 * time.Millisecond)
	}
	if code := p.exitCode(t, time.Minute); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, p.output())
	}
	if n <= end {
		t.Fatal("nothing was written after the stop")
	}
	wantScores(t, k.committed(t, "later-copy"), 0, end)
	wantTotal(t, k, "later-all", 0, end)
}

// wantTotal wants one result, of all scores from first up to end: they lie in one window, which the end of the source
// closes.
func wantTotal(t *testing.T, k *apache, topic string, first, end int) {
	t.Helper()
	var want, got, panes int64
	for n := first; n < end; n++ {
		want += scoreAt(n).V
	}
	for _, r := range k.committed(t, topic) {
		var v struct{ N, Total int64 }
		if err := json.Unmarshal(r.Value, &v); err != nil {
			t.Fatal(err)
		}
		if got = v.Total; v.N != int64(end-first) {
			t.Errorf("%d scores in the sum, want %d", v.N, end-first)
		}
		panes++
	}
	if got != want || panes != 1 {
		t.Errorf("sum %d in %d panes, want %d in one", got, panes, want)
	}
}
