package triggers

// Kind is what a node of a trigger is: the name of a function of the trigger language.
type Kind uint8

// The kinds of triggers. The zero Kind is no trigger at all.
const (
	None Kind = iota
	AfterWatermark
	AfterCount
	AfterDelay
	Every
	Never
	Any
	All
	Sequence
	Repeat
	RepeatUntil
	// Known names that this version cannot run yet.
	AfterWatermarkPercentile
	AfterBytes
	AfterMatch
	AfterPattern
	OnSignal
	WhenMetric
	Plugin
)

var names = [...]string{
	None:                     "",
	AfterWatermark:           "after_watermark",
	AfterCount:               "after_count",
	AfterDelay:               "after_delay",
	Every:                    "every",
	Never:                    "never",
	Any:                      "any",
	All:                      "all",
	Sequence:                 "sequence",
	Repeat:                   "repeat",
	RepeatUntil:              "repeat_until",
	AfterWatermarkPercentile: "after_watermark_percentile",
	AfterBytes:               "after_bytes",
	AfterMatch:               "after_match",
	AfterPattern:             "after_pattern",
	OnSignal:                 "on_signal",
	WhenMetric:               "when_metric",
	Plugin:                   "plugin",
}

// String returns the function's name in the trigger language.
func (k Kind) String() string { return names[k] }

// Available reports whether this version can run triggers of the kind.
func (k Kind) Available() bool { return k > None && k < AfterWatermarkPercentile }

// Lookup returns the kind of a function name of the trigger language. Names of triggers that are not available in this
// version are found too.
func Lookup(name string) (Kind, bool) {
	for k := AfterWatermark; k < Plugin; k++ {
		if names[k] == name {
			return k, true
		}
	}
	return None, false
}

// Names returns the names of all trigger functions that this version can run, for suggestions.
func Names() []string {
	return append([]string(nil), names[AfterWatermark:AfterWatermarkPercentile]...)
}

// Arity returns how many triggers or values the function takes: at least lo, at most hi; a hi of -1 is no limit.
// after_watermark takes at most its object of early and late.
func (k Kind) Arity() (lo, hi int) {
	switch k {
	case AfterCount, AfterDelay, Every, Repeat:
		return 1, 1
	case Any, All, Sequence:
		return 1, -1
	case RepeatUntil:
		return 2, 2
	case AfterWatermark:
		return 0, 1
	}
	return 0, 0
}
