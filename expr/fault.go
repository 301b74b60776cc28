package expr

import (
	"bytes"

	"github.com/wgate/wgate/event"
)

// The codes of errors in data. They are stable: dead letters carry them.
const (
	NotJSON        = "not_json"
	MissingField   = "missing_field"
	WrongType      = "wrong_type"
	Overflow       = "overflow"
	OutOfRange     = "out_of_range"
	DivisionByZero = "division_by_zero"
	BadTimestamp   = "bad_timestamp"
	BadArgument    = "bad_argument"
	NotAvailable   = "not_available"
)

// ErrorText returns the code and the text of a value of kind Error; h is the heap that it lies in.
func ErrorText(h *event.Heap, v event.Value) (code, text string) {
	c, t, _ := bytes.Cut(v.Bytes(h), []byte{' '})
	return string(c), string(t)
}

// ErrorValue writes an error of a row to h. Text must not hold data of the row.
func ErrorValue(h *event.Heap, code, text string) event.Value {
	buf := append(h.Begin(), code...)
	buf = append(append(buf, ' '), text...)
	return event.HeapValue(event.Error, h.End(buf))
}

// site is the place of an operation in the expression. It makes the errors of its rows, each different one once a bundle:
// the rows share the text.
type site struct {
	node  *Node
	epoch uint64
	known []fault
}

type fault struct {
	key uint32
	v   event.Value
}

// Keys of faults: what failed, then the number of the argument, then the kind of its value.
const (
	keyOperand uint32 = 1 << 16
	keyFail    uint32 = 2 << 16
)

func (s *site) cached(m *machine, key uint32) (v event.Value, ok bool) {
	if s.epoch != m.epoch {
		s.epoch, s.known = m.epoch, s.known[:0]
	}
	for _, f := range s.known {
		if f.key == key {
			return f.v, true
		}
	}
	return event.Value{}, false
}

func (s *site) put(m *machine, key uint32, code, text string) event.Value {
	v := ErrorValue(m.h, code, text)
	s.known = append(s.known, fault{key, v})
	return v
}

// operand is the error of an operand that has no value or one of a wrong kind: arg is number i of the node's arguments.
func (s *site) operand(m *machine, i int, arg *Node, v event.Value, needs string) event.Value {
	if v.Kind == event.Error {
		return v
	}
	key := keyOperand | uint32(i)<<8 | uint32(v.Kind)
	if f, ok := s.cached(m, key); ok {
		return f
	}
	text := short(arg) + " is " + kindArticle(v.Kind)
	if v.Kind == event.Missing {
		return s.put(m, key, MissingField, text)
	}
	return s.put(m, key, WrongType, text+"; "+s.what()+" needs "+needs)
}

// fail is any other error of the node: key tells those of one site apart.
func (s *site) fail(m *machine, key uint32, code, text string) event.Value {
	if f, ok := s.cached(m, keyFail|key); ok {
		return f
	}
	return s.put(m, keyFail|key, code, short(s.node)+" "+text)
}

// what names the operation for a message.
func (s *site) what() string {
	switch s.node.Op {
	case OpCall:
		return s.node.Name + "()"
	case OpUnary, OpBinary:
		return s.node.Name
	case OpCond:
		return "? :"
	case OpFor:
		return "for"
	case OpIndex:
		return "[ ]"
	case OpTemplate:
		return "a template"
	}
	return "it"
}

// short writes a node for a message, cut where it is long.
func short(n *Node) string {
	s := n.String()
	if len(s) <= 80 {
		return s
	}
	cut := 77
	for s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + "..."
}
