package windowing

import "github.com/wgate/wgate/event"

// Partition names a partition of a source.
type Partition struct {
	Topic string
	ID    int32
}

// TrackerConfig is a source's watermark block.
type TrackerConfig struct {
	OutOfOrder event.Duration // a partition's watermark stays this far behind its newest event
	Idle       event.Duration // a partition that is caught up and silent for this long holds nothing back
	MaxFuture  event.Duration // a record further ahead of its arrival does not move the watermark
	Arrival    bool           // event time is the arrival, and the watermark the clock
	Manual     bool           // watermarks move by Raise, Idle and End alone: a test makes them
}

// Tracker keeps the watermark of a source: bounded out-of-orderness for each partition, and the least over those that are
// not idle, which never goes back. When all are idle the greatest known one holds; a partition that comes back counts at
// once. Processing time only enters as an argument. A Tracker is used by one goroutine.
type Tracker struct {
	cfg   TrackerConfig
	parts []part
	index map[Partition]int
	wm    event.Time
	least event.Time // least watermark of the partitions that count; MaxTime if there is none
	known bool       // partitions that come now are new ones, not the first assignment
}

// part is one partition. Its own watermark is newest - OutOfOrder.
type part struct {
	name   Partition
	mark   event.Time // its watermark; MinTime before its first record
	quiet  event.Time // processing time since which it is caught up and silent
	idle   bool
	ended  bool
	behind bool // it was not caught up when last looked at
}

// NewTracker returns a tracker without partitions. Its watermark is MinTime.
func NewTracker(cfg TrackerConfig) *Tracker {
	return &Tracker{cfg: cfg, index: map[Partition]int{}, wm: event.MinTime, least: event.MaxTime}
}

// Watermark returns the source's watermark.
func (t *Tracker) Watermark() event.Time { return t.wm }

// Part returns the number of partition p, for the other methods, and adds it if it is new. The idle clock of a partition of
// the first assignment starts at now. One that comes later is idle until its first record: what is new must not stop time.
func (t *Tracker) Part(p Partition, now event.Time) int {
	if i, ok := t.index[p]; ok {
		return i
	}
	i := len(t.parts)
	t.parts = append(t.parts, part{name: p, mark: event.MinTime, quiet: now, idle: t.known})
	t.index[p] = i
	t.combine()
	return i
}

// Assigned says that the first assignment is complete.
func (t *Tracker) Assigned() { t.known = true }

// Observe takes the event time of a record of partition i that arrives now. It reports whether the record was too far in
// the future to move the watermark.
func (t *Tracker) Observe(i int, at, now event.Time) (future bool) {
	p := &t.parts[i]
	p.quiet = now
	switch {
	case t.cfg.Manual:
		if p.idle {
			p.idle = false
			t.combine()
		}
		return false
	case t.cfg.Arrival:
		t.wm = max(t.wm, now)
		return false
	}
	if at > now.Add(t.cfg.MaxFuture) {
		return true
	}
	mark := at.Add(-t.cfg.OutOfOrder)
	if mark <= p.mark && !p.idle {
		return false
	}
	counted, was := !p.idle, p.mark
	p.mark, p.idle = max(p.mark, mark), false
	if counted && was > t.least {
		return false // another partition holds the watermark
	}
	t.combine()
	return false
}

// Look tells how partition i stands at processing time now: whether its reading has caught up with its end. Only then the
// idle clock runs.
func (t *Tracker) Look(i int, caughtUp bool, now event.Time) {
	if t.cfg.Manual {
		return
	}
	if t.cfg.Arrival {
		t.wm = max(t.wm, now)
	}
	p := &t.parts[i]
	if !caughtUp || p.behind {
		p.quiet, p.behind = now, !caughtUp
		return
	}
	if !p.idle && !p.ended && now >= p.quiet.Add(t.cfg.Idle) {
		p.idle = true
		t.combine()
	}
}

// NextIdle returns the next processing time at which Look may find a partition idle, if nothing arrives until then; MaxTime
// if there is none.
func (t *Tracker) NextIdle() event.Time {
	next := event.MaxTime
	for i := range t.parts {
		if p := &t.parts[i]; !p.idle && !p.ended && !p.behind && !t.cfg.Manual && !t.cfg.Arrival {
			next = min(next, p.quiet.Add(t.cfg.Idle))
		}
	}
	return next
}

// Idle marks partition i idle, whatever its clock says.
func (t *Tracker) Idle(i int) {
	t.parts[i].idle = true
	t.combine()
}

// Raise sets the watermark of partition i to at least at.
func (t *Tracker) Raise(i int, at event.Time) {
	p := &t.parts[i]
	p.mark, p.idle = max(p.mark, at), false
	t.combine()
}

// End says that partition i is through. When all are, the watermark is MaxTime.
func (t *Tracker) End(i int) {
	t.parts[i].ended = true
	t.combine()
}

// State returns the watermark of partition i and whether it is idle.
func (t *Tracker) State(i int) (mark event.Time, idle bool) { return t.parts[i].mark, t.parts[i].idle }

// combine finds the watermark anew.
func (t *Tracker) combine() {
	least, greatest, ended := event.MaxTime, event.MinTime, len(t.parts) > 0
	for i := range t.parts {
		p := &t.parts[i]
		ended = ended && p.ended
		greatest = max(greatest, p.mark)
		if !p.idle && !p.ended {
			least = min(least, p.mark)
		}
	}
	t.least = least
	switch {
	case ended:
		t.wm = event.MaxTime
	case t.cfg.Arrival && !t.cfg.Manual:
	case least == event.MaxTime:
		t.wm = max(t.wm, greatest)
	default:
		t.wm = max(t.wm, least)
	}
}
