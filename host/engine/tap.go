package engine

import "github.com/wgate/wgate/event"

// Tap sees the rows of the collections that Plan.Pipeline.Taps names. It is called by the task's goroutine.
type Tap interface {
	// Take gets rows of a collection in their order, with their keys and whole values. They belong to the task: what is
	// kept must be copied.
	Take(collection string, b *event.Bundle)
}

// tapStage shows rows to the Tap. It holds nothing back.
type tapStage struct{ base }

func (s *tapStage) process(b *event.Bundle) error {
	s.stats.In.Add(int64(b.Len()))
	s.task.cfg.Tap.Take(s.node.Block, b)
	return nil
}

func (s *tapStage) boundary(event.Time) event.Time { return event.MaxTime }
