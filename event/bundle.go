package event

// The size at which a bundle ends.
const (
	BundleRows  = 4096
	BundleBytes = 16 << 20
)

// Bundle is a run of rows of one collection as a struct of arrays: row i is element i of every array. Times, Marks, Ops,
// Keys and Values always have one element for each row; the others are either empty (no row has any) or complete.
//
// Text and compound values are spans of Heap. Bundles that were derived from one another share a heap, so that a row that
// passes unchanged is not copied. A bundle and its heap belong to whoever filled it and are good until that one resets
// them: a consumer that keeps anything past its call copies it. A Bundle is used by one goroutine at a time.
type Bundle struct {
	Heap *Heap

	Times  []Time  // event time
	Marks  []Time  // the collection's watermark just before the row: what it is judged late or not by
	Ops    []Op    // insert, or take back
	Keys   []Value // the key: of the Kafka record at a source, of the group after one
	Values []Value // the whole value; Missing where the plan has no use for it

	Windows []Window // after a grouping
	Panes   []Pane   // after a grouping
	Origins []Origin // where the record came from, for dead letters and record.topic
	Heads   []HeadSpan
	Headers []Header // the headers of all rows, one row after the other

	// Fields are the columns that the plan projects: Fields[slot][row]. Which slot is which path of the value is decided
	// once, by the plan.
	Fields [][]Value
}

// Origin is the place of a source record.
type Origin struct {
	Source    uint16 // index of the source in the plan
	Topic     uint16 // index of the topic in the source
	Partition int32
	Offset    int64
	Timestamp Time // the record's own timestamp
	Key       Ref  // the record's key and value as they came, for the dead letters
	Value     Ref
}

// Header is one header of a record: an ordered list with repeats; a null value is not an empty one.
type Header struct{ Key, Value Ref }

// HeadSpan is a row's part of Bundle.Headers.
type HeadSpan struct{ Start, End uint32 }

// Len returns the number of rows.
func (b *Bundle) Len() int { return len(b.Times) }

// Reset empties the bundle and gives it nf empty columns. The heap is left as it is: it may be shared.
func (b *Bundle) Reset(nf int) {
	b.Times, b.Marks, b.Ops = b.Times[:0], b.Marks[:0], b.Ops[:0]
	b.Keys, b.Values = b.Keys[:0], b.Values[:0]
	b.Windows, b.Panes, b.Origins = b.Windows[:0], b.Panes[:0], b.Origins[:0]
	b.Heads, b.Headers = b.Heads[:0], b.Headers[:0]
	for len(b.Fields) < nf {
		b.Fields = append(b.Fields, nil)
	}
	b.Fields = b.Fields[:nf]
	for i := range b.Fields {
		b.Fields[i] = b.Fields[i][:0]
	}
}

// Slice makes dst a view of rows [lo, hi) of b. The view shares all memory with b and must not be appended to.
func (b *Bundle) Slice(lo, hi int, dst *Bundle) {
	dst.Heap = b.Heap
	dst.Times, dst.Marks, dst.Ops = b.Times[lo:hi:hi], b.Marks[lo:hi:hi], b.Ops[lo:hi:hi]
	dst.Keys, dst.Values = b.Keys[lo:hi:hi], b.Values[lo:hi:hi]
	dst.Windows, dst.Panes, dst.Origins, dst.Heads = nil, nil, nil, nil
	if len(b.Windows) > 0 {
		dst.Windows = b.Windows[lo:hi:hi]
	}
	if len(b.Panes) > 0 {
		dst.Panes = b.Panes[lo:hi:hi]
	}
	if len(b.Origins) > 0 {
		dst.Origins = b.Origins[lo:hi:hi]
	}
	if len(b.Heads) > 0 {
		dst.Heads = b.Heads[lo:hi:hi]
	}
	dst.Headers = b.Headers
	dst.Fields = dst.Fields[:0]
	for _, f := range b.Fields {
		dst.Fields = append(dst.Fields, f[lo:hi:hi])
	}
}

// AppendMeta appends row i of src to b without its fields: time, mark, op, key, value, and whatever optional arrays src
// has. b and src must share a heap.
func (b *Bundle) AppendMeta(src *Bundle, i int) {
	b.Times = append(b.Times, src.Times[i])
	b.Marks = append(b.Marks, src.Marks[i])
	b.Ops = append(b.Ops, src.Ops[i])
	b.Keys = append(b.Keys, src.Keys[i])
	b.Values = append(b.Values, src.Values[i])
	if len(src.Windows) > 0 {
		b.Windows = append(b.Windows, src.Windows[i])
	}
	if len(src.Panes) > 0 {
		b.Panes = append(b.Panes, src.Panes[i])
	}
	if len(src.Origins) > 0 {
		b.Origins = append(b.Origins, src.Origins[i])
	}
	if len(src.Heads) > 0 {
		hs := src.Heads[i]
		start := uint32(len(b.Headers))
		b.Headers = append(b.Headers, src.Headers[hs.Start:hs.End]...)
		b.Heads = append(b.Heads, HeadSpan{start, uint32(len(b.Headers))})
	}
}

// RowHeaders returns the headers of row i, nil if it has none.
func (b *Bundle) RowHeaders(i int) []Header {
	if len(b.Heads) == 0 {
		return nil
	}
	return b.Headers[b.Heads[i].Start:b.Heads[i].End]
}
