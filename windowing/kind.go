package windowing

// Kind is a kind of window: the label of a window block.
type Kind uint8

// The kinds of windows. Global is the zero Kind and the default.
const (
	Global Kind = iota
	Fixed
	Sliding
	Cumulative
	Session
	Calendar
	Count
	Custom
)

// Attribute is one attribute of a window block.
type Attribute struct {
	Name     string
	Required bool
}

type kindInfo struct {
	name  string
	attrs []Attribute
}

var kinds = [...]kindInfo{
	Global:     {"global", nil},
	Fixed:      {"fixed", []Attribute{{"size", true}, {"offset", false}}},
	Sliding:    {"sliding", []Attribute{{"size", true}, {"period", true}, {"offset", false}}},
	Cumulative: {"cumulative", []Attribute{{"size", true}, {"step", true}}},
	Session:    {"session", []Attribute{{"gap", true}, {"boundary", false}, {"max", false}}},
	Calendar:   {"calendar", []Attribute{{"unit", true}, {"timezone", false}, {"week_start", false}}},
	Count:      {"count", []Attribute{{"size", true}, {"slide", false}}},
	Custom:     {"custom", []Attribute{{"use", true}}},
}

// String returns the label that a window block of the kind has.
func (k Kind) String() string { return kinds[k].name }

// Attributes returns the attributes that a window block of the kind may have. The slice must not be changed.
func (k Kind) Attributes() []Attribute { return kinds[k].attrs }

// Merging reports whether windows of the kind merge.
func (k Kind) Merging() bool { return k == Session || k == Custom }

// Lookup returns the kind of a window block's label.
func Lookup(name string) (Kind, bool) {
	for k := range kinds {
		if kinds[k].name == name {
			return Kind(k), true
		}
	}
	return Global, false
}

// Names returns the labels of all kinds, for suggestions.
func Names() []string {
	names := make([]string, len(kinds))
	for k := range kinds {
		names[k] = kinds[k].name
	}
	return names
}
