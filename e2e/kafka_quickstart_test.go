package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/internal/quickstart"
)

// kafkaQuickstart deploys the example pipeline to a node, changed for a real broker as its comments say, and compares what
// it writes with an independent computation.
func kafkaQuickstart(t *testing.T, k *apache) {
	bin := binary(t, "")
	dir := t.TempDir()
	buildPlugin(t, bin, filepath.Join(dir, "scores.wasm"))
	home := filepath.Join(dir, "scores")
	if err := os.Mkdir(home, 0o750); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "pipeline.hcl")
	if err := os.WriteFile(file, []byte(exampleFor(t, k.Addr)), 0o600); err != nil {
		t.Fatal(err)
	}

	k.topic(t, "events", 1)
	events := quickstart.Events(5, 3000)
	var recs []*kgo.Record
	for _, e := range events {
		value, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, &kgo.Record{Topic: "events", Key: []byte(e.User), Value: value})
	}
	k.produce(t, recs[:1000]...)

	node := start(t, bin, nil, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"))
	node.waitFor(t, "node runs")
	addr := regexp.MustCompile(`node runs" address=([0-9.:]+)`).FindStringSubmatch(node.output())
	if addr == nil {
		t.Fatalf("the node says no address:\n%s", node.output())
	}
	ask := func(args ...string) string {
		t.Helper()
		p := start(t, bin, []string{"WGATE_NODE=" + addr[1]}, args...)
		if code := p.exitCode(t, time.Minute); code != 0 {
			t.Fatalf("wgate %v: exit code %d\n%s\n%s", args, code, p.output(), node.output())
		}
		return p.output()
	}
	if out := ask("deploy", file, "--yes"); !strings.Contains(out, `pipeline "team-scores" is running`) {
		t.Errorf("deploy: %s", out)
	}
	k.produce(t, recs[1000:]...)
	k.drained(t, node, "team-scores", "events")
	if out := ask("status", "team-scores"); !strings.Contains(out, "3000") {
		t.Errorf("3,000 records were read, and status says:\n%s", out)
	}
	ask("stop", "team-scores")
	node.stop(t)

	var panes []quickstart.Pane
	for _, r := range k.committed(t, "team-scores") {
		panes = append(panes, paneOf(t, r))
	}
	late := 0
	for _, r := range k.committed(t, "wgate.team-scores.dead_letters") {
		if code := headerOf(r, "wgate-dl-code"); code != "late" {
			t.Errorf("a dead letter with code %q: %s", code, r.Value)
		}
		late++
	}
	want := quickstart.Expect(events, quickstart.PipelineRules)
	report(t, quickstart.Compare(want, panes, late))
	if len(want.Panes) < 50 || want.Late == 0 {
		t.Errorf("the story is too easy: %d panes, %d late", len(want.Panes), want.Late)
	}
}

// exampleFor is the pipeline of the example with a broker block.
func exampleFor(t *testing.T, addr string) string {
	t.Helper()
	raw, err := os.ReadFile("../plugins/examples/scores/pipeline.hcl")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, edit := range [][2]string{
		{`pipeline "team-scores" {}`, `pipeline "team-scores" {}` + "\n\nbroker \"main\" {\n  addresses = [\"" + addr + "\"]\n}"},
		{`kafka { topic = "events" }`, "kafka {\n    broker = broker.main\n    topic  = \"events\"\n  }"},
		{"kafka {\n    topic = \"team-scores\"", "kafka {\n    broker = broker.main\n    topic = \"team-scores\""},
	} {
		if strings.Count(text, edit[0]) != 1 {
			t.Fatalf("the example pipeline has changed: %q is not there", edit[0])
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	return text
}

// buildPlugin builds and packs the example plugin.
func buildPlugin(t *testing.T, bin, to string) {
	t.Helper()
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", to, ".")
	cmd.Dir = "../plugins/examples/scores"
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the plugin: %v\n%s", err, out)
	}
	if out, err := exec.Command(bin, "plugin", "pack", to).CombinedOutput(); err != nil {
		t.Fatalf("wgate plugin pack: %v\n%s", err, out)
	}
}

// paneOf reads a result: the key raw, window and pane in headers, the value as JSON.
func paneOf(t *testing.T, r *kgo.Record) quickstart.Pane {
	t.Helper()
	var v struct{ Total, N *int64 }
	if err := json.Unmarshal(r.Value, &v); err != nil || v.Total == nil || v.N == nil {
		t.Fatalf("%q is no result of the example pipeline: %v", r.Value, err)
	}
	number := func(key string) int64 {
		n, err := strconv.ParseInt(headerOf(r, key), 10, 64)
		if err != nil {
			t.Fatalf("header %s: %v", key, err)
		}
		return n
	}
	return quickstart.Pane{
		Key: string(r.Key), Start: number("wgate-window-start"), End: number("wgate-window-end"),
		Timing: headerOf(r, "wgate-pane-timing"), Index: int(number("wgate-pane-index")), Total: *v.Total, Count: *v.N,
	}
}
