package wgate

import "unsafe"

// folder runs combiners: it works through the steps of one frame.
type folder struct {
	frame   []byte // of the output: header, table, HEAP
	grown   []grownRow
	results []valueRow
	fails   []failRow
	accs    [][]byte // by row of ACCS; nil: not looked at yet
	changed []bool
	scratch []byte
	args    Args
	result  Result
	pair    uint32 // at work
	step    *stepRow
	in      foldInput
}

// foldInput is the input frame of a combiner.
type foldInput struct {
	frame []byte
	head  *frameHeader
	accs  []accRow
	steps []stepRow
	pairs []uint32
	args  []valueRow
}

func (in *foldInput) take(frame []byte, width int) bool {
	h, table, ok := sections(frame, magicInput)
	if !ok {
		return false
	}
	*in = foldInput{frame: frame, head: h}
	for i := range table {
		e, ok := &table[i], true
		switch e.kind {
		case sectionAccs:
			in.accs, ok = rowsAt[accRow](frame, e)
		case sectionSteps:
			in.steps, ok = rowsAt[stepRow](frame, e)
		case sectionPairs:
			in.pairs, ok = rowsAt[uint32](frame, e)
		case sectionArgs:
			in.args, ok = rowsAt[valueRow](frame, e)
		case sectionHeap:
			_, ok = rowsAt[byte](frame, e)
		default:
			ok = e.flags&flagCritical == 0
		}
		if !ok {
			return false
		}
	}
	return len(in.args) == int(h.rows)*width
}

// fold works through the input frame with c.
func (g *guest) fold(c *combiner, frame []byte) int32 {
	f := &g.folder
	if !f.in.take(frame, c.args) {
		g.host.fail("the input frame is not sound")
		return -1
	}
	f.reset()
	for i := range f.in.steps {
		f.step = &f.in.steps[i]
		f.pair = f.step.from
		switch f.step.op {
		case stepAdd, stepUncombine, stepCheck:
			for f.pair < f.step.from+f.step.count {
				if why := f.rows(c); why != "" {
					if f.step.op != stepCheck { // the accumulator is spoiled
						g.host.fail(why)
						return statusBatchError
					}
					f.refuse("guest_trap", why)
					f.pair++
				}
			}
		case stepMerge, stepExtract:
			if why := f.whole(c); why != "" {
				g.host.fail(why)
				return statusBatchError
			}
		default:
			g.host.fail("no such step")
			return -1
		}
	}
	if g.host.out(f.build(int(f.in.head.rows))) != outOK {
		g.host.fail("the output is larger than limits.output")
		return statusBatchError
	}
	return statusOK
}

func (f *folder) reset() {
	if cap(f.frame) < heapAt {
		f.frame = make([]byte, heapAt, 64<<10)
	}
	n := len(f.in.accs)
	if cap(f.accs) < n {
		f.accs, f.changed = make([][]byte, n), make([]bool, n)
	}
	f.frame, f.accs, f.changed = f.frame[:heapAt], f.accs[:n], f.changed[:n]
	clear(f.accs)
	clear(f.changed)
	f.grown, f.results, f.fails = f.grown[:0], f.results[:0], f.fails[:0]
	f.args.frame, f.result.o = f.in.frame, f
}

// acc returns accumulator i. It stands in the input frame until it outgrows that.
func (f *folder) acc(c *combiner, i uint32) []byte {
	if a := f.accs[i]; a != nil {
		return a
	}
	r := &f.in.accs[i]
	if r.length == 0 {
		// The bytes of an A must be 8-aligned, which those of a slice of words are.
		f.accs[i] = c.create(words(64))
		return f.accs[i]
	}
	a := f.in.frame[r.offset : r.offset+r.length : r.offset+r.length]
	if !c.fits(a) {
		panic("an accumulator of another size: it was made by another version of the function")
	}
	f.accs[i] = a
	return a
}

// words returns an empty slice with room for n bytes at an address that is a multiple of 8.
func words(n int) []byte {
	w := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(&w[0])), len(w)*8)[:0]
}

// rows folds the pairs from f.pair on, and returns what a panic said.
func (f *folder) rows(c *combiner) (why string) {
	defer func() {
		if r := recover(); r != nil {
			why = panicText(r)
		}
	}()
	s, in, a := f.step, &f.in, &f.args
	check := s.op == stepCheck
	fold := c.add
	if s.op == stepUncombine {
		fold = c.uncombine
	}
	var acc []byte
	if !check {
		acc = f.acc(c, s.acc)
		f.changed[s.acc] = true
	} else if f.scratch == nil {
		f.scratch = words(64)
	}
	pairs := in.pairs[:s.from+s.count]
	for ; f.pair < uint32(len(pairs)); f.pair++ {
		in.head.cursor = f.pair
		if check {
			f.scratch = c.create(f.scratch)
			acc = f.scratch
		}
		row := int(pairs[f.pair])
		a.vals = in.args[row*c.args:][:c.args]
		acc = fold(acc, a)
		if a.failed {
			f.refuse(a.code, a.text)
		}
	}
	if !check {
		f.accs[s.acc] = acc
	}
	return ""
}

// refuse notes that the row at hand is refused.
func (f *folder) refuse(code, text string) {
	f.args.failed = false
	at := uint32(len(f.frame))
	f.frame = append(append(f.frame, code...), text...)
	f.fails = append(f.fails, failRow{
		row: f.in.pairs[f.pair], codeOffset: at, codeLength: uint32(len(code)), offset: at + uint32(len(code)), length: uint32(len(text)),
	})
}

// whole merges or extracts, and returns what a panic said.
func (f *folder) whole(c *combiner) (why string) {
	defer func() {
		if r := recover(); r != nil {
			why = panicText(r)
		}
	}()
	s := f.step
	acc := f.acc(c, s.acc)
	if s.op == stepMerge {
		f.accs[s.acc] = c.merge(acc, f.acc(c, s.from))
		f.changed[s.acc] = true
		return ""
	}
	f.result.Null()
	c.extract(acc, &f.result)
	f.results = append(f.results, f.result.row)
	return ""
}

// build writes what has changed and the sections after HEAP, and returns the frame.
func (f *folder) build(rows int) []byte {
	for i, changed := range f.changed {
		if changed {
			f.grown = append(f.grown, grownRow{acc: uint32(i), offset: uint32(len(f.frame)), length: uint32(len(f.accs[i]))})
			f.frame = append(f.frame, f.accs[i]...)
		}
	}
	t := newTable(f.frame)
	t.add(sectionGrown, bytesOf(f.grown), len(f.grown))
	t.add(sectionResults, bytesOf(f.results), len(f.results))
	t.add(sectionFail, bytesOf(f.fails), len(f.fails))
	f.frame = t.finish(rows, rows)
	return f.frame
}
