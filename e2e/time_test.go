package e2e

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestTimestamps (O15 a): records without a timestamp are dead letters. They are committed like the others, do not come
// again, and touch neither watermark nor windows.
func TestTimestamps(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, nil)
	for i, ms := range []int64{1000, -1, 2000, -1} {
		l.produce(&kgo.Record{
			Topic: "in", Key: []byte("k"), Value: fmt.Appendf(nil, `{"n":%d}`, i), Timestamp: time.UnixMilli(ms),
			Headers: []kgo.RecordHeader{{Key: "i", Value: []byte(strconv.Itoa(i))}},
		})
	}
	file := l.file("stamps.hcl", `
pipeline "stamps" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = record.timestamp
}
aggregate "seconds" {
  input = source.in
  window "fixed" { size = "1s" }
  trigger = repeat(after_count(1))
  compute = { n = count() }
}
sink "out" {
  input = aggregate.seconds
  value = "${window.start} ${value.n}"
  encode = "text"
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
`)
	p := l.run(file)
	dead := l.read("wgate.stamps.dead_letters", 2)
	until(t, 30*time.Second, "offset 4 is committed", func() bool { return l.committed("stamps", "in") == 4 })
	p.stop(t)
	p = l.run(file) // nothing comes again
	l.produce(&kgo.Record{Topic: "in", Key: []byte("k"), Value: []byte(`{}`), Timestamp: time.UnixMilli(2500)})
	same(t, "windows", []string{"null 1000 1", "null 2000 1", "null 2000 2"}, lines(l.read("out", 3)))
	p.stop(t)
	if n := len(l.read("wgate.stamps.dead_letters", 2)); n != 2 {
		t.Errorf("%d dead letters after the restart", n)
	}
	same(t, "dead letters", []string{`k {"n":1} i=1`, `k {"n":3} i=3`}, lines(dead))
	for i, r := range dead {
		got := []string{header(r, "wgate-dl-topic"), header(r, "wgate-dl-partition"), header(r, "wgate-dl-offset"),
			header(r, "wgate-dl-operator"), header(r, "wgate-dl-code")}
		same(t, "headers", []string{"in", "0", strconv.Itoa(1 + 2*i), "source.in", "bad_timestamp"}, got)
		if !strings.Contains(header(r, "wgate-dl-reason"), "-1") {
			t.Errorf("the reason is %q", header(r, "wgate-dl-reason"))
		}
	}
	if at := l.committed("stamps", "in"); at != 5 {
		t.Errorf("committed up to %d", at)
	}
}

// TestBrokerStamps (O15 c): the broker stamps the records now, the field is three hours old, and the windows are those of
// the field.
func TestBrokerStamps(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, map[string]string{"message.timestamp.type": "LogAppendTime"})
	then := time.Now().Add(-3 * time.Hour).UnixMilli()
	l.produce(values("in", fmt.Sprintf(`{"ts":%d}`, then))...)
	p := l.run(l.file("field.hcl", `
pipeline "field" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = value.ts
}
aggregate "seconds" {
  input = source.in
  window "fixed" { size = "1s" }
  trigger = repeat(after_count(1))
  compute = { n = count() }
}
sink "out" {
  input = aggregate.seconds
  value = { start = window.start, n = value.n }
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
`))
	same(t, "windows", []string{fmt.Sprintf(`null {"start":%d,"n":1}`, then-then%1000)}, lines(l.read("out", 1)))
	p.stop(t)
}

// TestIdle (O06): the watermark is the least of the partitions that are not idle and never goes back. Seconds are event
// times; which windows fire, and when, shows the watermark.
func TestIdle(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: waits for partitions to become idle")
	}
	l := newLab(t)
	l.topic("in", 2, nil)
	p := l.run(l.file("idle.hcl", `
pipeline "idle" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = value
  time_unit  = "s"
  watermark { idle = "2s" }
}
aggregate "seconds" {
  input = source.in
  window "fixed" { size = "1s" }
  compute = { n = count() }
}
sink "out" {
  input  = aggregate.seconds
  value  = "${window.start}"
  encode = "text"
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
`))
	at := func(partition int32, second int) {
		l.produce(&kgo.Record{Topic: "in", Partition: partition, Value: []byte(strconv.Itoa(second))})
	}
	fired := func(want ...string) {
		t.Helper()
		for i := range want {
			want[i] = "null " + want[i]
		}
		same(t, "windows", want, lines(l.read("out", len(want))))
	}
	late := func(want ...string) {
		t.Helper()
		for i := range want {
			want[i] = "null " + want[i]
		}
		same(t, "late", want, lines(l.read("wgate.idle.dead_letters", len(want))))
	}
	at(0, 5)
	at(1, 3)
	fired("3000") // both fall silent: the greatest watermark holds
	at(0, 9)
	fired("3000", "5000") // partition 1 does not hold it back
	at(1, 4)              // it is back, behind: the watermark stays
	late("4")
	at(0, 12)
	at(1, 6)
	at(1, 10) // but it holds the watermark from now on
	fired("3000", "5000", "9000", "10000")
	late("4", "6")
	at(1, 11)
	late("4", "6", "11")
	p.stop(t)
}

