package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/wgate/wgate/codec"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/windowing"
)

// The methods of this file drive a task from outside, one thing at a time, in place of Run. That is how a scenario plays
// its script: it is the inputs, the clock and the outputs of an engine that is otherwise the same. All of them are called
// by one goroutine. After an error the task cannot go on.

// Open recovers what has been committed, as Run does before the first record.
func (t *Task) Open(ctx context.Context) error {
	t.ctx = context.WithoutCancel(ctx)
	t.now = t.cfg.Clock.Now()
	return t.recover()
}

// Turn takes a bundle from every input that has one and does what is due at the clock's time. It never waits.
func (t *Task) Turn() error { return t.turn() }

// Due returns the next processing time after the clock's at which something happens by itself: a timer of a trigger, a
// partition that becomes idle, a window that closes where the watermark is the clock. It is MaxTime if there is none.
func (t *Task) Due() event.Time {
	due := event.MaxTime
	for _, g := range t.groups {
		due = earliest(due, g.machine.NextClock(), t.now)
	}
	for _, s := range t.sources {
		if s != nil {
			due = earliest(due, s.due(), t.now)
		}
	}
	return due
}

// earliest returns the lesser of due and at, if at is after now.
func earliest(due, at, now event.Time) event.Time {
	if at > now {
		return min(due, at)
	}
	return due
}

// due returns the next processing time at which the clock alone moves the source's watermark past something.
func (s *sourceStage) due() event.Time {
	switch {
	case s.task.cfg.Marked:
		return event.MaxTime
	case s.node.SourceBlock.Arrival:
		return s.base.boundary(event.MaxTime)
	}
	return s.tracker.NextIdle()
}

// Mark raises the watermarks of partitions to at. They are all of one source.
func (t *Task) Mark(parts []Partition, at event.Time) error {
	return t.move(parts, func(tr *windowing.Tracker, part int) { tr.Raise(part, at) })
}

// Idle marks partitions idle: until they give a record or get a watermark they hold nothing back.
func (t *Task) Idle(parts []Partition) error {
	return t.move(parts, func(tr *windowing.Tracker, part int) { tr.Idle(part) })
}

// move changes partitions and then lets what the source's watermark has passed happen, in one step.
func (t *Task) move(parts []Partition, change func(tr *windowing.Tracker, part int)) error {
	if len(parts) == 0 {
		return nil
	}
	if err := t.begin(); err != nil {
		return err
	}
	s := t.sources[parts[0].Source]
	for _, p := range parts {
		change(s.tracker, s.tracker.Part(windowing.Partition{Topic: p.Topic, ID: p.ID}, t.now))
	}
	return s.advance(s.tracker.Watermark())
}

// Commit ends the epoch now. The watermarks are committed even if nothing else has happened.
func (t *Task) Commit() error {
	if err := t.begin(); err != nil {
		return err
	}
	return t.commit()
}

// WindowStatus is an open window of an aggregate as people look at it.
type WindowStatus struct {
	Key     string // as JSON
	Window  event.Window
	Panes   uint32   // sent so far
	Unsent  bool     // something has come since the last pane
	Trigger []string // those nodes of the trigger that wait for something or are done: "early after_count 2 of 3"
}

// Windows returns at most limit open windows of an aggregate; none if there is no such block.
func (t *Task) Windows(block string, limit int) ([]WindowStatus, error) {
	for _, g := range t.groups {
		if g.node.Block == block {
			return g.windows(limit)
		}
	}
	return nil, nil
}

func (g *groupStage) windows(limit int) ([]WindowStatus, error) {
	states, err := g.machine.Describe(g.task.view, limit)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.node.Block, err)
	}
	var out []WindowStatus
	var h event.Heap
	for _, s := range states {
		key, err := codec.DecodeKey(s.Key, &h)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.node.Block, err)
		}
		key = codec.RestoreKey(&h, key, g.node.Agg.Key.Type)
		w := WindowStatus{Key: string(jsontext.Append(nil, &h, key)), Window: s.Window, Panes: s.Panes, Unsent: s.Unsent}
		for _, n := range s.Trigger {
			text := n.Text + " " + n.State
			if at := n.Path[strings.LastIndexByte(n.Path, '.')+1:]; at == "early" || at == "late" {
				text = at + " " + text
			}
			if n.State != "" {
				w.Trigger = append(w.Trigger, text)
			}
		}
		out = append(out, w)
	}
	return out, nil
}
