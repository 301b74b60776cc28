package triggers

import (
	"strconv"
	"strings"

	"github.com/wgate/wgate/event"
)

// Spec is a trigger: a node and what it is composed of. A Spec is immutable once built; parts may be shared.
//
//   - AfterWatermark has at most one Early and one Late.
//   - AfterCount has Count, AfterDelay and Every have Delay.
//   - Any, All and Sequence have one or more Parts, Repeat has one, RepeatUntil two: what is repeated, and what ends it.
//   - Never has nothing.
type Spec struct {
	Kind  Kind
	Parts []Spec
	Early []Spec // none or one
	Late  []Spec // none or one
	Count int64
	Delay event.Duration
}

// Default returns repeat(after_watermark()), the trigger of an aggregate that names none.
func Default() Spec { return Spec{Kind: Repeat, Parts: []Spec{{Kind: AfterWatermark}}} }

// String writes s in the trigger language, as Parse reads it: after_watermark({ early = every("1m"), late =
// after_count(1) }).
func (s Spec) String() string {
	var b strings.Builder
	s.write(&b)
	return b.String()
}

func (s Spec) write(b *strings.Builder) {
	b.WriteString(s.Kind.String())
	b.WriteByte('(')
	switch s.Kind {
	case AfterWatermark:
		s.writePhases(b)
	case AfterCount:
		b.WriteString(strconv.FormatInt(s.Count, 10))
	case AfterDelay, Every:
		b.WriteString(strconv.Quote(s.Delay.String()))
	}
	for i, p := range s.Parts {
		if i > 0 {
			b.WriteString(", ")
		}
		p.write(b)
	}
	b.WriteByte(')')
}

func (s Spec) writePhases(b *strings.Builder) {
	if len(s.Early)+len(s.Late) == 0 {
		return
	}
	b.WriteString("{ ")
	for i, p := range s.Early {
		if i == 0 {
			b.WriteString("early = ")
		}
		p.write(b)
	}
	if len(s.Early) > 0 && len(s.Late) > 0 {
		b.WriteString(", ")
	}
	for i, p := range s.Late {
		if i == 0 {
			b.WriteString("late = ")
		}
		p.write(b)
	}
	b.WriteString(" }")
}

// Equal reports whether s and t are the same trigger.
func (s Spec) Equal(t Spec) bool { return s.String() == t.String() }

// Problem is something wrong with one node of a Spec.
type Problem struct {
	Node    int // which node, in the order in which they print; 0 is the root
	Summary string
	Detail  string // what to do
}

// MaxNodes is the largest number of nodes of a trigger; MaxDepth is how deep they may nest.
const (
	MaxNodes = 255
	MaxDepth = 32
)

// Validate returns what is wrong with s, in the order in which its nodes print; nil if nothing is.
func (s Spec) Validate() []Problem {
	var c checker
	c.check(s, 1)
	if c.n > MaxNodes {
		c.add(0, "the trigger is too large", "a trigger may have "+strconv.Itoa(MaxNodes)+" parts")
	}
	return c.found
}

type checker struct {
	found []Problem
	n     int
}

func (c *checker) add(node int, summary, detail string) {
	c.found = append(c.found, Problem{node, summary, detail})
}

func (c *checker) check(s Spec, depth int) {
	n := c.n
	c.n++
	if depth > MaxDepth {
		c.add(n, "the trigger is nested too deeply", "triggers may nest "+strconv.Itoa(MaxDepth)+" deep")
		return
	}
	c.own(n, s)
	for _, parts := range [3][]Spec{s.Early, s.Late, s.Parts} {
		for _, p := range parts {
			c.check(p, depth+1)
		}
	}
}

// own checks a node without its parts.
func (c *checker) own(n int, s Spec) {
	name := s.Kind.String()
	switch {
	case s.Kind == None:
		c.add(n, "a trigger is missing", "write one, such as "+Default().String())
		return
	case !s.Kind.Available():
		c.add(n, name+" is not available in this version", "use one of "+strings.Join(Names(), ", "))
		return
	case s.Kind == AfterCount && s.Count < 1:
		c.add(n, "after_count needs a count of 1 or more", "write a whole number, such as after_count(100)")
	case (s.Kind == AfterDelay || s.Kind == Every) && s.Delay <= 0:
		c.add(n, name+" needs a time longer than zero", "write a duration, such as "+name+`("30s")`)
	}
	lo, hi := 0, 0
	switch s.Kind {
	case Any, All, Sequence, Repeat, RepeatUntil:
		lo, hi = s.Kind.Arity()
	}
	if len(s.Parts) < lo || hi >= 0 && len(s.Parts) > hi {
		c.add(n, name+" has the wrong number of triggers", "it takes "+count(lo, hi))
	}
	if len(s.Early) > 1 || len(s.Late) > 1 || s.Kind != AfterWatermark && len(s.Early)+len(s.Late) > 0 {
		c.add(n, name+" has the wrong phases", "only after_watermark takes early and late, one trigger each")
	}
}

func count(lo, hi int) string {
	switch {
	case hi < 0:
		return strconv.Itoa(lo) + " or more"
	case lo == 0 && hi == 0:
		return "none"
	}
	return strconv.Itoa(hi)
}
