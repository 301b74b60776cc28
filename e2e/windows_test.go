package e2e

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// datum is one record of a stream that is out of order.
type datum struct {
	t, v int64
	key  string
}

// stream makes n data whose times rise by about step and fall back by up to back.
func stream(seed uint64, n int, step, back int64) []datum {
	rng := rand.New(rand.NewPCG(seed, 7))
	data := make([]datum, n)
	now := int64(-1_000_000) // some of it before 1970
	for i := range data {
		now += rng.Int64N(2*step + 1)
		if rng.IntN(500) == 0 {
			now += 40 * step // a gap
		}
		d := datum{t: now, v: rng.Int64N(100), key: "k" + strconv.Itoa(rng.IntN(7))}
		if rng.IntN(3) > 0 {
			d.t -= rng.Int64N(back)
		}
		data[i] = d
	}
	return data
}

const windowsPipeline = `
variable "disorder" {}
variable "lateness" {}

pipeline "windows" {}

source "in" {
  file { path = "in.jsonl" }
  event_time = value.t
  watermark { out_of_order = var.disorder }
}

aggregate "a" {
  input = source.in
  key   = value.k
  WINDOW
  allowed_lateness = var.lateness
  trigger = after_watermark({ late = after_count(1) })
  compute = {
    n   = count()
    sum = sum(value.v)
  }
}

sink "out" {
  input  = aggregate.a
  value  = "${key} ${window.start} ${window.end} ${value.n} ${value.sum} ${pane.timing} ${event.time}"
  encode = "text"
  stdout {}
}

sink "late" {
  input  = aggregate.a.late
  value  = "late ${key} ${window.start} ${window.end} ${value.v} ${event.time}"
  encode = "text"
  stdout {}
}
`

