package abi

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/wgate/wgate/event"
)

// Combined is the checked output frame of a combiner. It belongs to the bytes of the frame. It is reused by Check.
type Combined struct {
	Output        // FAIL, METRIC and LOG; KEEP and EMIT are empty
	grown  []byte // GROWN
	values []byte // RESULTS
	seen   []bool
	reader Reader
}

// Check reads the output frame of a call over these many accumulators, rows of arguments and results. It trusts nothing in
// it. All errors wrap ErrFrame; after one nothing of it may be used.
func (c *Combined) Check(frame []byte, accs, rows, results int) error {
	c.Output, c.grown, c.values = Output{frame: frame}, nil, nil
	o, r := &c.Output, &c.reader
	r.Begin(rows, 0)
	var err error
	if r.table, err = readTable(r.table[:0], frame, MagicOutput); err != nil {
		return err
	}
	for _, e := range r.table {
		var size int
		var into *[]byte
		switch e.kind {
		case SectionHeap:
			o.base, o.Heap = e.offset, frame[e.offset:e.offset+e.length]
			continue
		case SectionGrown:
			size, into = SizeGrown, &c.grown
		case SectionResults:
			size, into = SizeValue, &c.values
		case SectionFail:
			size, into = SizeFail, &o.fails
		case SectionMetric:
			size, into = SizeSample, &o.stats
		case SectionLog:
			size, into = SizeLine, &o.lines
		default:
			if e.flags&FlagCritical != 0 {
				return badFrame("section %d is not known, or not for combiners", e.kind)
			}
			continue
		}
		if *into, err = rowsOf(frame, e, size); err != nil {
			return err
		}
	}
	for _, check := range []func(*Output) error{r.checkFails, r.checkStats, r.checkLines} {
		if err := check(o); err != nil {
			return err
		}
	}
	if err := c.checkGrown(accs); err != nil {
		return err
	}
	return c.checkResults(results)
}

func (c *Combined) checkGrown(accs int) error {
	c.seen = append(c.seen[:0], make([]bool, accs)...)
	for i := range c.Grown() {
		p := c.grown[i*SizeGrown:][:SizeGrown]
		acc, n := le.Uint32(p[AtGrownAcc:]), le.Uint32(p[AtGrownLength:])
		switch {
		case uint64(acc) >= uint64(accs):
			return badFrame("GROWN names accumulator %d of %d", acc, accs)
		case c.seen[acc]:
			return badFrame("GROWN names accumulator %d twice", acc)
		case n > MaxAccumulator:
			return badFrame("accumulator %d has grown to %d bytes, %d are allowed", acc, n, MaxAccumulator)
		}
		c.seen[acc] = true
		if _, err := c.span(le.Uint32(p[AtGrownOffset:]), n, FormBytes); err != nil {
			return err
		}
	}
	return nil
}

func (c *Combined) checkResults(results int) error {
	if n := len(c.values) / SizeValue; n != results {
		return badFrame("RESULTS has %d values, the steps ask for %d", n, results)
	}
	for i := range results {
		p := c.values[i*SizeValue:][:SizeValue]
		kind, n, low := le.Uint32(p[AtValueKind:]), le.Uint32(p[AtValueLength:]), le.Uint64(p[AtValueLow:])
		switch kind {
		case KindNull, KindInt, KindDecimal, KindFloat, KindTime, KindDuration:
			continue
		case KindBool:
			if low > 1 {
				return badFrame("result %d is a bool of %d", i, low)
			}
			continue
		case KindText, KindBytes, KindJSON, KindError:
		default:
			return badFrame("result %d is of kind %d", i, kind)
		}
		if low > math.MaxUint32 {
			return badFrame("result %d is at %d", i, low)
		}
		s, err := c.span(uint32(low), n, FormBytes)
		if err != nil {
			return err
		}
		b := c.bytes(s)
		if kind != KindBytes && !utf8.Valid(b) {
			return badFrame("result %d is not UTF-8", i)
		}
		if code, _, _ := bytes.Cut(b, []byte{' '}); kind == KindError && !isCode(code) {
			return badFrame("result %d has a code that is not 1 to 64 of a-z, 0-9 and _", i)
		}
	}
	return nil
}

// Grown returns the number of accumulators that have changed.
func (c *Combined) Grown() int { return len(c.grown) / SizeGrown }

// GrownAcc returns the i-th accumulator that has changed: its row and its bytes, which belong to the frame.
func (c *Combined) GrownAcc(i int) (acc uint32, b []byte) {
	p := c.grown[i*SizeGrown:][:SizeGrown]
	return le.Uint32(p[AtGrownAcc:]), c.at(p, AtGrownOffset)
}

// Result returns the i-th result. Text is copied to h. JSON text is of kind JSON and not known to be valid; an error is
// of kind Error.
func (c *Combined) Result(i int, h *event.Heap) event.Value {
	p := c.values[i*SizeValue:][:SizeValue]
	low, n := le.Uint64(p[AtValueLow:]), le.Uint32(p[AtValueLength:])
	text := func(k event.Kind) event.Value {
		return event.HeapValue(k, h.Put(c.frame[low:low+uint64(n)]))
	}
	switch le.Uint32(p[AtValueKind:]) {
	case KindBool:
		return event.BoolValue(low == 1)
	case KindInt:
		return event.IntValue(int64(low))
	case KindDecimal:
		return event.DecimalValue(event.Decimal{Lo: low, Hi: int64(le.Uint64(p[AtValueHigh:]))})
	case KindFloat:
		return event.FloatValue(math.Float64frombits(le.Uint64(p[AtValueFloat:])))
	case KindTime:
		return event.TimeValue(event.Time(low))
	case KindDuration:
		return event.DurationValue(event.Duration(low))
	case KindText:
		return text(event.String)
	case KindBytes:
		return text(event.Bytes)
	case KindJSON:
		return text(event.JSON)
	case KindError:
		return text(event.Error)
	}
	return event.NullValue()
}
