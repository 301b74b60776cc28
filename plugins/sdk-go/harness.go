//go:build !wasip1

package wgate

import (
	"errors"
	"fmt"
	"unsafe"
)

// Harness runs the registered functions natively, through the frames of the real host, for tests. It is used by one
// goroutine at a time, and there should be one at a time: the functions share the program's variables.
type Harness struct {
	g      guest
	frames [][]byte
	why    string
}

// HarnessHeader is one header of a HarnessRow; a nil value is null.
type HarnessHeader struct {
	Name  string
	Value []byte
}

// HarnessRow is one element of the input or one row of the output. Nil bytes are null.
type HarnessRow struct {
	Key     []byte // text
	Value   []byte // JSON text
	Time    int64
	Headers []HarnessHeader
	Tag     Tag // of an output row
	From    int // of an output row: the element that it stems from
	Kept    bool
}

// HarnessFailure is an element that the function failed.
type HarnessFailure struct {
	Row        int
	Code, Text string
}

// HarnessResult is what a function made of its input, in order.
type HarnessResult struct {
	Rows   []HarnessRow
	Failed []HarnessFailure
	Counts map[string]int64
	Logs   []string
}

// theHost stands in for wgate outside of WebAssembly: there is nobody to talk to but a Harness.
type theHost struct{}

func (theHost) out([]byte) int32 { return outOverflow }
func (theHost) fail(string)      {}

func (h *Harness) out(frame []byte) int32 {
	h.frames = append(h.frames, append([]byte(nil), frame...))
	return outOK
}

func (h *Harness) fail(text string) { h.why = text }

// NewHarness opens the plugin with a configuration as JSON text, "" for none. The error is that of OnOpen.
func NewHarness(config string) (*Harness, error) {
	if x := uint16(1); *(*byte)(unsafe.Pointer(&x)) != 1 {
		return nil, errors.New("a Harness needs a little-endian machine")
	}
	h := &Harness{}
	h.g.host = h
	b := newFrameBuilder()
	b.add(sectionConfig, []byte(config), len(config))
	if s := h.g.open(h.load(b.build(0, 0))); s != statusOK {
		return nil, errors.New(h.why)
	}
	return h, nil
}

// load puts a frame into the input arena and returns its length.
func (h *Harness) load(frame []byte) uint32 {
	h.g.arena(arenaInput, uint32(len(frame)))
	copy(h.g.frame(uint32(len(frame))), frame)
	return uint32(len(frame))
}

// Manifest returns the manifest that `wgate plugin pack` will find.
func (h *Harness) Manifest() string { return string(manifest()) }

// Process runs function name over rows.
func (h *Harness) Process(name string, rows ...HarnessRow) (HarnessResult, error) {
	for id := range plugin.functions {
		if plugin.functions[id].name == name {
			return h.process(uint32(id), rows)
		}
	}
	return HarnessResult{}, fmt.Errorf("no function is called %q", name)
}

func (h *Harness) process(id uint32, rows []HarnessRow) (HarnessResult, error) {
	h.frames, h.why = nil, ""
	if s := h.g.call(id, opProcess, h.load(inputFrame(id, rows))); s != statusOK {
		return HarnessResult{}, fmt.Errorf("status %d: %s", s, h.why)
	}
	res := HarnessResult{Counts: map[string]int64{}}
	for _, f := range h.frames {
		if err := res.read(f, rows); err != nil {
			return res, err
		}
	}
	return res, nil
}

// inputFrame writes rows as the host does.
func inputFrame(fn uint32, rows []HarnessRow) []byte {
	var keys []keyRow
	var in []inRow
	var heads []headRow
	b := newFrameBuilder()
	for i, r := range rows {
		k := keyRow{form: uint32(formNull), offset: none}
		if r.Key != nil {
			k = keyRow{offset: b.put(r.Key), length: uint32(len(r.Key)), form: uint32(formText)}
		}
		keys = append(keys, k)
		row := inRow{
			sign: 1, key: uint32(i), window: none, origin: none, time: r.Time, form: formNull, offset: none,
			headers: uint32(len(heads)), headerCount: uint32(len(r.Headers)),
		}
		if r.Value != nil {
			row.offset, row.length, row.form = b.put(r.Value), uint32(len(r.Value)), formJSON
		}
		in = append(in, row)
		for _, hd := range r.Headers {
			x := headRow{nameOffset: b.put([]byte(hd.Name)), nameLength: uint32(len(hd.Name)), offset: none}
			if hd.Value != nil {
				x.offset, x.length = b.put(hd.Value), uint32(len(hd.Value))
			}
			heads = append(heads, x)
		}
	}
	b.add(sectionKeys, bytesOf(keys), len(keys))
	b.add(sectionRows, bytesOf(in), len(in))
	b.add(sectionHeaders, bytesOf(heads), len(heads))
	return b.build(fn, len(rows))
}

