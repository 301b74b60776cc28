package gbkw

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// tb is what the rig needs of a test, be it one of testing or of rapid.
type tb interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// rig drives a machine and writes down what it gives. Times are written in units of unit.
type rig struct {
	t      tb
	cfg    Config
	names  []string // of the functions
	unit   event.Duration
	m      *Machine
	st     *statestore.Overlay
	w, now event.Time
	budget int
	out    Output
	marks  bool // print the aggregate's own watermark with each pane
	apart  bool // one state per window, whatever the configuration
	frail  bool // the machine loses its memory when a step of the watermark is half done

	seen  func(p *event.Bundle, i int) // is shown every pane, if set
	lines []string                     // what came, in order
	keys  []string                     // the key of each line
	none  int                          // rows in no window
}

// element is a row as a test writes it. mark is the watermark before it.
type element struct {
	key   string
	t     event.Time
	v     event.Value
	text  string // the value, if it is a text
	where bool
	mark  event.Time
	op    event.Op
}

func newRig(t tb, cfg Config, names ...string) *rig {
	t.Helper()
	return newRigOf(t, &rig{cfg: cfg, names: names, unit: event.Second, budget: 1 << 30, w: event.MinTime})
}

// newRigOf finishes a rig.
func newRigOf(t tb, r *rig) *rig {
	t.Helper()
	r.t = t
	names := r.names
	for _, n := range names {
		r.cfg.Funcs = append(r.cfg.Funcs, function(t, n))
	}
	r.st = statestore.NewOverlay(memstore.New())
	r.open()
	return r
}

