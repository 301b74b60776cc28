package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// killPipeline sums values per key and window. No record can be late: the disorder is smaller than out_of_order, and no
// partition goes idle.
const killPipeline = `
pipeline "killtest" {
  epoch = "150ms"
}

broker "main" {
  addresses = ["%s"]
}

source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = value.ts
  watermark {
    out_of_order = "5s"
    idle         = "10m"
    max_future   = "100000h"
  }
}

aggregate "sums" {
  input = source.in
  key   = value.k
  window "fixed" { size = "10s" }
  compute = {
    total = sum(value.v)
    n     = count()
  }
}

sink "out" {
  input = aggregate.sums
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 2 }
  }
  value = { k = key, start = window.start, total = value.total, n = value.n }
}

// Every record once more, as it is: so every epoch has something in its transaction.
sink "copy" {
  input = source.in
  kafka {
    broker = broker.main
    topic  = "copy"
    create { partitions = 2 }
  }
}
`

// Points at which the binary kills itself when WGATE_CRASH names them (recovery.md, crash points of local mode).
var crashPoints = []string{
	"outputs_sent", "flushed", "pending_write", "pending_synced", "offsets_staged", "end_answered", "applying", "applied",
}

type killCell struct {
	K     string
	Start int64
}

type killSum struct{ Total, N int64 }

// copies is the key under which the copied records are counted: their number, and the sum of their values.
var copies = killCell{K: "copies of all records"}

// killInput makes n records over four partitions, out of order by less than five seconds, and what must come out.
func killInput(seed uint64, n int) (recs []*kgo.Record, want map[killCell]killSum) {
	rng := rand.New(rand.NewPCG(seed, 1))
	want = map[killCell]killSum{}
	const t0 = int64(1_767_225_600_000)
	all := killSum{N: 4} // with the closing ones
	for i := range n {
		ts := t0 + int64(i)*20 - rng.Int64N(4_000)
		k, v := "k"+strconv.Itoa(rng.IntN(50)), rng.Int64N(1000)
		recs = append(recs, &kgo.Record{
			Topic: "in", Partition: int32(rng.IntN(4)),
			Value: fmt.Appendf(nil, `{"k":%q,"v":%d,"ts":%d}`, k, v, ts),
		})
		c := killCell{k, ts - ts%10_000}
		s := want[c]
		want[c] = killSum{s.Total + v, s.N + 1}
		all.Total, all.N = all.Total+v, all.N+1
	}
	for p := range int32(4) { // closes all windows but its own
		recs = append(recs, &kgo.Record{
			Topic: "in", Partition: p, Value: fmt.Appendf(nil, `{"k":"end","v":0,"ts":%d}`, t0+int64(n)*20+600_000),
		})
	}
	want[copies] = all
	return recs, want
}

// killRun feeds the input while wgate is killed again and again, and then compares the committed output with what must
// have come out. It returns what is wrong.
type killRun struct {
	t       *testing.T
	addr    string
	bin     string
	dir     string
	file    string
	records int

	kills, open int
	hits        map[string]int
	stopped     string // what wgate said when it ended by itself
}

func newKillRun(t *testing.T, addr, tags string, records int) *killRun {
	t.Helper()
	r := &killRun{t: t, addr: addr, bin: binary(t, tags), dir: t.TempDir(), records: records, hits: map[string]int{}}
	r.file = filepath.Join(r.dir, "kill.hcl")
	if err := os.WriteFile(r.file, fmt.Appendf(nil, killPipeline, addr), 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *killRun) wgate(env ...string) *process {
	return start(r.t, r.bin, env, "run", r.file, "--data", filepath.Join(r.dir, "state"))
}

// run kills wgate: random times, then each crash point.
func (r *killRun) run(seed uint64, random, perPoint int) []string {
	t := r.t
	ctx := context.Background()
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.addr), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	if _, err := adm.CreateTopic(ctx, 4, 1, nil, "in"); err != nil {
		t.Fatal(err)
	}
	recs, want := killInput(seed, r.records)
	rounds := random + perPoint*len(crashPoints)
	share := len(recs) / (rounds + 1)
	feed := func(round int) func() {
		done, stop := make(chan error, 1), make(chan struct{})
		part := recs[round*share : (round+1)*share]
		if round == rounds {
			part = recs[round*share:]
		}
		go func() { done <- trickle(ctx, cl, part, stop) }()
		return func() {
			close(stop)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, 2))
	round := 0
	for ; round < random; round++ {
		fed := feed(round)
		p := r.wgate()
		if rng.IntN(4) > 0 { // the others are killed at any moment, also before the recovery is through
			p.waitFor(t, "pipeline runs")
		}
		time.Sleep(time.Duration(60+rng.IntN(400)) * time.Millisecond)
		if round%2 == 1 { // every second one finds a transaction open, however slow the machine is
			for i := 0; i < 500 && !r.inTxn(adm); i++ {
				time.Sleep(5 * time.Millisecond)
			}
		}
		if p.ended() {
			return []string{fmt.Sprintf("wgate ended by itself: %v\n%s", p.err, p.output())}
		}
		p.kill()
		r.count(adm)
		fed()
	}
	for i := range perPoint {
		for _, point := range crashPoints {
			fed := feed(round)
			r.crash(adm, point, 1+(i+rng.IntN(3)))
			round++
			fed()
			if r.stopped != "" {
				return []string{r.stopped}
			}
		}
	}
	feed(round)() // the rest: wgate may work it off in peace
	p := r.wgate()
	wrong := r.compare(want, p)
	p.stop(t)
	return wrong
}

