package e2e

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"
)

// same compares what came with what must have come.
func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

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

// nulls are records with everything that can be null, empty, or there twice.
func nulls() []*kgo.Record {
	return []*kgo.Record{
		{Topic: "in", Key: []byte("k"), Headers: []kgo.RecordHeader{
			{Key: "trace", Value: []byte("a")}, {Key: "x"}, {Key: "trace", Value: []byte("b")}, {Key: "x", Value: []byte{}},
		}},
		{Topic: "in", Key: []byte("k"), Value: []byte{}},
		{Topic: "in", Value: []byte("1")},
		{Topic: "in", Value: []byte("2")},
		{Topic: "in", Value: []byte("3")},
		{Topic: "in", Key: []byte{}, Value: []byte("4")},
		{Topic: "in", Key: []byte{}, Value: []byte("5")},
		{Topic: "in", Key: []byte{0xff, 0}, Value: []byte{0xfe}, Headers: []kgo.RecordHeader{{Key: "raw", Value: []byte{0xff}}}},
	}
}

// TestNulls (O16): null and empty keys, values and headers, and headers that are there twice, come through a pipeline as
// they are, with and without a plugin in between.
func TestNulls(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, nil)
	l.produce(nulls()...)
	file := l.file("nulls.hcl", strings.ReplaceAll(`
pipeline "nulls" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
plugin "echo" { path = "PLUGIN" }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  decode     = "bytes"
  event_time = arrival()
}
transform "kept" {
  input = source.in
  do    = plugin.echo.keep
}
transform "copied" {
  input = source.in
  do    = plugin.echo.copy
}
transform "bare" {
  input = source.in
  do    = plugin.echo.bare
}
transform "marked" {
  input = transform.bare
  do    = plugin.echo.mark
}
sink "plain" {
  input = source.in
  encode = "bytes"
  kafka {
    broker = broker.main
    topic  = "plain"
    create { partitions = 1 }
  }
}
sink "kept" {
  input = transform.kept
  encode = "bytes"
  kafka {
    broker = broker.main
    topic  = "kept"
    create { partitions = 1 }
  }
}
sink "copied" {
  input = transform.copied
  encode = "bytes"
  kafka {
    broker = broker.main
    topic  = "copied"
    create { partitions = 1 }
  }
}
sink "bare" {
  input = transform.bare
  encode = "bytes"
  kafka {
    broker = broker.main
    topic  = "bare"
    create { partitions = 1 }
  }
}
sink "marked" {
  input = transform.marked
  encode = "bytes"
  kafka {
    broker = broker.main
    topic  = "marked"
    create { partitions = 1 }
  }
}
`, "PLUGIN", echo(t)))
	p := l.run(file)
	want := []string{
		"k null trace=a x=null trace=b x=empty", "k empty", "null 1", "null 2", "null 3", "empty 4", "empty 5",
		"\xff\x00 \xfe raw=\xff",
	}
	same(t, "without a plugin", want, lines(l.read("plain", len(want))))
	same(t, "kept", want, lines(l.read("kept", len(want))))
	same(t, "copied", want, lines(l.read("copied", len(want))))
	want[0], want[7] = "k null", "\xff\x00 \xfe"
	same(t, "without headers", want, lines(l.read("bare", len(want))))
	if got := lines(l.read("marked", len(want))); len(got) != len(want) {
		t.Errorf("marked: %q", got)
	} else {
		for i, line := range got { // which of them a call sees as the first is the engine's business
			if line != want[i] && line != want[i]+" mark=even" {
				t.Errorf("marked: %q", line)
			}
		}
	}
	p.stop(t)
}

// TestNewHeaders: a plugin gives headers to records of which none has any, and to some of them only.
func TestNewHeaders(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, nil)
	l.produce(values("in", "1", "2", "3")...)
	p := l.run(l.file("headers.hcl", strings.ReplaceAll(`
pipeline "headers" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
plugin "echo" { path = "PLUGIN" }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = arrival()
}
transform "marked" {
  input = source.in
  do    = plugin.echo.mark
}
sink "marked" {
  input   = transform.marked
  headers = { mark = header("mark"), v = value }
  kafka {
    broker = broker.main
    topic  = "marked"
    create { partitions = 1 }
  }
}
`, "PLUGIN", echo(t))))
	for _, line := range lines(l.read("marked", 3)) {
		v := strings.Fields(line)[1]
		// Which of them a call sees as the first is the engine's business.
		kept, marked := "null "+v+" mark=null v="+v, "null "+v+" mark=even mark=even v="+v
		if line != kept && line != marked || v == "1" && line != marked {
			t.Errorf("%q", line)
		}
	}
	p.stop(t)
}

