package expr

import "github.com/wgate/wgate/event"

// Pos is where a node stands in its file: lines and columns count from 1, columns in grapheme clusters as HCL counts
// them; bytes count from 0.
type Pos struct {
	File               string
	Line, Col          int
	EndLine, EndCol    int
	StartByte, EndByte int
}

// Op says what a Node is.
type Op uint8

// The ops of nodes, and how each uses Name, Lit, Keys and Args.
const (
	OpLiteral  Op = iota // Lit
	OpVar                // Name: value, key, record, event, window, pane, left, right, or a variable bound by a for
	OpField              // Args[0].Name; value["user-id"] is an OpField too when the index is a constant string
	OpIndex              // Args[0][Args[1]]
	OpCall               // Name(Args...), for example lower(value.user) or header("x")
	OpUnary              // Name is "!" or "-"
	OpBinary             // Name is one of + - * / % == != < <= > >= && ||
	OpCond               // Args[0] ? Args[1] : Args[2]
	OpList               // [Args...]
	OpObject             // { Keys[i] = Args[i] }
	OpFor                // [for Keys[0] in Args[0] : Args[1] if Args[2]]; Args[2] may be absent; Keys may hold index and member
	OpTemplate           // "a ${x} b": the texts of Args joined; literal parts are OpLiteral
	OpSlot               // result number Slot of an aggregate function, in the expressions of compute
)

// Node is one node of an expression as it was written. Nodes are immutable once built and may be shared.
type Node struct {
	Op     Op
	Name   string
	Quoted bool // an OpField that was written ["name"]
	Lit    event.Literal
	Keys   []string
	Args   []*Node
	Slot   int
	Type   event.Type // of an OpSlot
	Pos    Pos
}
