package quickstart

import (
	"cmp"
	"slices"
)

// Pane is one result: which firing of which key and window it is, and its value. Start and End are ms since the epoch.
type Pane struct {
	Key    string `json:"key"`
	Start  int64  `json:"start"`
	End    int64  `json:"end"`
	Timing string `json:"timing"` // early | on_time | late
	Index  int    `json:"index"`
	Total  int64  `json:"total"`
	Count  int64  `json:"count"`
}

// Rules are what of the example pipeline decides which panes there are. A test compares them with the pipeline itself.
type Rules struct {
	Size       int64 // of the fixed windows, ms
	OutOfOrder int64 // of the watermark, ms
	Lateness   int64 // allowed, ms
	Early      int   // an early pane after so many elements of a key and window
}

// PipelineRules are those of pipeline.hcl.
var PipelineRules = Rules{Size: 2 * minute, OutOfOrder: 10 * second, Lateness: 2 * minute, Early: 20}

// Expectation is what should come of a stream.
type Expectation struct {
	Panes []Pane // by key, then in the order in which they are sent
	Late  int    // events that came after their window was closed
}

// Expect computes the results of events in the order in which they arrive, by the rules of event-time windows that
// docs/architecture.md names. It goes one event at a time over plain maps: nothing of it is shared with the engine.
func Expect(events []Event, r Rules) Expectation {
	c := calculation{rules: r, windows: map[string]map[int64]*window{}, watermark: Start - 24*60*minute}
	for _, e := range events {
		c.event(e)
	}
	slices.SortStableFunc(c.out.Panes, func(a, b Pane) int { return cmp.Compare(a.Key, b.Key) })
	return c.out
}

type calculation struct {
	rules     Rules
	windows   map[string]map[int64]*window // key -> start
	watermark int64
	out       Expectation
}

// window is what is known of one key and window.
type window struct {
	total, count int64
	unsent       int // elements since the last pane
	panes        int
}

// event takes one event: first it is judged by the watermark so far, then the watermark moves, whatever becomes of the
// event.
func (c *calculation) event(e Event) {
	if points, ok := score(e); ok {
		c.add(e.Team, e.TS, points)
	}
	c.advance(e.TS - c.rules.OutOfOrder)
}

// score is what the plugin does: pings are no scores, and a bonus counts twice.
func score(e Event) (points int64, ok bool) {
	switch e.Kind {
	case "ping":
		return 0, false
	case "bonus":
		return 2 * e.Points, true
	}
	return e.Points, true
}

func (c *calculation) add(key string, ts, points int64) {
	start := ts - ts%c.rules.Size
	end := start + c.rules.Size
	if c.watermark >= end+c.rules.Lateness {
		c.out.Late++
		return
	}
	if c.windows[key] == nil {
		c.windows[key] = map[int64]*window{}
	}
	w := c.windows[key][start]
	if w == nil {
		w = &window{}
		c.windows[key][start] = w
	}
	w.total += points
	w.count++
	w.unsent++
	switch {
	case c.watermark >= end:
		c.send(key, start, w, "late")
	case w.unsent >= c.rules.Early:
		c.send(key, start, w, "early")
	}
}

// advance moves the watermark to t, sends the on-time panes of the windows whose end it passes and forgets those that
// are closed then. Nothing is left to send of a closed window: a late element is sent at once.
func (c *calculation) advance(t int64) {
	if t <= c.watermark {
		return
	}
	before := c.watermark
	c.watermark = t
	for key, windows := range c.windows { // order does not matter: panes are sorted by key
		var due []int64
		for start := range windows { // order does not matter: sorted below
			due = append(due, start)
		}
		slices.Sort(due)
		for _, start := range due {
			end := start + c.rules.Size
			if before < end && t >= end {
				c.send(key, start, windows[start], "on_time")
			}
			if t >= end+c.rules.Lateness {
				delete(windows, start)
			}
		}
	}
}

func (c *calculation) send(key string, start int64, w *window, timing string) {
	c.out.Panes = append(c.out.Panes, Pane{
		Key: key, Start: start, End: start + c.rules.Size, Timing: timing, Index: w.panes, Total: w.total, Count: w.count,
	})
	w.panes++
	w.unsent = 0
}
