package observe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/plan"
)

// document returns what docs/metrics.md lists: "name type labels".
func document(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?m)^\\| `(wgate_[a-z_]+)` \\| (counter|gauge) \\| ([a-z, ]*) \\| (.+) \\|$").FindAllStringSubmatch(string(text), -1) {
		out = append(out, strings.Join(m[1:], " | "))
	}
	return out
}

// TestDocument compares the page with the collector, both ways.
func TestDocument(t *testing.T) {
	var want []string
	for _, m := range metrics {
		kind := "gauge"
		if m.kind == counter {
			kind = "counter"
		}
		want = append(want, strings.Join([]string{m.name, kind, strings.Join(m.labels, ", "), m.help}, " | "))
	}
	if d := cmp.Diff(want, document(t)); d != "" {
		t.Errorf("docs/metrics.md (-collector +page):\n%s", d)
	}
}

func testPlan() *plan.Plan {
	src := &plan.Node{ID: 0, Kind: plan.Source, Block: "source.in"}
	do := &plan.Node{ID: 1, Kind: plan.Do, Block: "transform.scored", Plugin: &config.Plugin{Name: "scoring"}}
	where := &plan.Node{ID: 2, Kind: plan.Filter, Block: "transform.scored"}
	return &plan.Plan{
		Pipeline: &config.Pipeline{Name: "p", Sources: []*config.Source{{Name: "in"}}},
		Nodes:    []*plan.Node{src, do, where},
	}
}

func TestCollector(t *testing.T) {
	p := testPlan()
	st := engine.NewStats(p)
	st.Node(0).In.Store(7)
	st.Node(0).Out.Store(6)
	st.Node(0).Watermark.Store(1000)
	st.Node(1).In.Store(6)
	st.Node(1).Out.Store(6)
	st.Node(1).Calls.Store(2)
	st.Node(1).CallNanos.Store(1_500_000_000)
	st.Node(1).DeadLetters.Store(1)
	st.Node(2).DeadLetters.Store(2)
	st.Node(2).In.Store(6)
	st.Node(2).Out.Store(4)
	st.Epochs.Store(3)
	all := []Pipeline{{Name: "p", State: "running", Plan: p, Stats: st}, {Name: "q", State: "failed"}}
	h := Handler(NewCollector(func() []Pipeline { return all }), slog.New(slog.DiscardHandler))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text := w.Body.String()
	for _, want := range []string{
		`wgate_records_in_total{block="source.in",pipeline="p"} 7`,
		`wgate_records_out_total{block="source.in",pipeline="p"} 6`,
		`wgate_records_in_total{block="transform.scored",pipeline="p"} 6`,
		`wgate_records_out_total{block="transform.scored",pipeline="p"} 4`,
		`wgate_dead_letters_total{block="transform.scored",pipeline="p"} 3`,
		`wgate_watermark_timestamp_ms{block="source.in",pipeline="p"} 1000`,
		`wgate_plugin_calls_total{block="transform.scored",pipeline="p",plugin="scoring"} 2`,
		`wgate_plugin_seconds_total{block="transform.scored",pipeline="p",plugin="scoring"} 1.5`,
		`wgate_epochs_total{pipeline="p"} 3`,
		`wgate_pipeline_state{pipeline="p",state="running"} 1`,
		`wgate_pipeline_state{pipeline="q",state="failed"} 1`,
		`wgate_pipeline_state{pipeline="q",state="running"} 0`,
		"# TYPE wgate_epochs_total counter",
		"go_goroutines",
	} {
		if !strings.Contains(text, want+"\n") && !strings.Contains(text, want+" ") {
			t.Errorf("no line %s", want)
		}
	}
	// What is not known yet is absent, not a number that looks like one.
	for _, no := range []string{`wgate_watermark_timestamp_ms{block="transform.scored"`, "wgate_last_commit_timestamp_ms{", `wgate_epochs_total{pipeline="q"}`} {
		if strings.Contains(text, no) {
			t.Errorf("a line %s", no)
		}
	}
}

func TestLogger(t *testing.T) {
	for _, tc := range []struct{ format, want string }{{"text", `msg="it runs" pipeline=p`}, {"json", `"msg":"it runs","pipeline":"p"`}} {
		var b bytes.Buffer
		l, err := NewLogger(&b, tc.format, "warn")
		if err != nil {
			t.Fatal(err)
		}
		l.Info("hidden")
		l.Warn("it runs", "pipeline", "p")
		if s := b.String(); !strings.Contains(s, tc.want) || strings.Contains(s, "hidden") {
			t.Errorf("%s: %s", tc.format, s)
		}
	}
	for _, bad := range [][2]string{{"xml", "info"}, {"text", "loud"}} {
		if _, err := NewLogger(nil, bad[0], bad[1]); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestJournal(t *testing.T) {
	var base bytes.Buffer
	var j Journal
	text, err := NewLogger(&base, "text", "error")
	if err != nil {
		t.Fatal(err)
	}
	log := Tee(text, &j).With("pipeline", "p").WithGroup("g")
	log.Debug("no")
	for i := range journalLines + 10 {
		log.Info(fmt.Sprint(i), "k", i)
	}
	log.Error(strings.Repeat("x", 2*lineBytes))
	if s := base.String(); !strings.Contains(s, "xxx") || strings.Contains(s, "k=1") {
		t.Errorf("the base's level is not kept: %.100s", s)
	}
	var got []Line
	read := func(l Line) error { got = append(got, l); return nil }
	if err := j.Read(t.Context(), 2, false, read); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"pipeline": "p", "g.k": fmt.Sprint(journalLines + 9)}
	if len(got) != 2 || got[0].Text != fmt.Sprint(journalLines+9) || cmp.Diff(want, got[0].Attrs) != "" || len(got[1].Text) > lineBytes+3 {
		t.Errorf("got %.300v", got)
	}
	got = nil
	if err := j.Read(t.Context(), 1<<30, false, read); err != nil || len(got) != journalLines || got[0].Text != "11" {
		t.Errorf("%d lines from %q, %v", len(got), got[0].Text, err)
	}
}

func TestJournal_follow(t *testing.T) {
	var j Journal
	log := slog.New(&journalHandler{journal: &j})
	log.Info("0")
	ctx, cancel := context.WithCancel(t.Context())
	var got []string
	lines, done := make(chan string), make(chan error)
	go func() {
		done <- j.Read(ctx, 10, true, func(l Line) error { lines <- l.Text; return nil })
	}()
	for i := range 50 {
		got = append(got, <-lines)
		log.Info(fmt.Sprint(i + 1))
	}
	go func() {
		for range lines { // what came after the end
		}
	}()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	close(lines)
	if !sort.SliceIsSorted(got, func(a, b int) bool { return len(got[a]) < len(got[b]) }) || got[0] != "0" || got[49] != "49" {
		t.Errorf("got %v", got)
	}
	stop := errors.New("stop")
	if err := j.Read(t.Context(), 1, true, func(Line) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
