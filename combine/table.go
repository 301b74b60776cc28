package combine

import (
	"fmt"

	"github.com/wgate/wgate/event"
)

// Sig is what the plan needs to know of an aggregate function before the first record.
type Sig struct {
	Name       string
	MinArgs    int
	MaxArgs    int
	Invertible bool // an element can be taken back out of an accumulator

	takes  kindSet
	result func(arg event.Type) event.Type
	make   func(arg event.Type) Func
}

// kindSet is a set of kinds, one bit each.
type kindSet uint32

func setOf(kinds ...event.Kind) (s kindSet) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

func (s kindSet) has(k event.Kind) bool { return s>>k&1 != 0 }

var (
	nulls    = setOf(event.Missing, event.Null)
	numbers  = setOf(event.Int, event.Decimal128, event.Float)
	ordered  = numbers | setOf(event.Bool, event.String, event.Bytes, event.Instant, event.Span)
	anything = ordered | setOf(event.List, event.Object, event.JSON)
)

func always(t event.Type) func(event.Type) event.Type {
	return func(event.Type) event.Type { return t }
}

func same(arg event.Type) event.Type {
	arg.Optional = !arg.IsAny()
	return arg
}

func optional(k event.Kind) event.Type { return event.Type{Kind: k, Optional: true} }

// sumType is int over nothing, so an argument of which nothing is known stays unknown.
func sumType(arg event.Type) event.Type { return event.Of(arg.Kind) }

func listType(arg event.Type) event.Type {
	arg.Optional = false
	return event.Type{Kind: event.List, Elem: &arg}
}

var table = []Sig{
	{Name: "count", MaxArgs: 1, Invertible: true, takes: anything, result: always(event.Of(event.Int)), make: newCount},
	{Name: "sum", MinArgs: 1, MaxArgs: 1, Invertible: true, takes: numbers, result: sumType, make: newSum},
	{Name: "mean", MinArgs: 1, MaxArgs: 1, Invertible: true, takes: numbers, result: always(optional(event.Float)), make: newMean},
	{Name: "min", MinArgs: 1, MaxArgs: 1, takes: ordered, result: same, make: newMin},
	{Name: "max", MinArgs: 1, MaxArgs: 1, takes: ordered, result: same, make: newMax},
	{Name: "first", MinArgs: 1, MaxArgs: 1, takes: anything, result: same, make: newFirst},
	{Name: "last", MinArgs: 1, MaxArgs: 1, takes: anything, result: same, make: newLast},
	{Name: "list", MinArgs: 1, MaxArgs: 1, takes: anything, result: listType, make: newList},
	{Name: "variance", MinArgs: 1, MaxArgs: 1, Invertible: true, takes: numbers, result: always(optional(event.Float)), make: newVariance},
	{Name: "stddev", MinArgs: 1, MaxArgs: 1, Invertible: true, takes: numbers, result: always(optional(event.Float)), make: newStddev},
	{Name: "set", MinArgs: 1, MaxArgs: 1, Invertible: true, takes: anything, result: listType, make: newSet},
	{Name: "count_distinct", MinArgs: 1, MaxArgs: 1, Invertible: true, takes: anything, result: always(event.Of(event.Int)), make: newCountDistinct},
	{Name: "any", MinArgs: 1, MaxArgs: 1, Invertible: true, takes: setOf(event.Bool), result: always(event.Of(event.Bool)), make: newAny},
	{Name: "all", MinArgs: 1, MaxArgs: 1, Invertible: true, takes: setOf(event.Bool), result: always(event.Of(event.Bool)), make: newAll},
}

// later are functions of the language that this version cannot run.
var later = []string{"approx_distinct", "approx_percentile", "top", "histogram"}

// Lookup returns the function of a name.
func Lookup(name string) (Sig, bool) {
	for i := range table {
		if table[i].Name == name {
			return table[i], true
		}
	}
	return Sig{}, false
}

// Later reports whether name is a function of the language that is not available in this version.
func Later(name string) bool {
	for _, n := range later {
		if n == name {
			return true
		}
	}
	return false
}

// InvertibleNames returns the names of the functions that can take elements back, for advice.
func InvertibleNames() []string {
	var names []string
	for i := range table {
		if table[i].Invertible {
			names = append(names, table[i].Name)
		}
	}
	return names
}

// Names returns the names of all functions, for suggestions.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	return names
}

// Result returns the type of the function's result for arguments of these types. The error says what is wrong with the
// arguments: their number, or the type of one.
func (s Sig) Result(args []event.Type) (event.Type, error) {
	arg, err := s.check(args)
	if err != nil {
		return event.Type{}, err
	}
	return s.result(arg), nil
}

// New returns the function for arguments of these types.
func (s Sig) New(args []event.Type) (Func, error) {
	arg, err := s.check(args)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return newCountRows(), nil
	}
	return s.make(arg), nil
}

func (s Sig) check(args []event.Type) (event.Type, error) {
	if len(args) < s.MinArgs || len(args) > s.MaxArgs {
		want := "one argument"
		if s.MinArgs != s.MaxArgs {
			want = "at most one argument"
		}
		return event.Type{}, fmt.Errorf("%s takes %s, not %d", s.Name, want, len(args))
	}
	if len(args) == 0 {
		return event.Any, nil
	}
	arg := args[0]
	if k := arg.Kind; k != event.Missing && k != event.JSON && !(s.takes | nulls).has(k) {
		return event.Type{}, fmt.Errorf("%s cannot take %s", s.Name, arg)
	}
	return arg, nil
}
