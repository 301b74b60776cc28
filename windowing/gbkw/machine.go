package gbkw

import (
	"fmt"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// Rows is the input of Elements.
type Rows struct {
	// B has the rows' Times, Marks and Ops; a row is judged by its own mark, the watermark before it.
	B *event.Bundle
	// KeyBytes are the canonical bytes of the rows' keys (codec.AppendKey), in B.Heap.
	KeyBytes []event.Ref
	// Args[f] is the argument of function f, nil if it has none. Where[f] is its filter, a column of bools (rows that are
	// not true are left out), nil if there is none; Where itself may be nil. Text is in B.Heap.
	Args  [][]event.Value
	Where [][]event.Value
}

// Late is a row that came too late for a window that would have taken it.
type Late struct {
	Row    int32
	Window event.Window
}

// Failed is a row whose argument for a function is of a kind that the function does not take. It counts nowhere.
type Failed struct {
	Row  int32
	Func int32
	Kind event.Kind
}

// Output is what a call gives. Calls append to it.
type Output struct {
	// Panes has a heap of its own. Keys are canonical key bytes, of kind Bytes; Windows, Panes, Times, Ops and Marks (the
	// aggregate's own watermark) are filled, Values are Missing, and Fields[f] is the result of function f, of kind Error
	// where that is out of range.
	Panes    event.Bundle
	Late     []Late
	Failed   []Failed
	NoWindow int // rows that lie in no window
}

// Reset empties the output for nf functions and keeps its memory.
func (o *Output) Reset(nf int) {
	if o.Panes.Heap == nil {
		o.Panes.Heap = new(event.Heap)
	}
	o.Panes.Heap.Reset()
	o.Panes.Reset(nf)
	o.Late, o.Failed, o.NoWindow = o.Late[:0], o.Failed[:0], 0
}

// Machine groups the rows of one operator of one worker. It is used by one goroutine.
//
// Its life: New, Open, then Watermark with the watermark of the checkpoint; from then on Elements, Watermark and Clock in
// the order in which things happen. Before rows with a mark at or above Boundary are given, Watermark is called with that
// mark; before anything that happens at a processing time at or after NextClock, Clock is called with that time. Then the
// output does not depend on how the rows are cut into bundles. All that must survive is in the View.
type Machine struct {
	cfg   Config
	space statestore.Space
	trig  *triggers.Machine
	funcs []combine.Func

	merging bool // sessions
	global  bool
	steps   bool // cumulative
	watches bool // the trigger looks at the watermark
	quiet   bool // nothing changes the trigger before the end is passed
	timed   bool // the trigger asks for processing time
	holds   bool // something may be unsent behind the watermark
	share   bool // windows share slices
	fires   bool // share: the passing of a window's end fires; else it fires when it closes
	bounds  bounds

	revises bool // a session that grows takes rows back that are earlier than its result

	windows index // what the watermark makes due
	ticks   index // what the clock makes due
	owes    index // by their times, rows that sessions have to take back
	w       event.Time
	now     event.Time
	out     event.Time // the aggregate's own watermark never goes back
	cursor  cursor

	slices  index      // share: the slices that there are
	stacked groupSet   // share: groups that may have stacks
	done    event.Time // share: end of the last window that has fired
	placed  event.Time // share: done as it is in the state
	halt    position   // share: the window that is firing, if its end is not MinTime
	feeds   []feed
	ghost   Output

	held int        // cells held in all entries
	kept event.Time // own watermark that is in the state

	table   table
	cells   []cell
	trigs   []byte     // the cells' trigger states
	accs    [][][]byte // accs[f][slot]
	slots   int
	pairs   pairs
	batch   combine.Batch
	results []event.Value
	old     []event.Value
	scratch scratch
}

// New returns a machine. The error says what of cfg cannot be done.
func New(cfg Config) (*Machine, error) { return newMachine(cfg, SharesSlices(cfg)) }

func newMachine(cfg Config, share bool) (*Machine, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	spec := cfg.Trigger
	if cfg.Separate {
		spec = cfg.separate()
	}
	t, err := triggers.Compile(spec)
	if err != nil {
		return nil, err
	}
	if cfg.Window.Kind == windowing.Cumulative && !t.Quiet() {
		return nil, fmt.Errorf("%w: the panes of a cumulative window come at its steps; the trigger %s may not fire before its end", errConfig, spec)
	}
	m := &Machine{
		cfg: cfg, space: statestore.Space{Task: cfg.Task, Op: cfg.Op}, trig: t, funcs: cfg.Funcs,
		merging: cfg.Window.Kind == windowing.Session,
		global:  cfg.Window.Kind == windowing.Global,
		steps:   cfg.Window.Kind == windowing.Cumulative,
		watches: t.Watches(), quiet: t.Quiet(), timed: t.Timed(),
		accs:  make([][][]byte, len(cfg.Funcs)),
		share: share, bounds: boundsOf(cfg.Window),
	}
	_, m.fires = t.Ask(make([]byte, t.Size()), triggers.Look{Passed: true})
	m.revises = m.merging && cfg.Mode == Retracting
	m.holds = cfg.Timestamp != End || cfg.Window.Inclusive || !t.Flushes() || m.revises
	m.forget()
	return m, nil
}

// forget empties what is in memory.
func (m *Machine) forget() {
	m.windows.reset()
	m.ticks.reset()
	m.owes.reset()
	m.w, m.now, m.out, m.kept = event.MinTime, event.MinTime, event.MinTime, event.MinTime
	m.cursor, m.held = cursor{}, 0
	m.slices.reset()
	m.stacked = groupSet{}
	m.done, m.placed, m.halt = event.MinTime, event.MinTime, position{end: event.MinTime, key: m.halt.key[:0]}
}

// due returns the watermark at which w is complete; closes that at which it closes.
func (m *Machine) due(w event.Window) event.Time { return m.cfg.Window.Due(w) }

func (m *Machine) closes(w event.Window) event.Time { return m.due(w).Add(m.cfg.Lateness) }

// Boundary returns the least time above w whose passing by the watermark could change anything, given what is pending and
// rows with an event time of minRow and later. It is MaxTime if nothing but the end of the input could.
func (m *Machine) Boundary(w, minRow event.Time) event.Time {
	spec, late := m.cfg.Window, m.cfg.Lateness
	at := spec.NextEnd(w, minRow)
	if late > 0 && !m.merging {
		at = min(at, spec.NextEnd(w.Add(-late), minRow).Add(late))
	}
	if e := m.windows.after(w); e != nil {
		at = min(at, m.nextStep(e, w))
	}
	if late > 0 && w != event.MinTime {
		if e := m.windows.after(w.Add(-late)); e != nil {
			at = min(at, e.at.Add(late))
		}
	}
	if m.share {
		if win, ok := m.nextShared(w); ok {
			at = min(at, win.End)
		}
		if win, ok := m.nextShared(w.Add(-late)); ok && late > 0 {
			at = min(at, win.End.Add(late))
		}
	}
	return at
}

// nextStep returns the least time above w that matters to the window of e, which w has not passed.
func (m *Machine) nextStep(e *entry, w event.Time) event.Time {
	if !m.steps {
		return e.at
	}
	step := event.Time(m.cfg.Window.Step)
	if w < e.start+step {
		return e.start + step
	}
	return e.start + step*((w-e.start)/step+1)
}

// NextClock returns the next processing time at which Clock has something to do; MaxTime if there is none.
func (m *Machine) NextClock() event.Time {
	if e := m.ticks.first(); e != nil {
		return e.at
	}
	return event.MaxTime
}
