package host

import (
	"io/fs"
	"path/filepath"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/observe"
	"github.com/wgate/wgate/host/plan"
)

// summary is the entry's line in the list.
func (e *entry) summary() admin.Summary {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.unsyncedSummary()
}

func (e *entry) unsyncedSummary() admin.Summary {
	s := admin.Summary{Name: e.name, State: e.state, Since: e.since.UnixMilli(), Error: e.failure}
	if s.Error == nil {
		s.Error = e.taken
	}
	if e.dep != nil {
		s.Revision, s.Deployed = e.dep.Revision, e.dep.Deployed
	}
	if e.run == nil {
		return s
	}
	pl, st := e.run.job.Plan(), e.run.job.Stats()
	for _, b := range observe.Blocks(pl, st) {
		s.DeadLetters += b.DeadLetters
		switch kindOf(pl, b.Block) {
		case plan.Source:
			s.RecordsIn += b.In
		case plan.Sink:
			s.RecordsOut += b.Out
		}
	}
	return s
}

func kindOf(p *plan.Plan, block string) plan.Kind {
	for _, n := range p.Nodes {
		if n.Block == block {
			return n.Kind
		}
	}
	return plan.Source
}

// status is all that is known of the entry.
func (e *entry) status() *admin.Status {
	e.mu.Lock()
	st := &admin.Status{Summary: e.unsyncedSummary(), Sources: []admin.SourceStatus{}, Stages: []admin.StageStatus{}, Plugins: []admin.PluginStatus{}}
	r := e.run
	e.mu.Unlock()
	st.StateBytes = folderBytes(e.node.stateDir(e.name))
	if r == nil {
		return st
	}
	pl, stats := r.job.Plan(), r.job.Stats()
	st.PlanHash, st.Epochs, st.LastCommit, st.EpochBytes = pl.Hash, stats.Epochs.Load(), stats.LastCommit.Load(), stats.StateBytes.Load()
	blocks := observe.Blocks(pl, stats)
	for _, b := range blocks {
		st.Stages = append(st.Stages, admin.StageStatus{
			Block: b.Block, In: b.In, Out: b.Out, Late: b.Late, NoWindow: b.NoWindow, Behind: b.Behind, Future: b.Future,
			DeadLetters: b.DeadLetters, Skipped: b.Skipped, Watermark: millis(b.Watermark), StateBytes: known(b.StateBytes),
		})
	}
	for i, src := range pl.Pipeline.Sources {
		s := admin.SourceStatus{Block: "source." + src.Name, Partitions: []admin.PartitionStatus{}}
		for _, b := range blocks {
			if b.Block == s.Block {
				s.Watermark = millis(b.Watermark)
			}
		}
		for _, p := range stats.Partitions() {
			if p.Source != i {
				continue
			}
			ps := admin.PartitionStatus{
				Topic: p.Topic, Partition: p.ID, Position: p.Position, Watermark: millis(p.Watermark),
				Idle: p.Idle, CaughtUp: p.CaughtUp, Held: p.Held, Ended: p.Ended,
			}
			if p.End >= 0 {
				lag := max(0, p.End-p.Position)
				ps.Lag = &lag
			}
			s.Partitions = append(s.Partitions, ps)
		}
		st.Sources = append(st.Sources, s)
	}
	for _, p := range r.job.Plugins() {
		ps := admin.PluginStatus{Name: p.Name, Digest: p.Digest, Trial: p.Trial}
		for _, b := range blocks {
			if b.Plugin == p.Name {
				ps.Calls += b.Calls
				ps.Nanos += int64(b.InCalls)
			}
		}
		st.Plugins = append(st.Plugins, ps)
	}
	return st
}

// millis returns a watermark as the API has it; nil if there is none. At the end of bounded inputs it is the greatest time.
func millis(t event.Time) *int64 {
	if t == event.MinTime {
		return nil
	}
	ms := int64(t)
	return &ms
}

// known returns n, nil if it is negative: not known.
func known(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// ballast is the file with which pebblestore keeps some room on the disk; it is no state.
const ballast = "ballast"

// folderBytes is the size of what lies below dir; while that changes it is a good guess.
func folderBytes(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ballast {
			return nil //nolint:nilerr // a file that has just gone
		}
		if info, err := d.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
