package windowing

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"github.com/wgate/wgate/event"
)

// ErrTrackerState is returned by Restore for bytes that Append did not write.
var ErrTrackerState = errors.New("windowing: the state of a watermark tracker is damaged")

// trackerFormat is the version of a tracker's state.
const trackerFormat = 1

// Append appends the tracker's state to dst: equal trackers give equal bytes. A partition's end is not part of it, since
// whether a source ends is said by its input anew.
func (t *Tracker) Append(dst []byte) []byte {
	order := make([]int, len(t.parts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		p, q := t.parts[a].name, t.parts[b].name
		if c := strings.Compare(p.Topic, q.Topic); c != 0 {
			return c
		}
		return int(p.ID) - int(q.ID)
	})
	dst = append(dst, trackerFormat)
	dst = binary.AppendVarint(dst, int64(t.wm))
	dst = binary.AppendUvarint(dst, uint64(len(order)))
	for _, i := range order {
		p := &t.parts[i]
		dst = binary.AppendUvarint(dst, uint64(len(p.name.Topic)))
		dst = append(dst, p.name.Topic...)
		dst = binary.AppendVarint(dst, int64(p.name.ID))
		dst = binary.AppendVarint(dst, int64(p.mark))
		idle := byte(0)
		if p.idle {
			idle = 1
		}
		dst = append(dst, idle)
	}
	return dst
}

// Restore sets a new tracker to a state that Append wrote. Idle clocks start at now. The watermark is what it was, so that
// a record that was too late stays too late.
func (t *Tracker) Restore(b []byte, now event.Time) error {
	r := stateReader{b: b}
	if r.byte() != trackerFormat {
		return ErrTrackerState
	}
	t.wm = event.Time(r.varint())
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		p := part{name: Partition{Topic: string(r.take(r.uvarint()))}, quiet: now}
		p.name.ID = int32(r.varint())
		p.mark = event.Time(r.varint())
		p.idle = r.byte() == 1
		t.index[p.name] = len(t.parts)
		t.parts = append(t.parts, p)
	}
	if r.bad || len(r.b) > 0 {
		return ErrTrackerState
	}
	t.known = true
	t.combine()
	return nil
}

// stateReader reads state and remembers when it ran out.
type stateReader struct {
	b   []byte
	bad bool
}

func (r *stateReader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *stateReader) byte() byte {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *stateReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *stateReader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}
