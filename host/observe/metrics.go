package observe

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/plan"
)

// Pipeline is what the metrics of one pipeline are read from. Plan and Stats are nil while it has never run.
type Pipeline struct {
	Name  string
	State string
	Plan  *plan.Plan
	Stats *engine.Stats
}

// States are the values that the label state of wgate_pipeline_state may have.
var States = []string{"starting", "running", "stopping", "stopped", "finished", "failed"}

// Collector gives Prometheus the metrics of the pipelines that a function names at that moment.
type Collector struct {
	pipelines func() []Pipeline
}

// NewCollector returns a collector over pipelines, which is called for every scrape, by any goroutine.
func NewCollector(pipelines func() []Pipeline) *Collector { return &Collector{pipelines} }

// Describe sends the descriptions of all metrics.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, m := range metrics {
		ch <- m.desc
	}
}

// Collect sends the present values.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, p := range c.pipelines() {
		s := sample{ch, p}
		for _, state := range States {
			s.send(pipelineState, truth(state == p.State), state)
		}
		if p.Plan == nil || p.Stats == nil {
			continue
		}
		s.blocks()
		s.partitions()
		s.send(epochs, float64(p.Stats.Epochs.Load()))
		s.send(epochBytes, float64(p.Stats.StateBytes.Load()))
		if t := p.Stats.LastCommit.Load(); t != 0 {
			s.send(lastCommit, float64(t))
		}
	}
}

// sample is one pipeline during a scrape.
type sample struct {
	ch chan<- prometheus.Metric
	Pipeline
}

func (s sample) send(m *metric, v float64, labels ...string) {
	s.ch <- prometheus.MustNewConstMetric(m.desc, m.kind, v, append([]string{s.Name}, labels...)...)
}

func (s sample) time(m *metric, t event.Time, labels ...string) {
	if t.IsFinite() {
		s.send(m, float64(t), labels...)
	}
}

func (s sample) blocks() {
	for _, b := range Blocks(s.Plan, s.Stats) {
		s.send(recordsIn, float64(b.In), b.Block)
		s.send(recordsOut, float64(b.Out), b.Block)
		s.send(deadLetters, float64(b.DeadLetters), b.Block)
		s.send(skipped, float64(b.Skipped), b.Block)
		s.send(lateRecords, float64(b.Late), b.Block)
		s.send(noWindow, float64(b.NoWindow), b.Block)
		s.send(behind, float64(b.Behind), b.Block)
		s.send(future, float64(b.Future), b.Block)
		s.time(watermark, b.Watermark, b.Block)
		if b.StateBytes >= 0 {
			s.send(stateBytes, float64(b.StateBytes), b.Block)
		}
		if b.Plugin != "" {
			s.send(pluginCalls, float64(b.Calls), b.Block, b.Plugin)
			s.send(pluginSeconds, b.InCalls.Seconds(), b.Block, b.Plugin)
		}
	}
}

func (s sample) partitions() {
	sources := s.Plan.Pipeline.Sources
	for _, p := range s.Stats.Partitions() {
		if p.Source < 0 || p.Source >= len(sources) {
			continue
		}
		labels := []string{sources[p.Source].Name, p.Topic, strconv.Itoa(int(p.ID))}
		if p.End >= 0 {
			s.send(sourceLag, float64(max(0, p.End-p.Position)), labels...)
		}
		s.send(sourcePosition, float64(p.Position), labels...)
		s.time(sourceWatermark, p.Watermark, labels...)
		s.send(sourceIdle, truth(p.Idle), labels...)
		s.send(sourceHeld, truth(p.Held), labels...)
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Block are the counters of one block, summed over the nodes that the plan made of it.
type Block struct {
	Block       string
	In, Out     int64
	Late        int64
	NoWindow    int64
	Behind      int64
	Future      int64
	DeadLetters int64
	Skipped     int64
	Watermark   event.Time // of its input
	StateBytes  int64      // -1: not known, or it keeps none
	Plugin      string     // that it calls, or empty
	Calls       int64
	InCalls     time.Duration
}

// Blocks returns the counters of all blocks of a plan in its order. In is that of a block's first node and Out that of its
// last, so that what passes between the two is not counted.
func Blocks(p *plan.Plan, st *engine.Stats) []Block {
	var out []Block
	at := map[string]int{}
	for _, n := range p.Nodes {
		c := st.Node(n.ID)
		i, ok := at[n.Block]
		if !ok {
			i = len(out)
			at[n.Block] = i
			out = append(out, Block{Block: n.Block, In: c.In.Load(), Watermark: event.Time(c.Watermark.Load()), StateBytes: -1})
		}
		b := &out[i]
		b.Out = c.Out.Load()
		b.Late += c.Late.Load()
		b.NoWindow += c.NoWindow.Load()
		b.Behind += c.Behind.Load()
		b.Future += c.Future.Load()
		b.DeadLetters += c.DeadLetters.Load()
		b.Skipped += c.Skipped.Load()
		b.StateBytes = max(b.StateBytes, c.StateBytes.Load())
		b.Calls += c.Calls.Load()
		b.InCalls += time.Duration(c.CallNanos.Load())
		if n.Plugin != nil {
			b.Plugin = n.Plugin.Name
		}
	}
	return out
}

// Handler serves the metrics of c, of the Go runtime and of the process in Prometheus' text format.
func Handler(c *Collector, log *slog.Logger) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(c, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorLog:      slog.NewLogLogger(log.Handler(), slog.LevelError),
		ErrorHandling: promhttp.ContinueOnError,
	})
}
