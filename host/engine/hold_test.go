package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/statestore/memstore"
)

const holdPipeline = `
pipeline "hold" {
  epoch = "50ms"
}
source "events" {
  file { path = "events" }
  event_time = value
  watermark { max_future = "1000000h" }
}
sink "out" {
  input = source.events
  stdout {}
}
`

// heldInput has two partitions. The second one gives nothing until the input has been set back, so that the first one is
// held by then.
type heldInput struct {
	next   [2]int64
	paused [2]bool
	held   bool // the first partition, when the input was set back
	lives  int
	polls  int
	until  time.Time
}

var errHeld = errors.New("a partition is held for ever")

// heldRecords are the event times of each partition.
var heldRecords = [2][]int64{{1_767_225_600_000, 1_767_225_700_000}, {1_767_225_650_000}}

func (h *heldInput) Poll(_ context.Context, wait time.Duration, b *event.Bundle) (bool, error) {
	if time.Now().After(h.until) {
		return false, errHeld
	}
	h.polls++
	for p, recs := range heldRecords {
		// Three of four times there is nothing, so that the task looks at its partitions.
		if h.polls%4 != 0 || h.paused[p] || h.next[p] == int64(len(recs)) || p == 1 && h.lives < 2 {
			continue
		}
		b.Times, b.Marks, b.Ops = append(b.Times, 0), append(b.Marks, 0), append(b.Ops, event.Insert)
		b.Keys = append(b.Keys, event.NullValue())
		b.Values = append(b.Values, event.HeapValue(event.JSON, b.Heap.Put(fmt.Append(nil, recs[h.next[p]]))))
		b.Origins = append(b.Origins, event.Origin{Partition: int32(p), Offset: h.next[p]})
		h.next[p]++
		return true, nil
	}
	time.Sleep(min(wait, time.Millisecond))
	return false, nil
}

func (h *heldInput) Partitions(dst []engine.PartitionState) []engine.PartitionState {
	for p, recs := range heldRecords {
		dst = append(dst, engine.PartitionState{
			Partition: engine.Partition{Topic: "events", ID: int32(p)}, Position: h.next[p], Ended: h.next[p] == int64(len(recs)),
		})
	}
	return dst
}

func (h *heldInput) Pause(p engine.Partition, paused bool) { h.paused[p.ID] = paused }

func (h *heldInput) Seek(_ context.Context, offs []engine.Offset) error {
	h.next = [2]int64{}
	for _, o := range offs {
		h.next[o.ID] = o.Offset
	}
	h.lives++
	h.held = h.paused[0]
	return nil
}

// failingOutput does not take the first epoch.
type failingOutput struct {
	countOutput
	flushed int
}

func (f *failingOutput) Flush(context.Context) error {
	if f.flushed++; f.flushed == 1 {
		f.records = 0
		return errors.New("not now")
	}
	return nil
}

// A partition that was held back when an epoch failed is not held for ever: after the recovery nothing is ahead of
// anything.
func TestTask_heldWhenItFailed(t *testing.T) {
	in := &heldInput{until: time.Now().Add(20 * time.Second)}
	out := &failingOutput{}
	runTask(t, holdPipeline, in, out, memstore.New())
	if in.lives != 2 || !in.held || out.records != 3 {
		t.Errorf("%d lives, held %v, %d records; want 2, true, 3", in.lives, in.held, out.records)
	}
}
