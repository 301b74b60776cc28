package codec

import (
	"fmt"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// Encoder writes values of results. It has no state and may be shared.
type Encoder struct{ raw bool }

// NewEncoder returns the encoder for a sink's encode attribute: "json", "text" or "bytes".
func NewEncoder(format string) (Encoder, error) {
	switch format {
	case "json":
		return Encoder{}, nil
	case "text", "bytes":
		return Encoder{raw: true}, nil
	case "avro", "protobuf", "msgpack", "csv":
		return Encoder{}, fmt.Errorf("encode = %q is not available in this version: use json, text or bytes", format)
	}
	return Encoder{}, fmt.Errorf("encode = %q is unknown: use json, text or bytes", format)
}

// AppendValue appends v as the bytes of a record. As JSON, a value that came as JSON leaves as the very bytes that came. As
// text and as bytes, texts and bytes are written as they are and everything else as JSON. What is null as a record and
// what as the JSON text null is decided by the caller: here null is JSON, and nothing at all as text and bytes.
func (e Encoder) AppendValue(dst []byte, h *event.Heap, v event.Value) []byte {
	if e.raw {
		switch v.Kind {
		case event.String, event.Bytes:
			return append(dst, v.Bytes(h)...)
		case event.Missing, event.Null:
			return dst
		}
	}
	return jsontext.Append(dst, h, v)
}
