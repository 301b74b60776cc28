package combine

import (
	"strconv"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
)

// appendJSON appends v as JSON.
func appendJSON(dst []byte, h *event.Heap, v event.Value) []byte {
	switch v.Kind {
	case event.Bool:
		return strconv.AppendBool(dst, v.Bool())
	case event.Int:
		return strconv.AppendInt(dst, v.Int(), 10)
	case event.Decimal128:
		return v.Decimal().AppendTo(dst)
	case event.Float:
		return strconv.AppendFloat(dst, v.Float(), 'g', -1, 64)
	case event.Instant, event.Span:
		return strconv.AppendInt(dst, int64(v.Time()), 10)
	case event.String:
		return jsontext.AppendString(dst, v.Bytes(h))
	case event.List, event.Object, event.JSON:
		return append(dst, v.Bytes(h)...)
	}
	return append(dst, "null"...)
}
