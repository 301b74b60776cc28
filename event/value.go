package event

import "math"

// Kind is the type of one value.
type Kind uint8

// The kinds of values. Compound values (List, Object) live in the heap as JSON text. JSON is JSON text whose own kind has
// not been looked at: the value of a record as it came. Missing is the absence of a field; it compares equal to Null and
// differs from it only for has(). Error marks a row on which an expression failed.
const (
	Missing Kind = iota
	Null
	Bool
	Int
	Decimal128
	Float
	String
	Bytes
	Instant
	Span
	List
	Object
	JSON
	Error
)

var kindNames = [...]string{
	"missing", "null", "bool", "int", "decimal", "float", "string", "bytes", "time", "duration", "list", "object", "json", "error",
}

// String returns the kind's name in the pipeline language.
func (k Kind) String() string { return kindNames[k] }

// Value is one value of the pipeline language: 24 bytes without a pointer, so that columns of it cost the garbage
// collector nothing. Text and compound values are spans of a Heap that the holder of the value knows. The zero Value is
// Missing. Two Values of Kinds that use the heap must not be compared with ==.
type Value struct {
	Kind Kind
	lo   uint64
	hi   uint64
}

// NullValue returns null.
func NullValue() Value { return Value{Kind: Null} }

// BoolValue returns a bool.
func BoolValue(b bool) Value {
	if b {
		return Value{Kind: Bool, lo: 1}
	}
	return Value{Kind: Bool}
}

// IntValue returns an int.
func IntValue(i int64) Value { return Value{Kind: Int, lo: uint64(i)} }

// FloatValue returns a float.
func FloatValue(f float64) Value { return Value{Kind: Float, lo: math.Float64bits(f)} }

// DecimalValue returns a decimal.
func DecimalValue(d Decimal) Value { return Value{Kind: Decimal128, lo: d.Lo, hi: uint64(d.Hi)} }

// TimeValue returns an instant.
func TimeValue(t Time) Value { return Value{Kind: Instant, lo: uint64(t)} }

// DurationValue returns a span of time.
func DurationValue(d Duration) Value { return Value{Kind: Span, lo: uint64(d)} }

// HeapValue returns a value of kind String, Bytes, List, Object, JSON or Error whose bytes are r. NullRef gives null.
func HeapValue(k Kind, r Ref) Value {
	if r.IsNull() {
		return NullValue()
	}
	return Value{Kind: k, lo: uint64(r.Off)<<32 | uint64(r.Len)}
}

// Bool returns the bool; the kind must be Bool. So with the other readers: each requires its own kind.
func (v Value) Bool() bool { return v.lo != 0 }

// Int returns the int.
func (v Value) Int() int64 { return int64(v.lo) }

// Float returns the float.
func (v Value) Float() float64 { return math.Float64frombits(v.lo) }

// Decimal returns the decimal.
func (v Value) Decimal() Decimal { return Decimal{Hi: int64(v.hi), Lo: v.lo} }

// Time returns the instant.
func (v Value) Time() Time { return Time(v.lo) }

// Duration returns the span of time.
func (v Value) Duration() Duration { return Duration(v.lo) }

// Ref returns the span of a String, Bytes, List, Object, JSON or Error value.
func (v Value) Ref() Ref { return Ref{uint32(v.lo >> 32), uint32(v.lo)} }

// Bytes returns the bytes of a String, Bytes, List, Object, JSON or Error value. They belong to h.
func (v Value) Bytes(h *Heap) []byte { return h.Get(v.Ref()) }

// IsNull reports whether v is null or missing.
func (v Value) IsNull() bool { return v.Kind <= Null }

// InHeap reports whether v refers to a heap.
func (v Value) InHeap() bool { return v.Kind == String || v.Kind == Bytes || v.Kind >= List }

// Move returns v as a value of the heap to: its bytes are copied from the heap from. When both are one heap v is returned
// as it is.
func (v Value) Move(from, to *Heap) Value {
	if from == to || !v.InHeap() {
		return v
	}
	return HeapValue(v.Kind, to.Put(v.Bytes(from)))
}
