package config

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// TestSuffix is how the name of a file of scenarios ends.
const TestSuffix = ".wgtest.hcl"

// LoadTests reads a file of scenarios and the pipeline that it holds or names. The diagnostics are of the file as a whole;
// what is wrong with one scenario does not keep the others from running: see Problems and Pipeline. Tests is nil if any
// diagnostic is an error.
func LoadTests(path string, opts Options) (*Tests, hcl.Diagnostics) {
	ld := newLoader(opts)
	t := &Tests{Path: filepath.Clean(path), opts: ld.opts}
	src, err := ld.opts.ReadFile(t.Path)
	if err != nil {
		ld.noFile("File cannot be read", fmt.Sprintf("%s: %s. Check the path and its permissions.", path, cause(err)))
		return nil, ld.order(ld.diags)
	}
	hb := ld.parseBody(t.Path, src)
	if hb == nil {
		return nil, ld.order(ld.diags)
	}
	scenarios := ld.splitTests(t, hb, src)
	for _, b := range ld.bodies {
		ld.takeBlocks(b)
	}
	if !ld.diags.HasErrors() {
		ld.readConstants()
	}
	if len(scenarios) == 0 {
		ld.noFile("No scenario", t.Path+` has no scenario block: scenario "what happens" { ... }.`)
	}
	if !ld.diags.HasErrors() {
		ld.readScenarios(t, scenarios)
	}
	t.bodies, t.files, t.texts = ld.bodies, ld.p.files, ld.texts
	diags := ld.order(ld.diags)
	if diags.HasErrors() {
		return nil, diags
	}
	return t, diags
}

// splitTests takes the scenarios out of a file and finds the pipeline: the other blocks, or the file that the attribute
// pipeline names.
func (ld *loader) splitTests(t *Tests, hb *hclsyntax.Body, src []byte) (scenarios []*hclsyntax.Block) {
	own := *hb
	own.Blocks, own.Attributes = nil, maps.Clone(hb.Attributes)
	for _, b := range hb.Blocks {
		if b.Type == "scenario" {
			scenarios = append(scenarios, b)
		} else {
			own.Blocks = append(own.Blocks, b)
		}
	}
	a := own.Attributes["pipeline"]
	if a == nil {
		ld.bodies, ld.p.files = []*hclsyntax.Body{&own}, []Text{{t.Path, src}}
		return scenarios
	}
	delete(own.Attributes, "pipeline")
	for _, other := range sorted(own.Attributes) {
		ld.fail(other.NameRange, "Attribute outside of a block", "Beside scenarios a file has blocks of a pipeline, or pipeline = \"FILE\".")
	}
	if len(own.Blocks) > 0 {
		ld.fail(own.Blocks[0].DefRange(), "Two pipelines", "The file names a pipeline at %s, so that it cannot have blocks of one. Remove one of the two.", at(a.NameRange))
		return scenarios
	}
	top := body{ld: ld, hb: &own, what: "the file"}
	path := top.textOf(a, "")
	if path == "" {
		return scenarios
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(t.Path), path)
	}
	for _, name := range ld.collect([]string{path}) {
		text, err := ld.opts.ReadFile(name)
		if err != nil {
			ld.fail(a.Expr.Range(), "File cannot be read", "%s: %s. The path is relative to the file that names it.", name, cause(err))
			continue
		}
		ld.parse(name, text)
	}
	return scenarios
}

// readScenarios reads the scenarios one by one, each with diagnostics of its own.
func (ld *loader) readScenarios(t *Tests, blocks []*hclsyntax.Block) {
	first := map[string]hcl.Range{}
	for _, b := range blocks {
		name := ""
		switch {
		case len(b.Labels) != 1:
			ld.fail(b.DefRange(), "Wrong number of labels", `A scenario has one label, which says what happens: scenario "a late datum refines the window" { ... }.`)
			continue
		case strings.TrimSpace(b.Labels[0]) == "":
			ld.fail(b.LabelRanges[0], "Invalid name", "The name of a scenario says what happens; it must not be empty.")
			continue
		default:
			name = b.Labels[0]
		}
		if prev, ok := first[name]; ok {
			ld.fail(b.DefRange(), "Duplicate block", "There is a scenario %q already at %s. Give one of the two another name.", name, at(prev))
			continue
		}
		first[name] = b.DefRange()
		file := ld.diags
		ld.diags = nil
		s := ld.readScenario(name, b)
		s.diags = ld.order(ld.diags)
		ld.diags = file
		t.Scenarios = append(t.Scenarios, s)
	}
}