// frameBuilder writes an input frame: HEAP first, then sections, the table at their head.
type frameBuilder struct {
	frame []byte
	table []sectionEntry
}

func newFrameBuilder() *frameBuilder { return &frameBuilder{frame: make([]byte, heapAt)} }

func (b *frameBuilder) put(p []byte) uint32 {
	b.frame = append(b.frame, p...)
	return uint32(len(b.frame) - len(p))
}

func (b *frameBuilder) add(kind uint16, rows []byte, count int) {
	if b.table == nil {
		n := uint32(len(b.frame) - heapAt)
		b.table = []sectionEntry{{kind: sectionHeap, offset: heapAt, length: n, count: n}}
	}
	for len(b.frame)%8 != 0 {
		b.frame = append(b.frame, 0)
	}
	b.table = append(b.table, sectionEntry{kind, flagCritical, uint32(len(b.frame)), uint32(len(rows)), uint32(count)})
	b.frame = append(b.frame, rows...)
}

func (b *frameBuilder) build(fn uint32, rows int) []byte {
	h := [1]frameHeader{{
		magic: magicInput, minor: minor, fn: fn, op: opProcess, sections: uint32(len(b.table)),
		total: uint32(len(b.frame)), cursor: none, rows: uint32(rows),
	}}
	copy(b.frame, bytesOf(h[:]))
	copy(b.frame[headerSize:heapAt], bytesOf(b.table))
	return b.frame
}

// read takes one output frame apart, with the order that SPEC.md states.
func (res *HarnessResult) read(frame []byte, rows []HarnessRow) error {
	_, table, ok := sections(frame, magicOutput)
	if !ok {
		return errors.New("the output frame is not sound")
	}
	var keep []byte
	var emits []emitRow
	var heads []headRow
	var fails []failRow
	var stats []sampleRow
	var lines []lineRow
	for i := range table {
		e, ok := &table[i], true
		switch e.kind {
		case sectionKeep:
			keep = frame[e.offset : e.offset+e.length]
		case sectionEmit:
			emits, ok = rowsAt[emitRow](frame, e)
		case sectionHeaders:
			heads, ok = rowsAt[headRow](frame, e)
		case sectionFail:
			fails, ok = rowsAt[failRow](frame, e)
		case sectionMetric:
			stats, ok = rowsAt[sampleRow](frame, e)
		case sectionLog:
			lines, ok = rowsAt[lineRow](frame, e)
		}
		if !ok {
			return fmt.Errorf("section %d of the output frame is not sound", e.kind)
		}
	}
	text := func(off, n uint32) string { return string(frame[off : off+n]) }
	kept := 0
	keepTo := func(row int) {
		for ; kept < len(keep)*8 && kept <= row; kept++ {
			if keep[kept>>3]&(1<<(kept&7)) != 0 {
				r := rows[kept]
				r.From, r.Kept = kept, true
				res.Rows = append(res.Rows, r)
			}
		}
	}
	for i := range emits {
		keepTo(int(emits[i].row))
		res.Rows = append(res.Rows, emits[i].resolve(frame, heads, rows))
	}
	keepTo(len(rows))
	for _, f := range fails {
		res.Failed = append(res.Failed, HarnessFailure{int(f.row), text(f.codeOffset, f.codeLength), text(f.offset, f.length)})
	}
	for _, s := range stats {
		res.Counts[text(s.nameOffset, s.nameLength)] += s.value
	}
	for _, l := range lines {
		res.Logs = append(res.Logs, text(l.offset, l.length))
	}
	return nil
}

// resolve fills in what an EMIT row takes over from its element.
func (e *emitRow) resolve(frame []byte, heads []headRow, rows []HarnessRow) HarnessRow {
	bytes := func(off, n uint32) []byte {
		if off == none {
			return nil
		}
		return frame[off : off+n]
	}
	r := rows[e.row]
	r.From, r.Tag = int(e.row), Tag(e.tag)
	if e.given&givenKey != 0 {
		r.Key = bytes(e.keyOffset, e.keyLength)
	}
	if e.given&givenValue != 0 {
		r.Value = bytes(e.offset, e.length)
	}
	if e.given&givenTime != 0 {
		r.Time = e.time
	}
	if e.given&givenHeaders != 0 {
		r.Headers = nil
		for _, h := range heads[e.headers:][:e.headerCount] {
			r.Headers = append(r.Headers, HarnessHeader{string(bytes(h.nameOffset, h.nameLength)), bytes(h.offset, h.length)})
		}
	}
	return r
}
