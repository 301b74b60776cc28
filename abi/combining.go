package abi

import (
	"math"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// Combining writes the frames that ask a combiner to run steps. Reset is called first; then accumulators, arguments, pairs
// and steps are added in any order; then Size says how long the frame is, and Write fills the guest's arena. It copies what
// it is given, reuses its memory, and is used by one goroutine at a time.
type Combining struct {
	width                          int
	accs, steps, pairs, args, heap []byte
	extracts                       int
	table                          [5]entry
}

// combiningHeap is where HEAP starts: it is the first section, so that spans are known before the frame is laid out.
const combiningHeap = HeaderSize + 5*SectionSize

// Reset begins a frame for a function of width arguments.
func (c *Combining) Reset(width int) {
	c.width, c.extracts = width, 0
	c.accs, c.steps, c.pairs, c.args, c.heap = c.accs[:0], c.steps[:0], c.pairs[:0], c.args[:0], c.heap[:0]
}

// Acc adds an accumulator and returns its row.
func (c *Combining) Acc(acc []byte) uint32 {
	for len(c.heap)%8 != 0 {
		c.heap = append(c.heap, 0)
	}
	at := uint32(combiningHeap + len(c.heap))
	c.heap = append(c.heap, acc...)
	c.accs = le.AppendUint32(le.AppendUint32(c.accs, at), uint32(len(acc)))
	return uint32(len(c.accs)/SizeAcc - 1)
}

// Accs returns the number of accumulators.
func (c *Combining) Accs() int { return len(c.accs) / SizeAcc }

// Pair adds a row of the arguments to the list that steps refer to, and returns its place there.
func (c *Combining) Pair(row uint32) uint32 {
	c.pairs = le.AppendUint32(c.pairs, row)
	return uint32(len(c.pairs)/4 - 1)
}

// Rows returns the number of rows of arguments.
func (c *Combining) Rows() int {
	if c.width == 0 {
		return 0
	}
	return len(c.args) / (c.width * SizeValue)
}

// Extracts returns the number of results that the steps ask for.
func (c *Combining) Extracts() int { return c.extracts }

// Step adds a step. from and count are pairs; of StepMerge from is an accumulator.
func (c *Combining) Step(op, acc, from, count uint32) {
	if op == StepExtract {
		c.extracts++
	}
	c.steps = le.AppendUint32(le.AppendUint32(le.AppendUint32(le.AppendUint32(c.steps, op), acc), from), count)
}

// Value adds the next argument of a row. Text is in h, which may grow.
func (c *Combining) Value(h *event.Heap, v event.Value) {
	if r, ok := jsontext.Resolve(h, v); ok {
		v = r
	}
	kind, low, high, float := KindMissing, uint64(0), uint64(0), 0.0
	var text []byte
	switch v.Kind {
	case event.Missing, event.Error:
	case event.Null:
		kind = KindNull
	case event.Bool:
		kind = KindBool
		if v.Bool() {
			low = 1
		}
	case event.Int:
		kind, low, float = KindInt, uint64(v.Int()), float64(v.Int())
	case event.Decimal128:
		d := v.Decimal()
		kind, low, high, float = KindDecimal, d.Lo, uint64(d.Hi), d.Float()
	case event.Float:
		kind, float = KindFloat, v.Float()
	case event.Instant:
		kind, low = KindTime, uint64(v.Time())
	case event.Span:
		kind, low = KindDuration, uint64(v.Duration())
	case event.String:
		kind, text = KindText, v.Bytes(h)
	case event.Bytes:
		kind, text = KindBytes, v.Bytes(h)
	case event.List, event.Object, event.JSON:
		kind, text = KindJSON, v.Bytes(h)
	}
	if v.InHeap() && v.Kind != event.Error {
		low = uint64(combiningHeap + len(c.heap))
		c.heap = append(c.heap, text...)
	}
	c.args = le.AppendUint32(le.AppendUint32(c.args, kind), uint32(len(text)))
	c.args = le.AppendUint64(le.AppendUint64(le.AppendUint64(c.args, low), high), math.Float64bits(float))
}

// Size returns the length of the frame.
func (c *Combining) Size() int {
	at := combiningHeap
	for i, s := range c.sections() {
		c.table[i] = entry{s.kind, FlagCritical, uint32(at), uint32(len(s.b)), uint32(len(s.b) / s.size)}
		at = align(at + len(s.b))
	}
	return at
}

type combiningSection struct {
	kind uint16
	b    []byte
	size int
}

func (c *Combining) sections() [5]combiningSection {
	return [5]combiningSection{
		{SectionHeap, c.heap, 1}, {SectionAccs, c.accs, SizeAcc}, {SectionSteps, c.steps, SizeStep},
		{SectionPairs, c.pairs, 4}, {SectionArgs, c.args, SizeValue},
	}
}

// Write fills dst, whose length is what Size returned, with the frame.
func (c *Combining) Write(dst []byte, call Call) {
	putHeader(dst, header{
		magic: MagicInput, fn: call.Fn, op: OpRun, epoch: call.Epoch, bundle: call.Bundle, now: call.Now,
		sections: uint32(len(c.table)), total: uint32(len(dst)), cursor: None, rows: uint32(c.Rows()),
	})
	putTable(dst, c.table[:])
	for i, s := range c.sections() {
		copy(dst[c.table[i].offset:], s.b)
	}
}
