package abi

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// Manifest is what a plugin says of itself, in the custom section ManifestSection of its file.
type Manifest struct {
	ABI          int             `json:"abi"`
	Name         string          `json:"name"`
	Version      string          `json:"version,omitempty"`
	SDK          string          `json:"sdk,omitempty"` // such as "go 0.1.0"
	Functions    []Function      `json:"functions"`
	Config       json.RawMessage `json:"config,omitempty"` // schema of the configuration
	Capabilities []string        `json:"capabilities,omitempty"`
}

// Function is one function of a plugin.
type Function struct {
	ID   uint32   `json:"id"`   // its place in Manifest.Functions
	Name string   `json:"name"` // as in plugin.NAME.FUNCTION
	Kind string   `json:"kind"` // KindDoFn or KindCombiner
	Tags []string `json:"tags,omitempty"`
	Pure bool     `json:"pure,omitempty"` // the same row always gives the same output

	// Of a combiner: how many arguments it takes, whether it refuses no row, whether it can take elements back.
	Args      int  `json:"args,omitempty"`
	Total     bool `json:"total,omitempty"`
	Uncombine bool `json:"uncombine,omitempty"`
}

// The kinds of functions. window_fn, trigger and estimator are not available in this version.
const (
	KindDoFn     = "dofn"
	KindCombiner = "combiner"
)

// maxArgs is how many arguments a combiner may take.
const maxArgs = 32

// ManifestSection is the name of the custom section that holds the manifest.
const ManifestSection = "wgate:manifest"

// ErrManifest is what every error about a manifest's text wraps.
var ErrManifest = errors.New("bad manifest")

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// ParseManifest reads and checks a manifest. Fields that it does not know are skipped.
func ParseManifest(text []byte) (*Manifest, error) {
	if len(text) > MaxManifest {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrManifest, len(text), MaxManifest)
	}
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if m.ABI != Major {
		return nil, fmt.Errorf("%w: it is for ABI %d, this wgate speaks %d", ErrManifest, m.ABI, Major)
	}
	if len(m.Functions) == 0 {
		return nil, fmt.Errorf("%w: it names no function", ErrManifest)
	}
	seen := map[string]bool{}
	for i, f := range m.Functions {
		switch {
		case int(f.ID) != i:
			return nil, fmt.Errorf("%w: function %q has id %d in place %d", ErrManifest, f.Name, f.ID, i)
		case !plainName.MatchString(f.Name):
			return nil, fmt.Errorf("%w: function name %q: letters, digits and _ are allowed", ErrManifest, f.Name)
		case seen[f.Name]:
			return nil, fmt.Errorf("%w: function %q occurs twice", ErrManifest, f.Name)
		case f.Kind == KindCombiner && (f.Args < 1 || f.Args > maxArgs):
			return nil, fmt.Errorf("%w: combiner %q takes %d arguments, 1 to %d are allowed", ErrManifest, f.Name, f.Args, maxArgs)
		case f.Kind != KindDoFn && f.Kind != KindCombiner:
			return nil, fmt.Errorf("%w: function %q is of kind %q, which is not available in this version", ErrManifest, f.Name, f.Kind)
		case len(f.Tags) > 1000:
			return nil, fmt.Errorf("%w: function %q has %d tags", ErrManifest, f.Name, len(f.Tags))
		}
		seen[f.Name] = true
		if err := checkTags(f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func checkTags(f Function) error {
	seen := map[string]bool{}
	for _, t := range f.Tags {
		if !plainName.MatchString(t) || seen[t] {
			return fmt.Errorf("%w: function %q: tag %q is no plain name or occurs twice", ErrManifest, f.Name, t)
		}
		seen[t] = true
	}
	return nil
}

// Function returns the function called name, nil if there is none.
func (m *Manifest) Function(name string) *Function {
	for i := range m.Functions {
		if m.Functions[i].Name == name {
			return &m.Functions[i]
		}
	}
	return nil
}

// Tag returns the number of the side output called name, 0 for the main output "", -1 if there is none.
func (f *Function) Tag(name string) int {
	if name == "" {
		return 0
	}
	for i, t := range f.Tags {
		if t == name {
			return i + 1
		}
	}
	return -1
}