// run runs the pipeline in a folder that has the data, and returns its lines, sorted.
func runWindows(t *testing.T, window, disorder, lateness string, data []datum) []string {
	t.Helper()
	dir := t.TempDir()
	var in strings.Builder
	for _, d := range data {
		fmt.Fprintf(&in, "{\"t\":%d,\"k\":%q,\"v\":%d}\n", d.t, d.key, d.v)
	}
	for name, text := range map[string]string{"in.jsonl": in.String(), "p.hcl": strings.Replace(windowsPipeline, "WINDOW", window, 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(binary(t, ""), "run", filepath.Join(dir, "p.hcl"), "--var", "disorder="+disorder, "--var", "lateness="+lateness)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
		got = append(got, s.Text())
	}
	sort.Strings(got)
	return got
}

// oracle computes by itself what windows of any assignment must give, record by record.
type oracle struct {
	assign   func(t int64) [][2]int64
	gap      int64 // of sessions; 0: no sessions
	step     int64 // of cumulative windows; 0: none
	lateness int64
	disorder int64

	wm   int64
	live map[string][]*cell
	out  []string
}

// cell is a window of a key.
type cell struct {
	start, end int64
	n, sum     int64
	fired      bool
	data       []datum
	next       int64 // the end of the next step
}

const forever = int64(1) << 62

func (o *oracle) run(data []datum, ends bool) []string {
	o.wm, o.live = -forever, map[string][]*cell{}
	newest := -forever
	for _, d := range data {
		o.add(d)
		newest = max(newest, d.t)
		o.advance(newest - o.disorder)
	}
	if ends {
		o.advance(forever)
	}
	sort.Strings(o.out)
	return o.out
}

func (o *oracle) add(d datum) {
	if o.gap > 0 {
		o.addSession(d)
		return
	}
	for _, w := range o.assign(d.t) {
		if w[1]+o.lateness <= o.wm {
			o.late(d, w[0], w[1])
			continue
		}
		var c *cell
		for _, x := range o.live[d.key] {
			if x.start == w[0] {
				c = x
			}
		}
		if c == nil {
			c = &cell{start: w[0], end: w[1], next: w[0] + o.step}
			o.live[d.key] = append(o.live[d.key], c)
			for o.step > 0 && c.next <= o.wm && c.next < c.end {
				c.next += o.step // steps that were over before there was anything say nothing
			}
		}
		o.fold(d, c)
	}
}

func (o *oracle) fold(d datum, c *cell) {
	c.n, c.sum, c.data = c.n+1, c.sum+d.v, append(c.data, d)
	if o.wm >= c.end { // after the end every record speaks at once
		c.fired = true
		o.say(d.key, c, "late", c.n, c.sum, c.end-1)
	}
}

func (o *oracle) addSession(d datum) {
	n := &cell{start: d.t, end: d.t + o.gap}
	var rest []*cell
	for _, c := range o.live[d.key] {
		if c.start < n.end && n.start < c.end {
			n.start, n.end = min(n.start, c.start), max(n.end, c.end)
			n.n, n.sum = n.n+c.n, n.sum+c.sum
			if c.start == n.start && c.end == n.end {
				n.fired = c.fired
			}
			continue
		}
		rest = append(rest, c)
	}
	if n.end+o.lateness <= o.wm {
		o.late(d, n.start, n.end)
		return
	}
	o.live[d.key] = append(rest, n)
	o.fold(d, n)
}

func (o *oracle) late(d datum, start, end int64) {
	o.out = append(o.out, fmt.Sprintf("late %s %d %d %d %d", d.key, start, end, d.v, d.t))
}

func (o *oracle) say(key string, c *cell, timing string, n, sum, at int64) {
	o.out = append(o.out, fmt.Sprintf("%s %d %d %d %d %s %d", key, c.start, c.end, n, sum, timing, at))
}

func (o *oracle) advance(w int64) {
	if w <= o.wm {
		return
	}
	o.wm = w
	for key, cells := range o.live { // what is said is sorted at the end
		var open []*cell
		for _, c := range cells {
			for o.step > 0 && c.next < c.end && c.next <= w {
				n, sum := int64(0), int64(0)
				for _, d := range c.data {
					if d.t < c.next {
						n, sum = n+1, sum+d.v
					}
				}
				if n > 0 { // the first step that holds something is the first that speaks
					o.say(key, c, "early", n, sum, c.next-1)
				}
				c.next += o.step
			}
			if c.end <= w && !c.fired {
				c.fired = true
				o.say(key, c, "on_time", c.n, c.sum, c.end-1)
			}
			if c.end+o.lateness > w {
				open = append(open, c)
			}
		}
		o.live[key] = open
	}
}

func floorTo(t, size, offset int64) int64 {
	r := (t - offset) % size
	if r < 0 {
		r += size
	}
	return t - r
}

// windowKinds are one window of each kind.
func windowKinds() map[string]windowKind {
	fixed := func(size, period, offset int64) func(int64) [][2]int64 {
		return func(t int64) (ws [][2]int64) {
			for s := floorTo(t, period, offset); s > t-size; s -= period {
				ws = append(ws, [2]int64{s, s + size})
			}
			return ws
		}
	}
	return map[string]windowKind{
		"fixed":      {"window \"fixed\" {\n size = \"1s\"\n offset = \"-300ms\"\n}", oracle{assign: fixed(1000, 1000, -300)}},
		"sliding":    {"window \"sliding\" {\n size = \"1s\"\n period = \"300ms\"\n}", oracle{assign: fixed(1000, 300, 0)}},
		"gaps":       {"window \"sliding\" {\n size = \"300ms\"\n period = \"1s\"\n offset = \"50ms\"\n}", oracle{assign: fixed(300, 1000, 50)}},
		"session":    {"window \"session\" {\n gap = \"120ms\"\n}", oracle{gap: 120}},
		"cumulative": {"window \"cumulative\" {\n size = \"2s\"\n step = \"500ms\"\n}", oracle{assign: fixed(2000, 2000, 0), step: 500}},
	}
}

type windowKind struct {
	text string
	o    oracle
}

// TestWindows runs a long stream that is out of order, more than the watermark allows for, through every kind of window,
// and compares all that comes out, late records too, with what a few lines compute record by record.
func TestWindows(t *testing.T) {
	t.Parallel()
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for name, k := range windowKinds() {
		for _, lateness := range []int64{0, 400} {
			for seed := range seeds {
				t.Run(fmt.Sprintf("%s %d %d", name, lateness, seed), func(t *testing.T) {
					o := k.o
					o.lateness, o.disorder = lateness, 250
					data := stream(seed, 6000, 20, 600)
					want := o.run(data, true)
					got := runWindows(t, k.text, "250ms", fmt.Sprintf("%dms", lateness), data)
					report(t, lineDiff(want, got))
				})
			}
		}
	}
}

const windowsOnTopics = `
pipeline "windows" {
  epoch    = "20ms"
  delivery = "DELIVERY"
}
broker "main" { addresses = ["ADDR"] }

source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = value.t
  watermark { out_of_order = "250ms" }
}

aggregate "a" {
  input = source.in
  key   = value.k
  WINDOW
  allowed_lateness = "400ms"
  trigger = after_watermark({ late = after_count(1) })
  compute = {
    n   = count()
    sum = sum(value.v)
  }
}

sink "out" {
  input  = aggregate.a
  value  = "${key} ${window.start} ${window.end} ${value.n} ${value.sum} ${pane.timing} ${event.time}"
  encode = "text"
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}

sink "late" {
  input  = aggregate.a.late
  value  = "late ${key} ${window.start} ${window.end} ${value.v} ${event.time}"
  encode = "text"
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
`

// TestWindowsKilled is the same over topics while the process is killed again and again: exactly once, and once with every
// result at least once.
func TestWindowsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: kills for some seconds")
	}
	for name, k := range windowKinds() {
		t.Run(name, func(t *testing.T) {
			want, got := killedWindows(t, k, "exactly_once")
			report(t, lineDiff(want, sorted(got)))
		})
	}
	t.Run("at least once", func(t *testing.T) {
		want, got := killedWindows(t, windowKinds()["session"], "at_least_once")
		report(t, lineDiff(want, slices.Compact(sorted(got))))
	})
}

