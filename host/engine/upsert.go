package engine

import (
	"bytes"

	"github.com/wgate/wgate/event"
)

// replaced reports whether row i, which takes an earlier row back, needs no tombstone in an upsert: its own unit has a new
// row for the same record key, which replaces the old one. The rows of a unit stand together: those that are taken back,
// then the new row, if there is one.
func (s *sinkStage) replaced(b *event.Bundle, i int) bool {
	if s.node.SinkBlock.Changes != "upsert" || b.Ops[i] != event.Retract {
		return false
	}
	next := i + 1
	for next < b.Len() && b.Ops[next] == event.Retract {
		next++
	}
	if next == b.Len() || !s.sameUnit(b, i, next) {
		return false
	}
	var old, fresh []byte
	s.compared, old = s.recordKey(b, i, s.compared[:0])
	s.compared, fresh = s.recordKey(b, next, s.compared)
	return bytes.Equal(old, fresh)
}

// sameUnit reports whether new row n may belong to the unit in which row i is taken back: of one window the new pane has
// the next index. If something in between dropped it, the row that follows is another unit's.
func (s *sinkStage) sameUnit(b *event.Bundle, i, n int) bool {
	if len(b.Panes) == 0 || b.Windows[i] != b.Windows[n] {
		return true
	}
	return b.Panes[n].Index == b.Panes[i].Index+1
}
