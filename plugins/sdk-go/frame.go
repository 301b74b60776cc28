package wgate

import "unsafe"

// The structs of this file are the layouts of abi.gen.go, byte for byte; frame_test.go compares them. WebAssembly is
// little endian, and so are the machines that the Harness runs on.

type frameHeader struct {
	magic         uint32
	minor, flags  uint16
	fn, op        uint32
	epoch, bundle uint64
	now, mark     int64
	sections      uint32
	total         uint32
	cursor, rows  uint32
}

type sectionEntry struct {
	kind, flags           uint16
	offset, length, count uint32
}

type keyRow struct{ offset, length, form, hash uint32 }

type windowRow struct{ start, end int64 }

type inRow struct {
	op, pane, sign, form uint8
	key, window, headers uint32
	time                 int64
	offset, length       uint32
	headerCount, origin  uint32
}

type headRow struct{ nameOffset, nameLength, offset, length uint32 }

type originRow struct {
	source, topic uint16
	partition     int32
	offset        int64
	timestamp     int64
}

type emitRow struct {
	row                  uint32
	tag, given           uint16
	time                 int64
	keyOffset, keyLength uint32
	offset, length       uint32
	headers              uint32
	headerCount          uint16
	keyForm, form        uint8
}

type failRow struct{ row, reserved, codeOffset, codeLength, offset, length uint32 }

type sampleRow struct {
	nameOffset, nameLength, kind, reserved uint32
	value                                  int64
}

type lineRow struct{ level, row, offset, length uint32 }

type openRow struct {
	minor, logLevel  uint32
	features, memory uint64
	time, output     uint32
}

type accRow struct{ offset, length uint32 }

type stepRow struct{ op, acc, from, count uint32 }

type valueRow struct {
	kind, length uint32
	low, high    uint64
	float        float64
}

type grownRow struct{ acc, reserved, offset, length uint32 }

// input is an input frame that was taken apart.
type input struct {
	frame   []byte
	head    *frameHeader
	keys    []keyRow
	windows []windowRow
	rows    []inRow
	heads   []headRow
	origins []originRow
}

// rowsAt returns the count rows of size T of section e, false if they are not inside the frame.
func rowsAt[T any](frame []byte, e *sectionEntry) ([]T, bool) {
	var t T
	size := uint64(unsafe.Sizeof(t))
	if uint64(e.offset)+uint64(e.length) > uint64(len(frame)) || uint64(e.count)*size != uint64(e.length) || e.offset%8 != 0 {
		return nil, false
	}
	if e.count == 0 {
		return nil, true
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&frame[e.offset])), e.count), true
}

// bytesOf returns the memory of rows.
func bytesOf[T any](rows []T) []byte {
	if len(rows) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&rows[0])), len(rows)*int(unsafe.Sizeof(rows[0])))
}

// sections returns the section table of frame, false if the frame is not sound.
func sections(frame []byte, magic uint32) (*frameHeader, []sectionEntry, bool) {
	if len(frame) < headerSize {
		return nil, nil, false
	}
	h := (*frameHeader)(unsafe.Pointer(&frame[0]))
	if h.magic != magic || uint64(h.total) != uint64(len(frame)) || h.sections > maxSections {
		return nil, nil, false
	}
	e := sectionEntry{offset: headerSize, length: h.sections * sectionSize, count: h.sections}
	table, ok := rowsAt[sectionEntry](frame, &e)
	return h, table, ok
}

// take reads an input frame. Spans of values are not checked here: a wrong one panics where it is used.
func (in *input) take(frame []byte) bool {
	h, table, ok := sections(frame, magicInput)
	if !ok {
		return false
	}
	*in = input{frame: frame, head: h}
	for i := range table {
		e, ok := &table[i], true
		switch e.kind {
		case sectionKeys:
			in.keys, ok = rowsAt[keyRow](frame, e)
		case sectionWindows:
			in.windows, ok = rowsAt[windowRow](frame, e)
		case sectionRows:
			in.rows, ok = rowsAt[inRow](frame, e)
		case sectionHeaders:
			in.heads, ok = rowsAt[headRow](frame, e)
		case sectionOrigins:
			in.origins, ok = rowsAt[originRow](frame, e)
		case sectionHeap:
			_, ok = rowsAt[byte](frame, e)
		default:
			ok = e.flags&flagCritical == 0
		}
		if !ok {
			return false
		}
	}
	return uint64(len(in.rows)) == uint64(h.rows)
}

// span returns the bytes of a span, nil for null.
func (in *input) span(off, n uint32) []byte {
	if off == none {
		return nil
	}
	return in.frame[off : off+n : off+n]
}