// TestNullKeys (O16): null and empty keys are two groups; and null keys are kept, passed over, or dead letters.
func TestNullKeys(t *testing.T) {
	t.Parallel()
	for policy, want := range map[string][]string{
		"keep":        {`empty {"n":2}`, `k {"n":2}`, `null {"n":3}`},
		"skip":        {`empty {"n":2}`, `k {"n":2}`},
		"dead_letter": {`empty {"n":2}`, `k {"n":2}`},
	} {
		t.Run(policy, func(t *testing.T) {
			l := newLab(t)
			l.topic("in", 1, nil)
			l.produce(nulls()[:7]...)
			p := l.run(l.file("keys.hcl", strings.ReplaceAll(`
pipeline "keys" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  decode     = "bytes"
  event_time = record.offset
  time_unit  = "s"
}
aggregate "groups" {
  input    = source.in
  key      = key
  null_key = "POLICY"
  window "fixed" { size = "100s" }
  compute = { n = count() }
}
sink "out" {
  input = aggregate.groups
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
`, "POLICY", policy)))
			// The watermark is an offset times a second: a hundred records more close the window.
			for range 100 {
				l.produce(&kgo.Record{Topic: "in", Key: []byte("end"), Value: []byte("x")})
			}
			got := lines(l.read("out", len(want)+1))
			var groups []string
			for _, g := range got {
				if !strings.HasPrefix(g, "end ") {
					groups = append(groups, g)
				}
			}
			sort.Strings(groups)
			same(t, "groups", want, groups)
			if policy == "dead_letter" {
				same(t, "dead letters", []string{"null 1", "null 2", "null 3"}, lines(l.read("wgate.keys.dead_letters", 3)))
			} else if n := len(l.read("wgate.keys.dead_letters", 0)); n != 0 {
				t.Errorf("%d dead letters", n)
			}
			p.stop(t)
		})
	}
}

// TestCountOfField (O16): count() counts rows, count(EXPR) those that have a value; a record with a null value is a row.
// Its number survives as a key, too (O17 f).
func TestCountOfField(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, nil)
	for i, v := range [][]byte{nil, []byte(`{"v":null}`), []byte(`{"v":10}`)} {
		l.produce(&kgo.Record{Topic: "in", Key: []byte("11"), Value: v, Timestamp: time.UnixMilli(int64(i))})
	}
	l.produce(&kgo.Record{Topic: "in", Value: []byte(`{"id":9007199254740993}`), Timestamp: time.UnixMilli(2_000)})
	p := l.run(l.file("field.hcl", `
pipeline "field" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
}
aggregate "groups" {
  input = source.in
  key   = key
  window "fixed" { size = "1s" }
  compute = {
    all = count()
    v   = count(value.v)
  }
}
transform "ids" {
  input = source.in
  where = has(value.id)
}
sink "out" {
  input = aggregate.groups
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
sink "ids" {
  input = transform.ids
  key   = value.id
  kafka {
    broker = broker.main
    topic  = "ids"
    create { partitions = 1 }
  }
}
`))
	same(t, "counts", []string{`11 {"all":3,"v":1}`}, lines(l.read("out", 1)))
	same(t, "key", []string{`9007199254740993 {"id":9007199254740993}`}, lines(l.read("ids", 1)))
	p.stop(t)
}

const largePipeline = `
pipeline "large" {
  epoch    = "20ms"
  delivery = "DELIVERY"
}
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  decode     = "text"
  event_time = arrival()
}
sink "out" {
  input  = source.in
  encode = "text"
  kafka {
    broker = broker.main
    topic  = "out"
  }
}
`