// TestCumulativeRestart (O14 ii): a window that speaks at its steps knows after a restart how far it was. What it has said is
// not said again, and what it knows is not forgotten.
func TestCumulativeRestart(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"stop", "kill"} {
		t.Run(end, func(t *testing.T) {
			l := newLab(t)
			l.topic("in", 1, nil)
			file := l.file("steps.hcl", `
pipeline "steps" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = value.s
  time_unit  = "s"
}
aggregate "minutes" {
  input = source.in
  key   = value.k
  window "cumulative" {
    size = "1m"
    step = "20s"
  }
  compute = { n = count() }
}
transform "seen" {
  input = aggregate.minutes
  where = key == "k"
}
sink "out" {
  input  = transform.seen
  value  = "${event.time} ${value.n} ${pane.index} ${pane.timing}"
  encode = "text"
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
`)
			restart := func(p *process) *process {
				if end == "stop" {
					p.stop(t)
				} else {
					p.kill()
				}
				return l.run(file)
			}
			want := []string{"k 19999 2 0 early"}
			p := l.run(file)
			l.produce(values("in", `{"k":"k","s":5}`, `{"k":"k","s":15}`, `{"k":"clock","s":20}`)...)
			same(t, "first step", want, lines(l.read("out", 1)))
			p = restart(p)
			l.produce(values("in", `{"k":"k","s":10}`, `{"k":"k","s":30}`, `{"k":"clock","s":40}`)...)
			want = append(want, "k 39999 4 1 early")
			same(t, "second step", want, lines(l.read("out", 2)))
			p = restart(p)
			l.produce(values("in", `{"k":"clock","s":60}`, `{"k":"k","s":12}`)...)
			want = append(want, "k 59999 4 2 on_time")
			same(t, "end", want, lines(l.read("out", 3)))
			p = restart(p)
			same(t, "late", []string{`null {"k":"k","s":12}`}, lines(l.read("wgate.steps.dead_letters", 1)))
			same(t, "after the last restart", want, lines(l.read("out", 3)))
			p.stop(t)
		})
	}
}

// TestCounters (O01 d, O05): what is in no window, what is too far in the future and what is late is counted, each under a
// name of its own, and the pipeline goes on past it.
func TestCounters(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, nil)
	s := start(t, binary(t, ""), nil, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(l.dir, "node"), "--log-format", "json")
	s.waitFor(t, "node runs")
	node := "http://" + field(t, s.output(), "address")
	succeeds(t, "deploy", "--node", node, "--yes", l.file("counters.hcl", `
pipeline "counters" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = value
  time_unit  = "s"
  watermark { max_future = "5m" }
}
aggregate "gaps" {
  input = source.in
  late  = "drop"
  window "sliding" {
    size   = "5s"
    period = "10s"
  }
  compute = { n = count() }
}
sink "out" {
  input  = aggregate.gaps
  value  = "${window.start} ${value.n}"
  encode = "text"
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
`))
	for s := 1; s <= 10; s++ {
		l.produce(values("in", strconv.Itoa(s))...)
	}
	l.produce(values("in", "4102444800", "3", "20")...) // one from the year 2100, one that is late, and the end of a window
	same(t, "windows", []string{"null 0 4", "null 10000 1"}, lines(l.read("out", 2)))
	until(t, 30*time.Second, "all is committed", func() bool { return l.committed("counters", "in") == 13 })
	want := map[string]string{
		`wgate_no_window_records_total{block="aggregate.gaps",pipeline="counters"}`: "5",
		`wgate_late_records_total{block="aggregate.gaps",pipeline="counters"}`:      "1",
		`wgate_future_records_total{block="source.in",pipeline="counters"}`:         "1",
		`wgate_records_in_total{block="source.in",pipeline="counters"}`:             "13",
	}
	until(t, 30*time.Second, "the counters are up to date", func() bool {
		return metrics(t, node)[`wgate_records_in_total{block="source.in",pipeline="counters"}`] == "13"
	})
	got := metrics(t, node)
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s is %q, not %s", name, got[name], w)
		}
	}
	s.stop(t)
}

// metrics returns what /metrics says, by name with labels.
func metrics(t testing.TB, node string) map[string]string {
	t.Helper()
	resp, err := http.Get(node + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if i := strings.LastIndexByte(line, ' '); i > 0 {
			m[line[:i]] = strings.TrimSpace(line[i:])
		}
	}
	return m
}