// override changes the blocks of the pipeline as the scenario's config blocks say: an attribute replaces the one of its
// name, a nested block the one of its type.
func (ld *loader) override() {
	for _, c := range ld.scenario.configs {
		i := slices.IndexFunc(ld.blocks, func(b *topBlock) bool { return b.kind+"."+b.name == c.name })
		if i < 0 {
			var names []string
			for _, b := range ld.blocks {
				if b.name != "" {
					names = append(names, b.kind+"."+b.name)
				}
			}
			hint := didYouMean(c.name, names)
			if hint == "" {
				hint = " There are: " + enumerate(names) + "."
			}
			ld.fail(c.head, "Unknown block", "The pipeline has no block %s.%s", c.name, hint)
			continue
		}
		b := *ld.blocks[i]
		hb := *b.hb
		hb.Attributes, hb.Blocks = maps.Clone(hb.Attributes), slices.Clone(hb.Blocks)
		if hb.Attributes == nil {
			hb.Attributes = hclsyntax.Attributes{}
		}
		maps.Copy(hb.Attributes, c.hb.Attributes)
		for _, in := range c.hb.Blocks {
			hb.Blocks = slices.DeleteFunc(hb.Blocks, func(old *hclsyntax.Block) bool { return old.Type == in.Type && !slices.Contains(c.hb.Blocks, old) })
			hb.Blocks = append(hb.Blocks, in)
		}
		b.hb = &hb
		ld.blocks[i] = &b
	}
}

// watch makes the scenario a reader of the collections that its steps name, and of the late rows of every aggregate that
// they name, and checks that the sources and sinks are there.
func (ld *loader) watch() {
	seen := map[string]bool{}
	for i := range ld.scenario.Steps {
		st := &ld.scenario.Steps[i]
		switch st.Kind {
		case Arrive, Mark, Idle:
			ld.exists(Ref{Kind: "source", Name: st.Name, Pos: st.Pos})
		case Expect, ExpectNone:
			if r, ok := ld.collection(st); ok && r.Kind != "sink" && !seen[r.ID()] {
				seen[r.ID()] = true
				ld.tap(r)
			}
		}
	}
	for _, a := range ld.p.Aggregates {
		late := Ref{Kind: "aggregate", Name: a.Name, Tag: "late", Pos: a.Pos}
		main := late
		main.Tag = ""
		if seen[main.ID()] && !seen[late.ID()] && a.Late != "drop" {
			ld.tap(late)
		}
	}
}

// tap makes the scenario a reader of r.
func (ld *loader) tap(r Ref) {
	ld.p.Taps = append(ld.p.Taps, r)
	b := &topBlock{body: body{ld: ld, what: "the scenario", head: rangeOf(r.Pos)}, kind: "sink"}
	ld.graph.add(Ref{Kind: "sink", Name: "scenario reads " + r.ID()}, b, []Ref{r}, func(*vertex, flow) {})
}

// collection reads the label of an expect block: source.NAME, transform.NAME[.TAG], aggregate.NAME[.late] or sink.NAME.
func (ld *loader) collection(st *Step) (Ref, bool) {
	parts := strings.Split(st.Name, ".")
	r := Ref{Kind: parts[0], Pos: st.Pos}
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) == 3 {
		r.Tag = parts[2]
	}
	known := slices.Contains(append(slices.Clone(collections), "sink"), r.Kind)
	switch {
	case !known && slices.Contains(laterKinds, r.Kind):
		ld.later(rangeOf(st.Pos), fmt.Sprintf("A block of kind %q", r.Kind))
		return r, false
	case !known || len(parts) < 2 || len(parts) > 3 || r.Kind == "sink" && r.Tag != "":
		ld.fail(rangeOf(st.Pos), "Invalid reference", "%q is no collection. Write source.NAME, transform.NAME, aggregate.NAME, aggregate.NAME.late or sink.NAME.", st.Name)
		return r, false
	}
	if r.Kind != "sink" || ld.graph.find(r) != nil {
		return r, true
	}
	var names []string
	for _, s := range ld.p.Sinks {
		names = append(names, "sink."+s.Name)
	}
	hint := didYouMean(st.Name, names)
	if hint == "" && len(names) > 0 {
		hint = " There are: " + enumerate(names) + "."
	}
	ld.fail(rangeOf(st.Pos), "Unknown reference", "There is no sink %q.%s", r.Name, hint)
	return r, false
}
