package expr

import "github.com/wgate/wgate/event"

var (
	aText   = param{name: "text", kinds: texts, needs: "a string"}
	aList   = param{name: "list", kinds: lists, needs: "a list"}
	aNumber = param{name: "number", kinds: numbers, needs: "a number"}
	anInt   = param{name: "n", kinds: ints, needs: "an int"}
)

func named(p param, name string) param {
	p.name = name
	return p
}

func fixed(p param, name string) param {
	p.name, p.constant = name, true
	return p
}

// functions are all functions but header, arrival, has and coalesce, which are operations of their own.
var functions = map[string]*function{
	// Text. Lengths and cases are those of Unicode characters, not of bytes.
	"lower":       {params: []param{aText}, result: gives(event.String), run: runLower},
	"upper":       {params: []param{aText}, result: gives(event.String), run: runUpper},
	"trim":        {params: []param{aText}, result: gives(event.String), run: runTrim},
	"split":       {params: []param{aText, named(aText, "separator")}, result: listOfText, run: runSplit},
	"starts_with": {params: []param{aText, named(aText, "prefix")}, result: gives(event.Bool), run: runStartsWith},
	"ends_with":   {params: []param{aText, named(aText, "suffix")}, result: gives(event.Bool), run: runEndsWith},
	"matches": {
		params: []param{aText, fixed(aText, "pattern")}, result: gives(event.Bool),
		prepare: preparePattern, run: runMatches,
	},

	// Text, lists and objects.
	"length": {
		params: []param{{name: "value", kinds: kindsOf(event.String, event.Bytes) | compound, needs: "a string, a list or an object"}},
		result: gives(event.Int), run: runLength,
	},
	"contains": {
		params: []param{{name: "in", kinds: texts | lists, needs: "a string or a list"}, {name: "what", kinds: anything}},
		result: gives(event.Bool), run: runContains,
	},

	// Conversions.
	"to_string":  {params: []param{{name: "value", kinds: present, needs: "a value"}}, result: gives(event.String), run: runToString},
	"to_int":     {params: []param{{name: "value", kinds: numbers | texts | times | kindsOf(event.Span), needs: "a number, a string, a time or a duration"}}, result: gives(event.Int), run: runToInt},
	"to_decimal": {params: []param{{name: "value", kinds: numbers | texts, needs: "a number or a string"}}, result: gives(event.Decimal128), run: runToDecimal},
	"to_float":   {params: []param{{name: "value", kinds: numbers | texts, needs: "a number or a string"}}, result: gives(event.Float), run: runToFloat},
	"hash":       {params: []param{{name: "value", kinds: anything}}, result: gives(event.Int), run: runHash},

	// Time.
	"timestamp": {
		params:   []param{{name: "value", kinds: numbers | texts | times, needs: "a number, a string or a time"}, fixed(aText, "unit")},
		optional: 1, result: gives(event.Instant), prepare: prepareUnit, run: runTimestamp,
	},
	"duration": {
		params: []param{{name: "value", kinds: ints | texts | kindsOf(event.Span), needs: "a string with a unit, or milliseconds"}},
		result: gives(event.Span), run: runDuration,
	},
	"format_time": {
		params:   []param{{name: "time", kinds: times, needs: "a time"}, fixed(aText, "format"), fixed(aText, "offset")},
		optional: 1, result: gives(event.String), prepare: prepareFormat, run: runFormatTime,
	},

	// Numbers.
	"abs":   {params: []param{aNumber}, result: same, run: runAbs},
	"round": {params: []param{aNumber, named(anInt, "digits")}, optional: 1, result: same, run: runRound},
	"min":   {params: []param{{name: "value", kinds: scalars | lists, needs: "a number, text or time, or one list of them"}}, variadic: true, result: leastType, prepare: prepareElem, run: runMin},
	"max":   {params: []param{{name: "value", kinds: scalars | lists, needs: "a number, text or time, or one list of them"}}, variadic: true, result: leastType, prepare: prepareElem, run: runMax},

	// Lists and objects.
	"at":       {params: []param{aList, named(anInt, "index")}, result: elemType, prepare: prepareElem, run: runAt},
	"first":    {params: []param{aList}, result: elemType, prepare: prepareElem, run: runFirst},
	"last":     {params: []param{aList}, result: elemType, prepare: prepareElem, run: runLast},
	"slice":    {params: []param{aList, named(anInt, "from"), named(anInt, "to")}, optional: 1, result: same, run: runSlice},
	"reverse":  {params: []param{aList}, result: same, run: runReverse},
	"sort":     {params: []param{aList}, result: same, prepare: prepareElem, run: runSort},
	"distinct": {params: []param{aList}, result: same, run: runDistinct},
	"flatten":  {params: []param{aList}, result: flatType, run: runFlatten},
	"concat":   {params: []param{aList}, variadic: true, result: concatType, run: runConcat},
	"sum":      {params: []param{aList}, result: sumType, prepare: prepareElem, run: runSum},
	"join":     {params: []param{aList, named(aText, "separator")}, result: gives(event.String), prepare: prepareElem, run: runJoin},
	"keys":     {params: []param{{name: "object", kinds: objects, needs: "an object"}}, result: listOfText, run: runKeys},
	"values":   {params: []param{{name: "object", kinds: objects, needs: "an object"}}, result: gives(event.List), run: runValues},
}

// prepareElem keeps the declared type of a list's elements.
func prepareElem(args []*typed) (any, error) { return known(elem(args[0].typ)), nil }

func listOfText([]*typed) event.Type { return listOf(event.Of(event.String)) }

// elemType is the type of an element that may not be there.
func elemType(args []*typed) event.Type { return optional(elem(args[0].typ)) }

func leastType(args []*typed) event.Type {
	if len(args) == 1 {
		if args[0].typ.Kind == event.List {
			return elemType(args)
		}
		return args[0].typ
	}
	t := args[0].typ
	for _, a := range args[1:] {
		t, _ = unify(t, a.typ)
	}
	return t
}

func flatType(args []*typed) event.Type {
	e := elem(args[0].typ)
	if e.Kind == event.List {
		return listOf(elem(e))
	}
	return event.Of(event.List)
}

func concatType(args []*typed) event.Type {
	t := args[0].typ
	for _, a := range args[1:] {
		t, _ = unify(t, a.typ)
	}
	if t.Kind != event.List {
		return event.Of(event.List)
	}
	t.Optional = false
	return t
}

// sumType: an empty list sums to the int 0.
func sumType(args []*typed) event.Type {
	if elem(args[0].typ).Kind == event.Int {
		return event.Of(event.Int)
	}
	return event.Any
}
