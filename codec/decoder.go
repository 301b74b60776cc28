package codec

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// Projection says what a decoder reads.
type Projection struct {
	// Paths are the fields to read; column k of the bundle gets Paths[k]. No path occurs twice.
	Paths []expr.Path
	// Types, if any, has the type of each path; the zero Type knows nothing. A field of a known type that is not optional
	// must be there.
	Types []event.Type
	// Schema, if any, is the declared type of the value: every declared field is checked, whether something reads it or
	// not, and defaults stand for optional fields that are missing or null. What is not declared is let pass.
	Schema *event.Type
	// Whole says that the value itself is read too. It stays in Bundle.Values in any case.
	Whole bool
}

// RowError is a record that could not be decoded. Code is one of the codes of package expr; Text names fields and types,
// never a value.
type RowError struct {
	Row  int
	Code string
	Text string
}

// Decoder decodes records. It keeps scratch memory and is used by one goroutine at a time.
type Decoder interface {
	// Decode decodes the rows of b from number from on, whose Values are as the source set them, and appends one value for
	// each of them to every column (Bundle.Fields, which is grown to the number of paths). A null record has no fields; it
	// is no error. A row that fails has a value of kind Error in its first column, if there is one, and is in the result,
	// which is ordered by row, holds each row once and is good until the next call.
	Decode(b *event.Bundle, from int) []RowError
}

// NewDecoder returns the decoder for a source's decode attribute: "json", "text" or "bytes".
func NewDecoder(format string, p Projection) (Decoder, error) {
	switch format {
	case "json":
		return newJSON(p), nil
	case "text", "bytes":
		return &rawDecoder{text: format == "text", paths: len(p.Paths)}, nil
	case "avro", "protobuf", "msgpack", "csv":
		return nil, fmt.Errorf("decode = %q is not available in this version: use json, text or bytes", format)
	}
	return nil, fmt.Errorf("decode = %q is unknown: use json, text or bytes", format)
}

// rawDecoder makes each value a text or bytes. It has no fields: all paths are missing.
type rawDecoder struct {
	text  bool
	paths int
	bad   []RowError
}

// Decode is described at Decoder.
func (d *rawDecoder) Decode(b *event.Bundle, from int) []RowError {
	d.bad = d.bad[:0]
	extend(b, d.paths, from)
	for i := from; i < b.Len(); i++ {
		v := b.Values[i]
		if !v.InHeap() || v.Kind == event.Error {
			continue
		}
		kind := event.Bytes
		if d.text {
			kind = event.String
			if !utf8.Valid(v.Bytes(b.Heap)) {
				d.bad = append(d.bad, RowError{i, expr.WrongType, "the value is not text: its bytes are not UTF-8"})
				continue
			}
		}
		b.Values[i] = event.HeapValue(kind, v.Ref())
	}
	markBad(b, d.bad)
	return d.bad
}

// extend gives b columns that are complete, with missing values in the rows from from on.
func extend(b *event.Bundle, columns, from int) {
	had := len(b.Fields)
	if had < columns {
		b.Fields = slices.Grow(b.Fields, columns-had)[:columns] // a bundle that was reset still has the memory of its columns
	}
	for k := range columns {
		col := b.Fields[k]
		if k >= had {
			col = col[:0]
		}
		if n := b.Len() - len(col); n > 0 {
			col = slices.Grow(col, n)[:b.Len()]
			clear(col[b.Len()-n:])
		}
		clear(col[from:])
		b.Fields[k] = col
	}
}

func markBad(b *event.Bundle, bad []RowError) {
	if len(b.Fields) == 0 {
		return
	}
	for _, e := range bad {
		b.Fields[0][e.Row] = expr.ErrorValue(b.Heap, e.Code, e.Text)
	}
}
