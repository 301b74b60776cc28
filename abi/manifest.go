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

// maxTags is how many side outputs a function may have.
const maxTags = 1000

// ManifestSection is the name of the custom section that holds the manifest.
const ManifestSection = "wgate:manifest"

// ErrManifest is what every error about a manifest's text wraps.
var ErrManifest = errors.New("bad manifest")

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// ParseManifest reads and checks a manifest. Fields that it does not know are skipped.
func ParseManifest(text []byte) (*Manifest, error) {
	m, wrong := ReadManifest(text)
	if len(wrong) > 0 {
		return nil, wrong[0]
	}
	return m, nil
}

// ReadManifest is ParseManifest, but returns everything that is wrong. If something is, the manifest is good for messages
// alone; it is nil if it cannot be read at all.
func ReadManifest(text []byte) (m *Manifest, wrong []error) {
	fail := func(format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("%w: "+format, append([]any{ErrManifest}, args...)...))
	}
	if len(text) > MaxManifest {
		fail("%d bytes, at most %d are allowed", len(text), MaxManifest)
		return nil, wrong
	}
	m = &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		fail("%w", err)
		return nil, wrong
	}
	if m.ABI != Major {
		fail("it is for ABI %d, this wgate speaks %d", m.ABI, Major)
	}
	if len(m.Functions) == 0 {
		fail("it names no function")
	}
	seen := map[string]bool{}
	for i, f := range m.Functions {
		if int(f.ID) != i {
			fail("function %q has id %d in place %d", f.Name, f.ID, i)
		}
		switch {
		case !plainName.MatchString(f.Name):
			fail("function name %q: letters, digits and _ are allowed", f.Name)
		case seen[f.Name]:
			fail("function %q occurs twice", f.Name)
		}
		seen[f.Name] = true
		switch {
		case f.Kind == KindCombiner && (f.Args < 1 || f.Args > maxArgs):
			fail("combiner %q takes %d arguments, 1 to %d are allowed", f.Name, f.Args, maxArgs)
		case f.Kind != KindDoFn && f.Kind != KindCombiner:
			fail("function %q is of kind %q, which is not available in this version", f.Name, f.Kind)
		}
		if len(f.Tags) > maxTags {
			fail("function %q has %d tags", f.Name, len(f.Tags))
			continue
		}
		tags := map[string]bool{}
		for _, t := range f.Tags {
			if !plainName.MatchString(t) || tags[t] {
				fail("function %q: tag %q is no plain name or occurs twice", f.Name, t)
			}
			tags[t] = true
		}
	}
	return m, wrong
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