// TestLargeRecord (O18): one record of a batch does not fit the sink's topic, nor that of the dead letters. The others are
// there once each and in order; the large one is a dead letter that is cut and says so; and all of it is committed, also
// when the process is killed between writing and committing.
func TestLargeRecord(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, delivery, crash string }{
		{"at least once", "at_least_once", ""},
		{"exactly once", "exactly_once", ""},
		{"killed when sent", "exactly_once", "flushed:1"},
		{"killed when decided", "exactly_once", "pending_synced:1"},
		{"killed before the end", "exactly_once", "offsets_staged:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t)
			l.topic("in", 1, map[string]string{"max.message.bytes": "8388608"})
			l.topic("out", 1, map[string]string{"max.message.bytes": "1048588"})
			l.topic("wgate.large.dead_letters", 1, map[string]string{"max.message.bytes": "1048588"})
			large := strings.Repeat("ab", 1_000_000)
			var recs []*kgo.Record
			for i, r := range [][2]string{{"k1", "r1"}, {"k2", "r2"}, {"k1", large}, {"k1", "r4"}, {"k2", "r5"}} {
				recs = append(recs, &kgo.Record{Topic: "in", Key: []byte(r[0]), Value: []byte(r[1]),
					Headers: []kgo.RecordHeader{{Key: "i", Value: []byte(strconv.Itoa(i))}}})
			}
			if err := l.cl.ProduceSync(t.Context(), recs...).FirstErr(); err != nil {
				t.Fatal(err)
			}
			file := l.file("large.hcl", strings.ReplaceAll(largePipeline, "DELIVERY", c.delivery))
			if c.crash != "" {
				l.crash(file, c.crash)
			}
			p := l.run(file)
			same(t, "sink", []string{"k1 r1 i=0", "k2 r2 i=1", "k1 r4 i=3", "k2 r5 i=4"}, lines(l.read("out", 4)))
			dead := l.read("wgate.large.dead_letters", 1)
			if len(dead) != 1 {
				t.Fatalf("%d dead letters", len(dead))
			}
			d := dead[0]
			got := []string{string(d.Key), header(d, "i"), header(d, "wgate-dl-topic"), header(d, "wgate-dl-partition"), header(d, "wgate-dl-offset"),
				header(d, "wgate-dl-operator"), header(d, "wgate-dl-code"), header(d, "wgate-dl-size"), header(d, "wgate-dl-cut")}
			same(t, "dead letter", []string{"k1", "2", "in", "0", "2", "sink.out", "record_too_large", "2000000", "true"}, got)
			if len(d.Value) == 0 || !strings.HasPrefix(large, string(d.Value)) {
				t.Errorf("the dead letter has %d bytes that are not the record's first", len(d.Value))
			}
			if !strings.Contains(header(d, "wgate-dl-reason"), "out") {
				t.Errorf("the reason does not name the topic: %q", header(d, "wgate-dl-reason"))
			}
			until(t, 30*time.Second, "the input is committed", func() bool { return l.committed("large", "in") >= 5 })
			p.stop(t)
		})
	}
}

// TestHugeHeaders: what does not fit may be the headers; the dead letter goes without them then.
func TestHugeHeaders(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, map[string]string{"max.message.bytes": "8388608"})
	l.topic("out", 1, map[string]string{"max.message.bytes": "1048588"})
	l.produce(
		&kgo.Record{Topic: "in", Key: []byte("k1"), Value: []byte("r1"), Headers: []kgo.RecordHeader{{Key: "big", Value: make([]byte, 1_500_000)}}},
		&kgo.Record{Topic: "in", Key: []byte("k2"), Value: []byte("r2")},
	)
	p := l.run(l.file("large.hcl", strings.ReplaceAll(largePipeline, "DELIVERY", "exactly_once")))
	same(t, "sink", []string{"k2 r2"}, lines(l.read("out", 1)))
	dead := l.read("wgate.large.dead_letters", 1)
	same(t, "dead letters", []string{"k1 r1"}, lines(dead))
	for _, d := range dead {
		same(t, "headers", []string{"record_too_large", "true", "0"}, []string{header(d, "wgate-dl-code"), header(d, "wgate-dl-cut"), header(d, "wgate-dl-offset")})
	}
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
