package windowing

import (
	"strconv"
	"strings"

	"github.com/wgate/wgate/event"
)

// Spec is a window block: a kind and the attributes that the kind has. The zero Spec is the global window. Spec is
// immutable by convention and comparable.
type Spec struct {
	Kind      Kind
	Size      event.Duration // fixed, sliding, cumulative: length of a window
	Offset    event.Duration // fixed, sliding: shifts the grid; any sign and size
	Period    event.Duration // sliding: from the start of one window to the next
	Step      event.Duration // cumulative: from pane to pane; divides Size
	Gap       event.Duration // session: silence that ends one
	Max       event.Duration // session: longest session; 0 means no limit
	Inclusive bool           // session: boundary = "inclusive"
}

// MaxWindows is the largest number of sliding windows that one event time may lie in.
const MaxWindows = 1 << 16

// Problem is something wrong with one attribute of a Spec.
type Problem struct {
	Attr    string // the attribute at fault; empty if it is the block as a whole
	Summary string
	Detail  string // what to do
}

// Validate returns what is wrong with s, in the order of the attributes; nil if nothing is.
func (s Spec) Validate() []Problem {
	var v checker
	switch s.Kind {
	case Global:
	case Fixed:
		v.positive("size", s.Size)
	case Sliding:
		v.positive("size", s.Size)
		v.positive("period", s.Period)
		if len(v) == 0 && s.Size/s.Period > MaxWindows {
			v.add("period", "too many windows per event",
				"size / period is "+strconv.FormatInt(int64(s.Size/s.Period), 10)+"; the limit is "+strconv.Itoa(MaxWindows)+": use a larger period")
		}
	case Cumulative:
		v.positive("size", s.Size)
		v.positive("step", s.Step)
		if len(v) == 0 && s.Size%s.Step != 0 {
			v.add("step", "the step does not divide the size",
				"the steps of a cumulative window end with it: choose a step that fits into "+s.Size.String()+" a whole number of times")
		}
	case Session:
		v.positive("gap", s.Gap)
		if s.Max != 0 {
			v.positive("max", s.Max)
			if s.Max > 0 && s.Max < s.Gap {
				v.add("max", "max is shorter than the gap", "a session lasts at least one gap: max must be "+s.Gap.String()+" or more")
			}
		}
	default:
		v.add("", s.Kind.String()+" windows are not available in this version", "use fixed, sliding, cumulative, session or global windows")
	}
	return v
}

type checker []Problem

func (c *checker) add(attr, summary, detail string) { *c = append(*c, Problem{attr, summary, detail}) }

func (c *checker) positive(attr string, d event.Duration) {
	if d <= 0 {
		c.add(attr, attr+" must be longer than zero", `write a duration such as "2m"`)
	}
}

// Name returns the block's label.
func (s Spec) Name() string { return s.Kind.String() }

// String writes s on one line: fixed(2m), sliding(10s, period 5s, offset 1s), session(5s, inclusive), global.
func (s Spec) String() string {
	var args []string
	opt := func(name string, d event.Duration) {
		if d != 0 {
			args = append(args, name+" "+d.String())
		}
	}
	switch s.Kind {
	case Fixed, Sliding, Cumulative:
		args = append(args, s.Size.String())
		opt("period", s.Period)
		opt("step", s.Step)
		opt("offset", s.Offset)
	case Session:
		args = append(args, s.Gap.String())
		if s.Inclusive {
			args = append(args, "inclusive")
		}
		opt("max", s.Max)
	default:
		return s.Kind.String()
	}
	return s.Kind.String() + "(" + strings.Join(args, ", ") + ")"
}
