package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/e2e/kafkatest"
)

// TestKafka tells its stories against a real Apache Kafka, which is started once and ends with the test. The stories share
// it: each has topics and a pipeline of its own. The last ones stop and kill the broker.
func TestKafka(t *testing.T) {
	b := kafkatest.Start(t, kafkatest.Options{Secure: true})
	cl, err := kgo.NewClient(kgo.SeedBrokers(b.Addr), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(100*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	k := &apache{Broker: b, cl: cl, adm: kadm.NewClient(cl)}
	for _, story := range []struct {
		name string
		tell func(*testing.T, *apache)
	}{
		{"quickstart", kafkaQuickstart},
		{"secure", kafkaSecure},
		{"refused", kafkaRefused},
		{"pattern", kafkaPattern},
		{"partition added", kafkaPartitionAdded},
		{"from start to stop", kafkaStartStop},
		{"stop in the future", kafkaStopLater},
		{"kill", kafkaKill},
		{"broker restarts", kafkaBrokerRestarts},
		{"broker killed", kafkaBrokerKilled},
	} {
		t.Run(story.name, func(t *testing.T) { story.tell(t, k) })
	}
}

// kafkaKill kills wgate 15 times: 7 times at a random moment and once at each point of the commit.
func kafkaKill(t *testing.T, k *apache) {
	r := newKillRun(t, k.Addr, "", 15_000)
	report(t, r.run(7, 7, 1))
	t.Logf("%d kills, %d of them with a transaction open; crash points: %v", r.kills, r.open, r.hits)
	if r.kills != 15 || len(r.hits) < len(crashPoints) {
		t.Errorf("%d kills, of which at crash points: %v", r.kills, r.hits)
	}
	if r.open*2 < r.kills {
		t.Errorf("only %d of %d kills found a transaction open: at least half must", r.open, r.kills)
	}
}

// apache is the broker and a client of it beside wgate.
type apache struct {
	*kafkatest.Broker
	cl  *kgo.Client
	adm *kadm.Client
}

func (k *apache) topic(t *testing.T, name string, partitions int32) {
	t.Helper()
	if _, err := k.adm.CreateTopic(t.Context(), partitions, 1, nil, name); err != nil {
		t.Fatalf("topic %q: %v", name, err)
	}
}

func (k *apache) produce(t *testing.T, recs ...*kgo.Record) {
	t.Helper()
	if err := k.cl.ProduceSync(t.Context(), recs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// drained waits until the group of a pipeline has committed everything that is in topics. What came of it is committed by
// then, too: that is what the transaction is for.
func (k *apache) drained(t *testing.T, p *process, pipeline string, topics ...string) {
	t.Helper()
	var left string
	defer func() {
		if t.Failed() {
			t.Logf("not read: %s", left)
		}
	}()
	until(t, 2*time.Minute, "all of "+fmt.Sprint(topics)+" read and committed", func() bool {
		if p.ended() {
			t.Fatalf("wgate ended by itself: %v\n%s", p.err, p.output())
		}
		left = k.lag(t.Context(), pipeline, topics)
		return left == ""
	})
}

// lag says which partition the group has not read to its end, empty if there is none.
func (k *apache) lag(ctx context.Context, pipeline string, topics []string) string {
	offs, err := k.adm.FetchOffsets(ctx, "wgate."+pipeline)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return err.Error()
	}
	ends, err := k.adm.ListEndOffsets(ctx, topics...)
	if err != nil {
		return err.Error()
	}
	left := ""
	ends.Each(func(e kadm.ListedOffset) {
		if o, ok := offs.Lookup(e.Topic, e.Partition); e.Err != nil || !ok && e.Offset > 0 || ok && o.At < e.Offset {
			left = fmt.Sprintf("topic %s partition %d: committed %d of %d", e.Topic, e.Partition, o.At, e.Offset)
		}
	})
	return left
}

// stable returns the ends of topics, when no transaction is open in them any more: the last stable offset is the high
// watermark. Nobody may be writing.
func (k *apache) stable(t *testing.T, topics ...string) kadm.ListedOffsets {
	t.Helper()
	var ends kadm.ListedOffsets
	open := ""
	defer func() {
		if open != "" {
			txns, err := k.adm.ListTransactions(t.Context(), nil, nil)
			producers, err2 := k.adm.DescribeProducers(t.Context(), topicsSet(topics))
			t.Logf("open: %s\ntransactions: %+v %v\nproducers: %+v %v", open, txns, err, producers, err2)
		}
	}()
	until(t, time.Minute, "the end of all transactions", func() bool {
		high, err := k.adm.ListEndOffsets(t.Context(), topics...)
		if err == nil {
			err = high.Error()
		}
		if err == nil {
			ends, err = k.adm.ListCommittedOffsets(t.Context(), topics...)
		}
		if err == nil {
			err = ends.Error()
		}
		if err != nil {
			t.Fatal(err)
		}
		open = ""
		high.Each(func(h kadm.ListedOffset) {
			if e, ok := ends.Lookup(h.Topic, h.Partition); !ok || e.Offset != h.Offset {
				open += fmt.Sprintf("topic %s partition %d: stable to %d of %d\n", h.Topic, h.Partition, e.Offset, h.Offset)
			}
		})
		return open == ""
	})
	return ends
}

func topicsSet(topics []string) kadm.TopicsSet {
	s := kadm.TopicsSet{}
	for _, topic := range topics {
		s.Add(topic)
	}
	return s
}

// committed reads all that is committed in topics.
func (k *apache) committed(t *testing.T, topics ...string) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ends := k.stable(t, topics...)
	// Markers of transactions are kept: they say how far a partition has been read.
	cl, err := kgo.NewClient(kgo.SeedBrokers(k.Addr), kgo.ConsumeTopics(topics...), kgo.KeepControlRecords(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	type partition struct {
		topic string
		id    int32
	}
	left := map[partition]int64{}
	ends.Each(func(e kadm.ListedOffset) {
		if e.Offset > 0 {
			left[partition{e.Topic, e.Partition}] = e.Offset
		}
	})
	var recs []*kgo.Record
	for len(left) > 0 {
		fs := cl.PollFetches(ctx)
		if err := fs.Err(); err != nil {
			t.Fatalf("read %v: %v; not read: %v", topics, err, left)
		}
		fs.EachRecord(func(r *kgo.Record) {
			at := partition{r.Topic, r.Partition}
			if r.Offset+1 >= left[at] {
				delete(left, at)
			}
			if !r.Attrs.IsControl() {
				recs = append(recs, r)
			}
		})
	}
	return recs
}

// headerOf returns the value of a record's header, empty if it has none.
func headerOf(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// writePipeline writes a pipeline's text to a file in a folder of its own.
func writePipeline(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipeline.hcl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// explain makes a process that still runs when the test has failed tell where it is.
func (p *process) explain(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() && !p.ended() {
			_ = p.cmd.Process.Signal(syscall.SIGQUIT)
			<-p.done
			t.Log(p.output())
		}
	})
}

// exitCode waits until the process has ended by itself and returns its code.
func (p *process) exitCode(t *testing.T, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(limit):
		t.Fatalf("%v did not end by itself within %v:\n%s", p.cmd.Args[1:], limit, p.output())
	}
	return p.cmd.ProcessState.ExitCode()
}

// score is a record of the stories: number ID of its kind.
type score struct {
	ID int    `json:"id"`
	K  string `json:"k"`
	V  int64  `json:"v"`
	TS int64  `json:"ts"`
}

// t0 is the event time of the first score.
const t0 = int64(1_767_225_600_000)

// scoreAt makes the n-th score: every one is 20 ms after the one before, of ten keys.
func scoreAt(n int) score {
	return score{ID: n, K: "k" + strconv.Itoa(n%10), V: int64(n*7%100 + 1), TS: t0 + int64(n)*20}
}

func (s score) record(t testing.TB, topic string, partition int32) *kgo.Record {
	value, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return &kgo.Record{Topic: topic, Partition: partition, Value: value, Timestamp: time.UnixMilli(s.TS)}
}

// closing makes a record for each partition that moves the watermark past everything.
func closing(t testing.TB, topic string, partitions int32) (recs []*kgo.Record) {
	for p := range partitions {
		recs = append(recs, score{ID: -1, K: "end", TS: t0 + 24*3_600_000}.record(t, topic, p))
	}
	return recs
}

// feeder produces scores, some hundred a second, until it is halted.
type feeder struct {
	halted chan struct{}
	done   chan error
	mu     sync.Mutex
	next   int // number of the next score
}

// feed starts a feeder, whose first score is number first. place says where the n-th score goes.
func (k *apache) feed(t *testing.T, first int, place func(n int) (topic string, partition int32)) *feeder {
	f := &feeder{halted: make(chan struct{}), done: make(chan error, 1), next: first}
	go func() {
		for {
			var recs []*kgo.Record
			for range 10 {
				n := f.count() + len(recs)
				topic, partition := place(n)
				r := scoreAt(n).record(t, topic, partition)
				r.Timestamp = time.Now() // a restarted broker forgets producers of old records, and with them what a retry is
				recs = append(recs, r)
			}
			if err := k.cl.ProduceSync(context.Background(), recs...).FirstErr(); err != nil {
				f.done <- err
				return
			}
			f.mu.Lock()
			f.next += len(recs)
			f.mu.Unlock()
			select {
			case <-f.halted:
				f.done <- nil
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return f
}

// count returns the number of the first score that has not been acknowledged.
func (f *feeder) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.next
}

// more waits until n more scores have been acknowledged.
func (f *feeder) more(t *testing.T, n int) {
	t.Helper()
	n += f.count()
	until(t, 2*time.Minute, "more input", func() bool { return f.count() >= n })
}

// halt ends the feeding and returns the number of the score that would have come next.
func (f *feeder) halt(t *testing.T) int {
	t.Helper()
	close(f.halted)
	if err := <-f.done; err != nil {
		t.Fatal(err)
	}
	return f.count()
}

// wantScores wants every score from first up to but not including end exactly once, and nothing else; closing records do
// not count.
func wantScores(t *testing.T, recs []*kgo.Record, first, end int) {
	t.Helper()
	var wrong []string
	seen := map[int]int{}
	for _, r := range recs {
		var s score
		if err := json.Unmarshal(r.Value, &s); err != nil {
			t.Fatalf("%q: %v", r.Value, err)
		}
		if s.K == "end" {
			continue
		}
		if seen[s.ID]++; s != scoreAt(s.ID) || s.ID < first || s.ID >= end {
			wrong = append(wrong, fmt.Sprintf("not expected: %s", r.Value))
		}
	}
	for n := first; n < end; n++ {
		switch seen[n] {
		case 0:
			wrong = append(wrong, fmt.Sprintf("lost: %d", n))
		case 1:
		default:
			wrong = append(wrong, fmt.Sprintf("%d times: %d", seen[n], n))
		}
	}
	report(t, wrong)
}

// wantSums wants, as the last pane of every key and window of 10 s, the sum of the scores before end.
func wantSums(t *testing.T, recs []*kgo.Record, end int) {
	t.Helper()
	want := map[killCell]killSum{}
	for n := range end {
		s := scoreAt(n)
		c := killCell{s.K, s.TS - s.TS%10_000}
		want[c] = killSum{want[c].Total + s.V, want[c].N + 1}
	}
	got, last := map[killCell][]killSum{}, map[killCell]int{}
	for _, r := range recs {
		var v struct {
			K               string
			Start, Total, N int64
		}
		if err := json.Unmarshal(r.Value, &v); err != nil {
			t.Fatalf("%q: %v", r.Value, err)
		}
		pane, err := strconv.Atoi(headerOf(r, "wgate-pane-index"))
		if err != nil {
			t.Fatalf("pane index of %q: %v", r.Value, err)
		}
		c := killCell{v.K, v.Start}
		if pane != last[c] {
			t.Errorf("pane %d of %v where %d is due", pane, c, last[c])
		}
		last[c] = pane + 1
		got[c] = []killSum{{v.Total, v.N}}
	}
	report(t, diff(want, got))
}