func function(t tb, name string) combine.Func {
	t.Helper()
	var args []event.Type
	if name != "count" {
		args = []event.Type{event.Any}
	}
	sig, ok := combine.Lookup(name)
	if !ok {
		t.Fatalf("there is no function %s", name)
	}
	f, err := sig.New(args)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// open starts a new machine over the state that there is.
func (r *rig) open() {
	r.t.Helper()
	r.m = r.machine()
	r.move(r.w)
	r.clock(r.now)
}

func (r *rig) machine() *Machine {
	r.t.Helper()
	m, err := newMachine(r.cfg, SharesSlices(r.cfg) && !r.apart)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := m.Open(r.st); err != nil {
		r.t.Fatal(err)
	}
	return m
}

func (r *rig) elements(es []element) {
	r.t.Helper()
	h := new(event.Heap)
	b := &event.Bundle{Heap: h}
	in := &Rows{B: b, Args: make([][]event.Value, len(r.names)), Where: make([][]event.Value, len(r.names))}
	for i, e := range es {
		if e.text != "" {
			es[i].v = event.HeapValue(event.String, h.PutString(e.text))
			e = es[i]
		}
		b.Times = append(b.Times, e.t)
		b.Marks = append(b.Marks, e.mark)
		b.Ops = append(b.Ops, e.op)
		in.KeyBytes = append(in.KeyBytes, h.PutString(e.key))
		for f, n := range r.names {
			if n != "count" {
				in.Args[f] = append(in.Args[f], e.v)
			}
			if n == "last" { // the one function with a filter
				in.Where[f] = append(in.Where[f], event.BoolValue(e.where))
			}
		}
	}
	r.out.Reset(len(r.names))
	if err := r.m.Elements(in, r.now, r.st, &r.out); err != nil {
		r.t.Fatal(err)
	}
	r.take()
	r.none += r.out.NoWindow
	for _, l := range r.out.Late {
		e := es[l.Row]
		r.say("late "+e.key, "late for %s: %s %s", r.window(l.Window), r.time(e.t), text(h, e.v))
	}
	for _, f := range r.out.Failed {
		r.say(es[f.Row].key, "%s cannot take a %s", r.names[f.Func], f.Kind)
	}
}

// step calls a step of the machine until it is done.
func (r *rig) step(call func() (bool, error)) {
	r.t.Helper()
	for done := false; !done; {
		r.out.Reset(len(r.names))
		var err error
		if done, err = call(); err != nil {
			r.t.Fatal(err)
		}
		r.take()
	}
}

func (r *rig) move(w event.Time) {
	r.t.Helper()
	r.w = max(r.w, w)
	frail := r.frail
	r.step(func() (bool, error) {
		done, err := r.m.Watermark(r.w, r.st, &r.out, r.budget)
		if !done && err == nil && frail {
			r.m, frail = r.machine(), false
			r.m.now = r.now
		}
		return done, err
	})
}

func (r *rig) clock(now event.Time) {
	r.t.Helper()
	r.now = max(r.now, now)
	r.step(func() (bool, error) { return r.m.Clock(r.now, r.st, &r.out, r.budget) })
}

// take writes down the panes of r.out.
func (r *rig) take() {
	p := &r.out.Panes
	for i := range p.Times {
		pane := p.Panes[i]
		if r.seen != nil {
			r.seen(p, i)
		}
		var s strings.Builder
		sign := "+"
		if p.Ops[i] == event.Retract {
			sign = "-"
		}
		key := string(p.Keys[i].Bytes(p.Heap))
		fmt.Fprintf(&s, "%s%s %s %s %d", sign, key, r.window(p.Windows[i]), pane.Timing, pane.Index)
		if pane.First != (pane.Index == 0) {
			r.t.Errorf("first is wrong in a pane of index %d", pane.Index)
		}
		if pane.Last {
			s.WriteString(" last")
		}
		fmt.Fprintf(&s, " at %s:", r.time(p.Times[i]))
		for f, n := range r.names {
			fmt.Fprintf(&s, " %s %s", n, text(p.Heap, p.Fields[f][i]))
		}
		if pane.Cause != 0 {
			fmt.Fprintf(&s, " by %s", r.m.trig.Describe(make([]byte, r.m.trig.Size()))[pane.Cause].Path)
		}
		if r.marks {
			fmt.Fprintf(&s, " own %s", r.time(p.Marks[i]))
		}
		r.say(key, "%s", s.String())
	}
}

func (r *rig) say(key, format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
	r.keys = append(r.keys, key)
}

// flush returns the lines since the last flush.
func (r *rig) flush() string {
	var s strings.Builder
	for _, l := range r.lines {
		s.WriteString("  " + l + "\n")
	}
	r.lines, r.keys = nil, nil
	return s.String()
}

// rows counts the rows that are left in the state, but for those of the own watermark and of the position.
func (r *rig) rows() int {
	it, err := r.st.Scan(nil, statestore.PrefixEnd(nil, r.m.space.Prefix(nil)))
	if err != nil {
		r.t.Fatal(err)
	}
	n := 0
	for it.Next() {
		if string(it.Key()) != string(r.m.ownKey()) && string(it.Key()) != string(r.m.positionKey()) {
			n++
		}
	}
	if err := it.Close(); err != nil {
		r.t.Fatal(err)
	}
	return n
}

func (r *rig) window(w event.Window) string {
	if w.IsGlobal() {
		return "global"
	}
	closing := ")"
	if r.cfg.Window.Inclusive {
		closing = "]"
	}
	return "[" + r.time(w.Start) + "," + r.time(w.End) + closing
}

// time writes t in units, with as many digits as it takes.
func (r *rig) time(t event.Time) string {
	switch t {
	case event.MinTime:
		return "-inf"
	case event.MaxTime:
		return "+inf"
	}
	s := strconv.FormatFloat(float64(t)/float64(r.unit), 'f', 3, 64)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

func (r *rig) parseTime(s string) event.Time {
	switch s {
	case "-inf":
		return event.MinTime
	case "+inf":
		return event.MaxTime
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		r.t.Fatal(err)
	}
	ms := f * float64(r.unit)
	if ms < 0 {
		return event.Time(ms - 0.5)
	}
	return event.Time(ms + 0.5)
}

func text(h *event.Heap, v event.Value) string {
	switch v.Kind {
	case event.Int:
		return strconv.FormatInt(v.Int(), 10)
	case event.Float:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case event.Missing, event.Null:
		return "null"
	}
	return string(v.Bytes(h))
}

// parseConfig reads lines such as "window fixed 10" and "trigger never()". It returns the functions' names too.
func parseConfig(t tb, r *rig, lines []string) (cfg Config, names []string) {
	cfg.Trigger = triggers.Default()
	names = []string{"sum", "count"}
	for _, l := range lines {
		word, rest, _ := strings.Cut(l, " ")
		switch word {
		case "unit":
			d, err := event.ParseDuration(rest)
			if err != nil {
				t.Fatal(err)
			}
			r.unit = d
		case "window":
			cfg.Window = parseWindow(t, r, strings.Fields(rest))
		case "trigger":
			spec, err := triggers.Parse(rest)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Trigger = spec
		case "lateness":
			cfg.Lateness = event.Duration(r.parseTime(rest))
		case "panes":
			cfg.Mode = map[string]Mode{"accumulating": Accumulating, "discarding": Discarding, "retracting": Retracting}[rest]
		case "timestamp":
			cfg.Timestamp = map[string]Timestamp{"end": End, "earliest": Earliest, "latest": Latest}[rest]
		case "suppress":
			cfg.Suppress = true
		case "retracted":
			cfg.Retracted = true
		case "separate":
			cfg.Separate = true
		case "compute":
			names = strings.Fields(rest)
		default:
			t.Fatalf("unknown line %q", l)
		}
	}
	return cfg, names
}

func parseWindow(t tb, r *rig, words []string) (s windowing.Spec) {
	k, ok := windowing.Lookup(words[0])
	if !ok {
		t.Fatalf("unknown window %q", words)
	}
	s.Kind = k
	for i := 1; i < len(words); i++ {
		d := event.Duration(0)
		if words[i] != "inclusive" {
			d = event.Duration(r.parseTime(words[i+1]))
		}
		switch words[i] {
		case "size":
			s.Size = d
		case "period":
			s.Period = d
		case "offset":
			s.Offset = d
		case "step":
			s.Step = d
		case "gap":
			s.Gap = d
		case "max":
			s.Max = d
		case "inclusive":
			s.Inclusive = true
			continue
		default:
			t.Fatalf("unknown word %q", words[i])
		}
		i++
	}
	return s
}
