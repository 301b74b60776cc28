package quickstart

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

func TestEvents_deterministic(t *testing.T) {
	a, b, other := Events(1, 500), Events(1, 500), Events(2, 500)
	if !slices.Equal(a, b) {
		t.Error("one seed gave two streams")
	}
	if slices.Equal(a, other) {
		t.Error("two seeds gave one stream")
	}
	if len(a) != 500 || len(Events(1, 1)) != 1 {
		t.Errorf("%d and %d events, want 500 and 1", len(a), len(Events(1, 1)))
	}
}

// TestEvents_showsEverything makes sure that what the quickstart is to show is in the stream, for any seed.
func TestEvents_showsEverything(t *testing.T) {
	for seed := range uint64(50) {
		x := Expect(Events(seed, 1000), PipelineRules)
		seen := map[string]int{}
		for _, p := range x.Panes {
			seen[p.Timing]++
		}
		if seen["early"] == 0 || seen["on_time"] < 15 || seen["late"] == 0 || x.Late == 0 {
			t.Errorf("seed %d: panes %v, %d late", seed, seen, x.Late)
		}
		if len(x.Panes) > 120 {
			t.Errorf("seed %d: %d panes are too many to look at", seed, len(x.Panes))
		}
	}
}

// TestExpect goes through a small stream that was worked out by hand.
func TestExpect(t *testing.T) {
	at := func(s int64, team, kind string, points int64) Event {
		return Event{User: "u", Team: team, Points: points, TS: Start + s*second, Kind: kind}
	}
	events := []Event{
		at(10, "red", "score", 1),
		at(5, "red", "bonus", 2), // second element: early, 1 + 4
		at(20, "red", "ping", 9), // no element
		at(100, "blue", "score", 3),
		at(125, "red", "score", 7),  // next window; watermark 115
		at(119, "red", "score", 1),  // in time, though out of order
		at(135, "blue", "ping", 0),  // watermark 125: both first windows are on time
		at(30, "red", "score", 2),   // late for the pane, not for the window
		at(31, "blue", "score", 1),  // too
		at(195, "red", "ping", 0),   // watermark 185: closes the first windows
		at(119, "red", "score", 5),  // too late
		at(179, "blue", "score", 6), // second window, not yet at its end
		at(1000, "red", "ping", 0),  // everything ends
	}
	r := Rules{Size: 120 * second, OutOfOrder: 10 * second, Lateness: 60 * second, Early: 2}
	pane := func(key string, start int64, timing string, index int, total, count int64) Pane {
		return Pane{key, Start + start*second, Start + (start+120)*second, timing, index, total, count}
	}
	want := Expectation{Late: 1, Panes: []Pane{
		pane("blue", 0, "on_time", 0, 3, 1),
		pane("blue", 0, "late", 1, 4, 2),
		pane("blue", 120, "on_time", 0, 6, 1),
		pane("red", 0, "early", 0, 5, 2),
		pane("red", 0, "on_time", 1, 6, 3),
		pane("red", 0, "late", 2, 8, 4),
		pane("red", 120, "on_time", 0, 7, 1),
	}}
	if diff := cmp.Diff(want, Expect(events, r)); diff != "" {
		t.Error(diff)
	}
}

func TestCompare(t *testing.T) {
	want := Expect(Events(1, 300), PipelineRules)
	got := slices.Clone(want.Panes)
	if diffs := Compare(want, got, want.Late); len(diffs) != 0 {
		t.Errorf("equal results differ: %q", diffs)
	}
	// Keys may come in any order among each other, the panes of one key may not.
	slices.SortStableFunc(got, func(a, b Pane) int { return strings.Compare(b.Key, a.Key) })
	if diffs := Compare(want, got, want.Late); len(diffs) != 0 {
		t.Errorf("the order of keys counts: %q", diffs)
	}
	got[0], got[1] = got[1], got[0]
	if diffs := Compare(want, got, want.Late); len(diffs) != 2 {
		t.Errorf("another order within a key: %q", diffs)
	}
	for name, tc := range map[string]struct { // order does not matter: each is a case of its own
		change func([]Pane) []Pane
		late   int
		part   string
	}{
		"missing":  {func(p []Pane) []Pane { return p[1:] }, 0, "missing"},
		"repeated": {func(p []Pane) []Pane { return append(p, p[len(p)-1]) }, 0, "not expected"},
		"value":    {func(p []Pane) []Pane { p[0].Total++; return p }, 0, "expected "},
		"timing":   {func(p []Pane) []Pane { p[0].Timing = "late"; return p }, 0, "got "},
		"late":     {func(p []Pane) []Pane { return p }, 1, "late events"},
	} {
		diffs := Compare(want, tc.change(slices.Clone(want.Panes)), want.Late+tc.late)
		if !strings.Contains(strings.Join(diffs, "\n"), tc.part) {
			t.Errorf("%s: %q", name, diffs)
		}
	}
}

// TestPipeline compares what the computation takes for granted with the pipeline itself.
func TestPipeline(t *testing.T) {
	p, diags := config.LoadBytes("pipeline.hcl", Pipeline, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	a := p.Aggregates[0]
	want, err := triggers.Parse(fmt.Sprintf("after_watermark({ early = after_count(%d), late = after_count(1) })", PipelineRules.Early))
	if err != nil {
		t.Fatal(err)
	}
	got := Rules{
		Size: int64(a.Window.Size), OutOfOrder: int64(p.Sources[0].Watermark.OutOfOrder), Lateness: int64(a.Lateness), Early: PipelineRules.Early,
	}
	if got != PipelineRules || a.Panes != "accumulating" || a.Window.Kind != windowing.Fixed || !a.Trigger.Equal(want) {
		t.Errorf("rules %+v, panes %s, window %s, trigger %s", got, a.Panes, a.Window, a.Trigger)
	}
	if p.Name != pipelineName || p.Sources[0].Kafka.Topics[0] != inputTopic || p.Sinks[0].Kafka.Topic != outputTopic {
		t.Errorf("pipeline %s: names of topics or pipeline have changed", p.Name)
	}
	example, err := os.ReadFile("../../plugins/examples/scores/pipeline.hcl")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(example), string(Pipeline)); diff != "" {
		t.Errorf("the example's pipeline and its copy differ:\n%s", diff)
	}
}