// killedWindows feeds a stream over a second or two while wgate is killed, and returns what must come and what came.
func killedWindows(t *testing.T, k windowKind, delivery string) (want, got []string) {
	t.Helper()
	l := newLab(t)
	l.topic("in", 1, nil)
	o := k.o
	o.lateness, o.disorder = 400, 250
	data := append(stream(9, 6000, 20, 600), datum{t: 10_000_000, key: "end"})
	want = o.run(data, false)
	fed := make(chan error, 1)
	go func() { fed <- l.feed(data) }()
	file := l.file("p.hcl", strings.NewReplacer("WINDOW", k.text, "DELIVERY", delivery).Replace(windowsOnTopics))
	rng := rand.New(rand.NewPCG(1, 1))
	for range 8 {
		p := l.run(file)
		time.Sleep(time.Duration(150+rng.IntN(300)) * time.Millisecond)
		p.kill()
	}
	if err := <-fed; err != nil {
		t.Fatal(err)
	}
	p := l.run(file)
	until(t, 60*time.Second, "all is committed", func() bool { return l.committed("windows", "in") >= int64(len(data)) })
	for _, r := range l.read("out", len(want)) {
		got = append(got, string(r.Value))
	}
	p.stop(t)
	return want, got
}

// feed produces data little by little.
func (l *lab) feed(data []datum) error {
	for part := range slices.Chunk(data, 50) {
		var recs []*kgo.Record
		for _, d := range part {
			recs = append(recs, &kgo.Record{Topic: "in", Value: fmt.Appendf(nil, `{"t":%d,"k":%q,"v":%d}`, d.t, d.key, d.v)})
		}
		if err := l.cl.ProduceSync(context.Background(), recs...).FirstErr(); err != nil {
			return err
		}
		time.Sleep(25 * time.Millisecond)
	}
	return nil
}

// lineDiff compares sorted lists.
func lineDiff(want, got []string) (wrong []string) {
	for len(want) > 0 || len(got) > 0 {
		switch {
		case len(got) == 0 || len(want) > 0 && want[0] < got[0]:
			wrong, want = append(wrong, "missing: "+want[0]), want[1:]
		case len(want) == 0 || got[0] < want[0]:
			wrong, got = append(wrong, "not expected: "+got[0]), got[1:]
		default:
			want, got = want[1:], got[1:]
		}
	}
	return wrong
}
