package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// full is a record as text: topic, key, value, timestamp and all headers.
func full(recs []*kgo.Record) []string {
	var out []string
	for _, r := range recs {
		var hs []string
		for _, h := range r.Headers {
			hs = append(hs, h.Key+"="+text(h.Value))
		}
		out = append(out, fmt.Sprintf("%s %s @%d %s", text(r.Key), text(r.Value), r.Timestamp.UnixMilli(), strings.Join(hs, " ")))
	}
	return out
}

// TestResults: key, value, headers and timestamps of results as language.md has them: of windows, of the global window, with
// keys of one and of several parts, as they are and under a sink's own key, appended and as upserts.
func TestResults(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, nil)
	for _, v := range []string{
		`{"t":1000,"user":"ann","n":7,"v":1}`, `{"t":2000,"user":"bob","n":8,"v":2}`, `{"t":12000,"user":"ann","n":7,"v":4}`,
		`{"t":25000,"user":"end","n":0,"v":0}`,
	} {
		l.produce(&kgo.Record{Topic: "in", Value: []byte(v), Timestamp: time.UnixMilli(77), Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("t1")}}})
	}
	sink := func(name, more string) string {
		return `
sink "` + name + `" {
` + more + `
  kafka {
    broker = broker.main
    topic  = "` + name + `"
    create { partitions = 1 }
  }
}
`
	}
	p := l.run(l.file("results.hcl", `
pipeline "results" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = value.t
}
aggregate "windows" {
  input = source.in
  key   = value.user
  window "fixed" { size = "10s" }
  compute = {
    sum = sum(value.v)
    n   = count()
  }
}
aggregate "pairs" {
  input = source.in
  key   = { user = value.user, n = value.n }
  window "fixed" { size = "10s" }
  compute = { sum = sum(value.v) }
}
aggregate "all" {
  input   = source.in
  trigger = repeat(after_count(2))
  key     = value.n % 2
  compute = { sum = sum(value.v) }
}
transform "where" {
  input = source.in
  where = header("trace") == "t1" && record.topic == "in" && record.offset < 2
  set   = { at = record.timestamp, from = "${record.topic}/${record.partition}/${record.offset}" }
}
`+sink("windows", `  input = aggregate.windows`)+
		sink("pairs", `  input = aggregate.pairs`)+
		sink("all", `  input = aggregate.all`)+
		sink("upserts", "  input = aggregate.windows\n  changes = \"upsert\"")+
		sink("latest", "  input = aggregate.all\n  changes = \"upsert\"")+
		sink("keyed", "  input = aggregate.windows\n  key = [key, window.start]\n  value = { u = key, sum = value.sum }\n  headers = { source = \"wgate\", sum = value.sum, none = null }")+
		sink("gone", "  input = aggregate.windows\n  value = value.n > 1 ? value : null\n  changes = \"upsert\"\n  key = key")+
		sink("where", "  input = transform.where\n  key = { u = value.user }")))

	const window0 = "wgate-window-start=0 wgate-window-end=10000 wgate-pane-index=0 wgate-pane-timing=on_time wgate-pane-last=true wgate-op=insert"
	const window1 = "wgate-window-start=10000 wgate-window-end=20000 wgate-pane-index=0 wgate-pane-timing=on_time wgate-pane-last=true wgate-op=insert"
	unordered(t, "windows", []string{
		`ann {"sum":1,"n":1} @9999 ` + window0, `bob {"sum":2,"n":1} @9999 ` + window0, `ann {"sum":4,"n":1} @19999 ` + window1,
	}, full(l.read("windows", 3)))
	unordered(t, "pairs", []string{
		`{"user":"ann","n":7} {"sum":1} @9999 ` + window0, `{"user":"bob","n":8} {"sum":2} @9999 ` + window0, `{"user":"ann","n":7} {"sum":4} @19999 ` + window1,
	}, full(l.read("pairs", 3)))
	unordered(t, "upserts", []string{
		`["ann",0,10000] {"sum":1,"n":1} @9999 ` + window0, `["bob",0,10000] {"sum":2,"n":1} @9999 ` + window0,
		`["ann",10000,20000] {"sum":4,"n":1} @19999 ` + window1,
	}, full(l.read("upserts", 3)))
	unordered(t, "keyed", []string{
		`["ann",0] {"u":"ann","sum":1} @9999 source=wgate sum=1 none=null ` + window0,
		`["bob",0] {"u":"bob","sum":2} @9999 source=wgate sum=2 none=null ` + window0,
		`["ann",10000] {"u":"ann","sum":4} @19999 source=wgate sum=4 none=null ` + window1,
	}, full(l.read("keyed", 3)))
	unordered(t, "gone", []string{`ann null @9999 ` + window0, `bob null @9999 ` + window0, `ann null @19999 ` + window1}, full(l.read("gone", 3)))
	unordered(t, "where", []string{
		`{"u":"ann"} {"t":1000,"user":"ann","n":7,"v":1,"at":77,"from":"in/0/0"} @1000 trace=t1`,
		`{"u":"bob"} {"t":2000,"user":"bob","n":8,"v":2,"at":77,"from":"in/0/1"} @2000 trace=t1`,
	}, full(l.read("where", 2)))
	for _, topic := range []string{"all", "latest"} {
		for _, r := range l.read(topic, 2) {
			var v struct{ Sum int }
			if err := json.Unmarshal(r.Value, &v); err != nil {
				t.Fatal(err)
			}
			want := map[string]int{"1": 5, "0": 2}[string(r.Key)]
			if v.Sum != want || header(r, "wgate-window-start") != "none" || header(r, "wgate-pane-timing") != "early" || header(r, "wgate-op") != "insert" {
				t.Errorf("%s: %s", topic, full([]*kgo.Record{r}))
			}
		}
	}
	configs, err := l.adm.DescribeTopicConfigs(t.Context(), "upserts", "windows")
	if err != nil {
		t.Fatal(err)
	}
	for topic, want := range map[string]string{"upserts": "compact", "windows": "delete"} {
		rc, err := configs.On(topic, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range rc.Configs {
			if c.Key == "cleanup.policy" && c.MaybeValue() != want {
				t.Errorf("topic %s is made with cleanup.policy=%s", topic, c.MaybeValue())
			}
		}
	}
	p.stop(t)
}

// unordered compares without regard to order.
func unordered(t *testing.T, what string, want, got []string) {
	t.Helper()
	same(t, what, sorted(want), sorted(got))
}