// trickle produces records a few at a time, so that there is something to do at every moment, and what is left at once when
// stop is closed.
func trickle(ctx context.Context, cl *kgo.Client, recs []*kgo.Record, stop <-chan struct{}) error {
	for len(recs) > 0 {
		n := min(5, len(recs))
		select {
		case <-stop:
			n = len(recs)
		case <-time.After(15 * time.Millisecond):
		}
		if err := cl.ProduceSync(ctx, recs[:n]...).FirstErr(); err != nil {
			return err
		}
		recs = recs[n:]
	}
	return nil
}

// crash runs wgate until it kills itself at the n-th time it reaches a point.
func (r *killRun) crash(adm *kadm.Client, point string, n int) {
	p := r.wgate("WGATE_CRASH=" + point + ":" + strconv.Itoa(n))
	select {
	case <-p.done:
		if p.cmd.ProcessState.ExitCode() != -1 {
			r.stopped = fmt.Sprintf("wgate ended with %v instead of being killed at %s\n%s", p.err, point, p.output())
			return
		}
		r.hits[point]++
	case <-time.After(20 * time.Second):
		p.kill() // nothing was left to commit
	}
	r.count(adm)
}

// count notes a kill, and whether it left a transaction open.
func (r *killRun) count(adm *kadm.Client) {
	r.kills++
	if r.inTxn(adm) {
		r.open++
	}
}

// inTxn asks the broker whether a transaction is open.
func (r *killRun) inTxn(adm *kadm.Client) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	txns, err := adm.ListTransactions(ctx, nil, []string{"Ongoing"})
	if err != nil {
		r.t.Fatalf("list transactions: %v", err)
	}
	return len(txns.TransactionalIDs()) > 0
}

// compare reads the committed output until it is complete, and a little longer for what must not come.
func (r *killRun) compare(want map[killCell]killSum, p *process) []string {
	ctx, cancel := context.WithTimeout(context.Background(), 150*time.Second)
	defer cancel()
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.addr), kgo.ConsumeTopics("out", "copy"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		r.t.Fatal(err)
	}
	defer cl.Close()
	got := map[killCell][]killSum{}
	var all killSum
	quiet := time.Now()
	for ctx.Err() == nil && (len(got)+1 < len(want) || all.N < want[copies].N || time.Since(quiet) < 2*time.Second) {
		if p.ended() {
			return []string{fmt.Sprintf("wgate ended by itself: %v\n%s", p.err, p.output())}
		}
		poll, stop := context.WithTimeout(ctx, 200*time.Millisecond)
		fs := cl.PollFetches(poll)
		stop()
		fs.EachRecord(func(rec *kgo.Record) {
			var v struct {
				K                  string
				Start, Total, N, V int64
			}
			if err := json.Unmarshal(rec.Value, &v); err != nil {
				r.t.Fatalf("result %q: %v", rec.Value, err)
			}
			if rec.Topic == "copy" {
				all.Total, all.N = all.Total+v.V, all.N+1
				return
			}
			c := killCell{v.K, v.Start}
			got[c] = append(got[c], killSum{v.Total, v.N})
		})
		if fs.NumRecords() > 0 {
			quiet = time.Now()
		}
	}
	got[copies] = []killSum{all}
	return diff(want, got)
}

func diff(want map[killCell]killSum, got map[killCell][]killSum) []string {
	var wrong []string
	for c, w := range want {
		switch g := got[c]; {
		case len(g) == 0:
			wrong = append(wrong, fmt.Sprintf("lost: %v %v", c, w))
		case len(g) > 1:
			wrong = append(wrong, fmt.Sprintf("duplicated: %v %v: %v", c, w, g))
		case g[0] != w:
			wrong = append(wrong, fmt.Sprintf("wrong: %v is %v, not %v", c, g[0], w))
		}
	}
	for c, g := range got {
		if _, ok := want[c]; !ok {
			wrong = append(wrong, fmt.Sprintf("not expected: %v %v", c, g))
		}
	}
	return wrong
}

func report(t *testing.T, wrong []string) {
	t.Helper()
	for i, w := range wrong {
		if i == 20 {
			t.Errorf("... and %d more", len(wrong)-20)
			break
		}
		t.Error(w)
	}
}

// TestKill kills wgate 40 times at random moments and 5 times at each point of the commit. The broker lives on.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: needs two minutes")
	}
	r := newKillRun(t, startBroker(t), "", 60_000)
	report(t, r.run(1, 40, 5))
	t.Logf("%d kills, %d of them with a transaction open; crash points: %v", r.kills, r.open, r.hits)
	for _, point := range crashPoints {
		if r.hits[point] < 3 {
			t.Errorf("crash point %s was hit %d times: the test does not test it", point, r.hits[point])
		}
	}
	if r.open*2 < r.kills {
		t.Errorf("only %d of %d kills found a transaction open: at least half must", r.open, r.kills)
	}
}

// TestKillWithoutGuards shows that the kill test can fail: with the redo or the token check compiled out it must.
func TestKillWithoutGuards(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: needs a minute")
	}
	for _, tag := range []string{"wgate_no_redo", "wgate_no_token"} {
		t.Run(tag, func(t *testing.T) {
			r := newKillRun(t, startBroker(t), tag, 5_000)
			if wrong := r.run(1, 0, 2); len(wrong) == 0 {
				t.Errorf("the guard was compiled out and nothing was lost or doubled: %d kills, hits %v", r.kills, r.hits)
			}
		})
	}
}
