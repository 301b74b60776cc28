package engine

import (
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
	"github.com/wgate/wgate/host/plan"
)

// stage is one node of the plan at work. A stage is called, never messaged: process hands it the rows of its input in
// order, advance the input's watermark, which never falls. It passes on what it makes by calling the stages behind it
// before it returns. The bundle belongs to the caller; a stage may append to its heap but changes nothing else of it.
type stage interface {
	process(b *event.Bundle) error
	advance(w event.Time) error
	// boundary returns the smallest watermark above the present one whose passing may change something here or further
	// down, given that no row is older than oldest: bundles are cut there, so that a record never sees a window fire late.
	boundary(oldest event.Time) event.Time
}

// base is what all stages have.
type base struct {
	task  *Task
	node  *plan.Node
	wm    event.Time // of the input
	outs  [][]stage  // behind every output collection
	stats *NodeStats
}

// emit passes b on to the stages behind output out.
func (s *base) emit(out int, b *event.Bundle) error {
	if b.Len() == 0 {
		return nil
	}
	s.stats.Out.Add(int64(b.Len()))
	for _, to := range s.outs[out] {
		if err := to.process(b); err != nil {
			return err
		}
	}
	return nil
}

// forward moves the watermark of all outputs.
func (s *base) forward(w event.Time) error {
	for _, out := range s.outs {
		for _, to := range out {
			if err := to.advance(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// advance is that of a stage that holds nothing back.
func (s *base) advance(w event.Time) error {
	if w <= s.wm {
		return nil
	}
	s.wm = w
	s.stats.Watermark.Store(int64(w))
	return s.forward(w)
}

// boundary is that of a stage that holds nothing back.
func (s *base) boundary(oldest event.Time) event.Time {
	first := event.MaxTime
	for _, out := range s.outs {
		for _, to := range out {
			first = min(first, to.boundary(oldest))
		}
	}
	return first
}

// build makes the stages of a plan, last ones first, so that every stage knows what stands behind it.
func (t *Task) build() error {
	t.stages = make([]stage, len(t.cfg.Plan.Nodes))
	t.sources = make([]*sourceStage, len(t.cfg.Plan.Pipeline.Sources))
	t.groups, t.reading = t.groups[:0], nil
	for i := len(t.cfg.Plan.Nodes) - 1; i >= 0; i-- {
		n := t.cfg.Plan.Nodes[i]
		b := base{task: t, node: n, wm: event.MinTime, stats: t.stats.node(n.ID)}
		for _, c := range n.Out {
			var to []stage
			for _, next := range c.To {
				to = append(to, t.stages[next.ID])
			}
			b.outs = append(b.outs, to)
		}
		s, err := t.stage(n, b)
		if err != nil {
			return err
		}
		t.stages[i] = s
	}
	for i, j := 0, len(t.groups)-1; i < j; i, j = i+1, j-1 {
		t.groups[i], t.groups[j] = t.groups[j], t.groups[i]
	}
	return nil
}

// bind makes a program of e over the columns that slot names. e may be nil.
func (t *Task) bind(e *expr.Expr, slot func(expr.Path) int) *expr.Program {
	if e == nil {
		return nil
	}
	p := e.Bind(slot)
	if u := e.Uses(); u.Record || u.Arrival {
		t.reading = append(t.reading, p)
	}
	return p
}

// bindAll binds every one of es, those that are nil to nil.
func (t *Task) bindAll(es []*expr.Expr, slot func(expr.Path) int) []*expr.Program {
	var ps []*expr.Program
	for _, e := range es {
		ps = append(ps, t.bind(e, slot))
	}
	return ps
}

// stage makes the stage of one node.
func (t *Task) stage(n *plan.Node, b base) (stage, error) {
	switch n.Kind {
	case plan.Source:
		s, err := newSource(b)
		if err != nil {
			return nil, err
		}
		t.sources[n.Index] = s
		return s, nil
	case plan.Do:
		return newDo(b)
	case plan.Aggregate:
		g, err := newGroup(b)
		if err != nil {
			return nil, err
		}
		t.groups = append(t.groups, g)
		return g, nil
	case plan.Sink:
		return newSink(b)
	case plan.Explode:
		return newExplode(b)
	case plan.Tap:
		return &tapStage{b}, nil
	}
	return newParDo(b), nil
}
