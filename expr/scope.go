package expr

import (
	"strings"

	"github.com/wgate/wgate/event"
)

// Scope says which names an expression may use and of what type they are. The zero Scope has value, key and event.time,
// of which nothing is known.
type Scope struct {
	Value    event.Type // of value
	Key      event.Type // of key
	Source   bool       // record.*, header() and arrival() are available
	Windowed bool       // window.* and pane.* are available
	NoValue  bool       // value is not available: in compute, outside of an aggregate function
	NoRow    bool       // nothing of a row is available: an attribute that must be constant
}

// Problem is a mistake in an expression: what is wrong, in one line, and why and what to do about it.
type Problem struct {
	Pos     Pos
	Summary string
	Detail  string
}

// Error makes a Problem usable as an error.
func (p Problem) Error() string { return p.Summary + ": " + p.Detail }

// Path is a chain of object fields below value: ["user", "name"] is value.user.name.
type Path []string

// String writes the path as an expression: value.user["first-name"].
func (p Path) String() string {
	var b strings.Builder
	b.WriteString("value")
	for _, f := range p {
		writeField(&b, f)
	}
	return b.String()
}

// Equal reports whether p and o name the same field.
func (p Path) Equal(o Path) bool {
	if len(p) != len(o) {
		return false
	}
	for i := range p {
		if p[i] != o[i] {
			return false
		}
	}
	return true
}

// Uses says what of a row an expression reads, besides the paths below value.
type Uses struct {
	Value   bool // value as a whole
	Key     bool
	Time    bool // event.time
	Headers bool
	Record  bool // record.*
	Window  bool
	Pane    bool
	Arrival bool
	Slots   bool // results of aggregate functions
}
