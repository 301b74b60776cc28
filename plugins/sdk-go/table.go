package wgate

// outTable appends the sections of an output frame whose HEAP is there already.
type outTable struct {
	frame []byte
	rows  [outSections]sectionEntry
	n     int
}

func newTable(frame []byte) outTable {
	t := outTable{frame: frame, n: 1}
	heap := uint32(len(frame) - heapAt)
	t.rows[0] = sectionEntry{kind: sectionHeap, offset: heapAt, length: heap, count: heap}
	return t
}

func (t *outTable) add(kind uint16, b []byte, count int) {
	if count == 0 {
		return
	}
	for len(t.frame)%8 != 0 {
		t.frame = append(t.frame, 0)
	}
	t.rows[t.n] = sectionEntry{kind, flagCritical, uint32(len(t.frame)), uint32(len(b)), uint32(count)}
	t.frame = append(t.frame, b...)
	t.n++
}

// finish fills in header and table and returns the frame. done is the number of rows that are done with it.
func (t *outTable) finish(rows, done int) []byte {
	h := [1]frameHeader{{
		magic: magicOutput, minor: minor, op: uint32(done), sections: uint32(t.n), total: uint32(len(t.frame)),
		cursor: none, rows: uint32(rows),
	}}
	copy(t.frame, bytesOf(h[:]))
	copy(t.frame[headerSize:heapAt], bytesOf(t.rows[:]))
	return t.frame
}
