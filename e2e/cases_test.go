package e2e

import (
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
