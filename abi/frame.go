package abi

import (
	"errors"
	"fmt"

	"github.com/wgate/wgate/event"
)

// ErrFrame is what every error about the bytes of a frame wraps.
var ErrFrame = errors.New("bad frame")

func badFrame(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFrame, fmt.Sprintf(format, args...))
}

// header is the head of a frame.
type header struct {
	magic         uint32
	fn, op        uint32
	epoch, bundle uint64
	now, mark     event.Time
	sections      uint32
	total         uint32
	cursor, rows  uint32
}

func putHeader(dst []byte, h header) {
	_ = dst[HeaderSize-1]
	le.PutUint32(dst[AtHeaderMagic:], h.magic)
	le.PutUint16(dst[AtHeaderMinor:], Minor)
	le.PutUint16(dst[AtHeaderFlags:], 0)
	le.PutUint32(dst[AtHeaderFn:], h.fn)
	le.PutUint32(dst[AtHeaderOp:], h.op)
	le.PutUint64(dst[AtHeaderEpoch:], h.epoch)
	le.PutUint64(dst[AtHeaderBundle:], h.bundle)
	le.PutUint64(dst[AtHeaderNow:], uint64(h.now))
	le.PutUint64(dst[AtHeaderWatermark:], uint64(h.mark))
	le.PutUint32(dst[AtHeaderSections:], h.sections)
	le.PutUint32(dst[AtHeaderTotal:], h.total)
	le.PutUint32(dst[AtHeaderCursor:], h.cursor)
	le.PutUint32(dst[AtHeaderRows:], h.rows)
}

func putTable(dst []byte, table []entry) {
	for i, e := range table {
		p := dst[HeaderSize+i*SectionSize:][:SectionSize]
		le.PutUint16(p[AtEntryKind:], e.kind)
		le.PutUint16(p[AtEntryFlags:], e.flags)
		le.PutUint32(p[AtEntryOffset:], e.offset)
		le.PutUint32(p[AtEntryLength:], e.length)
		le.PutUint32(p[AtEntryCount:], e.count)
	}
}

// readTable checks the head and the table of frame and appends its entries to dst. Sizes of rows are not checked here.
func readTable(dst []entry, frame []byte, magic uint32) ([]entry, error) {
	if len(frame) < HeaderSize {
		return dst, badFrame("%d bytes, a header has %d", len(frame), HeaderSize)
	}
	if got := le.Uint32(frame[AtHeaderMagic:]); got != magic {
		return dst, badFrame("it starts with %#08x, not with %#08x", got, magic)
	}
	if got := le.Uint32(frame[AtHeaderTotal:]); uint64(got) != uint64(len(frame)) {
		return dst, badFrame("its header says %d bytes, it has %d", got, len(frame))
	}
	n := uint64(le.Uint32(frame[AtHeaderSections:]))
	start := HeaderSize + n*SectionSize
	if n > MaxSections || start > uint64(len(frame)) {
		return dst, badFrame("%d sections in %d bytes", n, len(frame))
	}
	var seen [256]bool
	for i := range int(n) {
		p := frame[HeaderSize+i*SectionSize:][:SectionSize]
		e := entry{
			le.Uint16(p[AtEntryKind:]), le.Uint16(p[AtEntryFlags:]),
			le.Uint32(p[AtEntryOffset:]), le.Uint32(p[AtEntryLength:]), le.Uint32(p[AtEntryCount:]),
		}
		switch {
		case e.offset%8 != 0:
			return dst, badFrame("section %d is at %d, which is no multiple of 8", e.kind, e.offset)
		case uint64(e.offset) < start, uint64(e.offset)+uint64(e.length) > uint64(len(frame)):
			return dst, badFrame("section %d at %d with %d bytes is not inside the frame of %d", e.kind, e.offset, e.length, len(frame))
		case int(e.kind) < len(seen) && seen[e.kind]:
			return dst, badFrame("section %d occurs twice", e.kind)
		}
		if int(e.kind) < len(seen) {
			seen[e.kind] = true
		}
		dst = append(dst, e)
	}
	return dst, nil
}

// rowsOf checks that section e has count rows of size bytes, and returns them.
func rowsOf(frame []byte, e entry, size int) ([]byte, error) {
	if uint64(e.count)*uint64(size) != uint64(e.length) {
		return nil, badFrame("section %d has %d rows of %d bytes and %d bytes", e.kind, e.count, size, e.length)
	}
	return frame[e.offset : e.offset+e.length], nil
}
