package gbkw

import (
	"bytes"
	"slices"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/triggers"
)

// WindowState is an open window of a key as people look at it.
type WindowState struct {
	Key     []byte // canonical
	Window  event.Window
	Panes   uint32 // sent so far
	Unsent  bool   // something has come since the last pane
	Trigger []triggers.NodeState
}

// Describe returns the state of at most limit open windows, in the order of key groups, windows and keys.
func (m *Machine) Describe(st statestore.View, limit int) ([]WindowState, error) {
	var out []WindowState
	for g := 0; g < statestore.KeyGroups && len(out) < limit; g++ {
		prefix := m.space.Group(nil, statestore.WindowRow, byte(g))
		switch {
		case m.merging:
			prefix = m.space.TimerDomain(nil, byte(g), onWatermark)
		case m.global:
			prefix = m.space.Group(nil, statestore.PlainRow, byte(g))
		}
		err := m.rows(prefix, st, func(_ *statestore.Row, it statestore.Iterator) (bool, error) {
			i, err := m.open(it, st)
			if err != nil || i < 0 {
				return err == nil, err
			}
			c := &m.cells[i]
			if c.part {
				return true, nil // a slice is no window: see describeShared
			}
			out = append(out, WindowState{
				Key: append([]byte{}, c.key...), Window: c.win, Panes: c.index, Unsent: c.unsent, Trigger: m.trig.Describe(m.state(i)),
			})
			return len(out) < limit, nil
		})
		if err == nil && m.share {
			out, err = m.describeShared(out, byte(g), st, limit)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// describeShared appends the windows of a group that are made from slices and have not fired.
func (m *Machine) describeShared(out []WindowState, g byte, st statestore.View, limit int) ([]WindowState, error) {
	trigger := m.trig.Describe(make([]byte, m.trig.Size()))
	for win, ok := m.nextShared(m.done); ok && len(out) < limit; win, ok = m.nextShared(win.End) {
		var keys [][]byte
		for e := m.slices.after(win.Start); e != nil && e.at <= win.End; e = m.slices.following(e.at, e.start) {
			prefix := m.space.WindowAll(nil, g, event.Window{Start: e.start, End: e.at})
			err := m.rows(prefix, st, func(r *statestore.Row, _ statestore.Iterator) (bool, error) {
				keys = append(keys, append([]byte{}, r.Key...))
				return true, nil
			})
			if err != nil {
				return nil, err
			}
		}
		slices.SortFunc(keys, bytes.Compare)
		for _, key := range slices.CompactFunc(keys, bytes.Equal) {
			if len(out) < limit {
				out = append(out, WindowState{Key: key, Window: win, Unsent: true, Trigger: trigger})
			}
		}
	}
	return out, nil
}
