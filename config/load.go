package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Options are what a load needs beside the files of the pipeline. The zero Options are good.
type Options struct {
	// Vars are the values of --var NAME=VALUE. They win over VarFiles, which win over defaults.
	Vars map[string]string
	// VarFiles are the paths of files with lines NAME = VALUE; a later file wins over an earlier one.
	VarFiles []string
	// Getenv finds the variable of env("NAME"). If it is nil, secrets are not looked up and stay empty: so that a pipeline can
	// be validated on a machine that does not have them.
	Getenv func(name string) (value string, ok bool)
	// ReadFile reads every file: pipelines, VarFiles and file("path"). Nil means os.ReadFile.
	ReadFile func(path string) ([]byte, error)
}

// Load reads the pipeline that paths name: each is a file, or a folder whose *.hcl files (without *.wgtest.hcl) are read
// in the order of their names. All files together are one pipeline. The pipeline is nil if any diagnostic is an error.
func Load(paths []string, opts Options) (*Pipeline, hcl.Diagnostics) {
	ld := newLoader(opts)
	for _, name := range ld.collect(paths) {
		src, err := ld.opts.ReadFile(name)
		if err != nil {
			ld.noFile("File cannot be read", fmt.Sprintf("%s: %s. Check the path and its permissions.", name, cause(err)))
			ld.broken = true
			continue
		}
		ld.parse(name, src)
	}
	return ld.finish()
}

// LoadBytes reads a pipeline of one file whose text is at hand, for example one that was uploaded. Paths of plugins are
// relative to the folder of name, which may be made up.
func LoadBytes(name string, src []byte, opts Options) (*Pipeline, hcl.Diagnostics) {
	return LoadTexts([]Text{{name, src}}, opts)
}

// LoadTexts is LoadBytes for a pipeline of several files.
func LoadTexts(texts []Text, opts Options) (*Pipeline, hcl.Diagnostics) {
	ld := newLoader(opts)
	for _, t := range texts {
		ld.parse(t.Name, t.Src)
	}
	return ld.finish()
}

// Text is a pipeline file: its path and what it holds.
type Text struct {
	Name string
	Src  []byte
}

// Texts returns the files that the pipeline was read from, in the order in which they were read. LoadTexts makes the same
// pipeline of them, given the same variables. The caller must not change them.
func (p *Pipeline) Texts() []Text { return p.files }

// loader is one run of Load: what was read so far and all that was found wrong with it.
type loader struct {
	opts   Options
	texts  map[string][]byte // source text of every file, for snippets
	bodies []*hclsyntax.Body
	broken bool // a file is missing or has a syntax error, or there are too many blocks
	diags  hcl.Diagnostics

	p       *Pipeline
	policy  ErrorPolicy // of pipeline { }
	consts  constants
	blocks  []*topBlock
	brokers map[string]*Broker
	plugins map[string]*Plugin
	graph   graph

	scenario *Scenario // whose pipeline this is; nil outside of a test
}

func newLoader(opts Options) *loader {
	if opts.ReadFile == nil {
		opts.ReadFile = os.ReadFile
	}
	return &loader{
		opts:    opts,
		texts:   map[string][]byte{},
		p:       &Pipeline{},
		brokers: map[string]*Broker{},
		plugins: map[string]*Plugin{},
	}
}

// collect resolves folders to the files in them.
func (ld *loader) collect(paths []string) []string {
	var files []string
	if len(paths) == 0 {
		ld.noFile("No pipeline given", "Name a .hcl file, or a folder that has some.")
	}
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil || !info.IsDir() {
			files = append(files, p) // reading it says what is wrong
			continue
		}
		entries, err := os.ReadDir(p)
		if err != nil {
			ld.noFile("Folder cannot be read", fmt.Sprintf("%s: %s.", p, cause(err)))
			continue
		}
		n := len(files)
		for _, e := range entries {
			if !e.IsDir() && strings.HasSuffix(e.Name(), ".hcl") && !strings.HasSuffix(e.Name(), TestSuffix) {
				files = append(files, filepath.Join(p, e.Name()))
			}
		}
		if len(files) == n {
			ld.noFile("No pipeline in folder", fmt.Sprintf("%s has no .hcl file (*.wgtest.hcl files are tests).", p))
			ld.broken = true
		}
	}
	seen := map[string]bool{}
	unique := files[:0]
	for _, f := range files {
		if f = filepath.Clean(f); !seen[f] {
			seen[f] = true
			unique = append(unique, f)
		}
	}
	return unique
}

// cause is the part of a file's error that does not repeat its path.
func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// parse reads one file into ld.bodies.
func (ld *loader) parse(name string, src []byte) {
	if body := ld.parseBody(name, src); body != nil {
		ld.bodies = append(ld.bodies, body)
		ld.p.files = append(ld.p.files, Text{name, src})
	} else {
		ld.broken = true
	}
}

// parseBody returns the body of a file, nil if it could not be read. A repeated attribute is reported, but does not keep
// the rest of the file from being checked.
func (ld *loader) parseBody(name string, src []byte) (body *hclsyntax.Body) {
	ld.texts[name] = src
	if d := prescan(name, src); d != nil {
		ld.diags = append(ld.diags, d)
		return nil
	}
	defer func() {
		if r := recover(); r != nil { // a bug of the parser must not end the node that a file was sent to
			ld.noFile("File cannot be parsed", fmt.Sprintf("%s: the parser gave up (%v). Look for what is unusual in it.", name, r))
			body = nil
		}
	}()
	file, diags := hclsyntax.ParseConfig(hideCalls(src, name), name, hcl.InitialPos)
	syntax := false
	for _, d := range diags {
		switch {
		case d.Summary == "Attribute redefined":
			d.Detail += " Remove one of the two."
		case d.Severity == hcl.DiagError:
			syntax = true
		}
		ld.diags = append(ld.diags, d)
	}
	if syntax {
		return nil
	}
	return file.Body.(*hclsyntax.Body)
}

// finish checks what was parsed. If a file could not be read or has a syntax error nothing more is checked: what was not
// understood would be reported as missing.
func (ld *loader) finish() (*Pipeline, hcl.Diagnostics) {
	if !ld.broken && len(ld.bodies) > 0 {
		ld.check()
	}
	ld.diags = ld.order(ld.diags)
	if ld.diags.HasErrors() {
		return nil, ld.diags
	}
	ld.p.texts = ld.texts
	return ld.p, ld.diags
}

// check reads all blocks and fills the pipeline in.
func (ld *loader) check() {
	for _, b := range ld.bodies {
		ld.takeBlocks(b)
	}
	if ld.broken {
		return
	}
	if ld.scenario != nil {
		ld.override()
	}
	ld.readConstants()
	ld.readPipeline()
	ld.each("broker", ld.readBroker)
	ld.each("plugin", ld.readPlugin)
	ld.each("source", ld.declareSource)
	ld.each("transform", ld.declareTransform)
	ld.each("aggregate", ld.declareAggregate)
	ld.each("sink", ld.declareSink)
	if len(ld.p.Sources) == 0 && !ld.diags.HasErrors() {
		ld.noFile("No source", "A pipeline reads at least one source: add a source block.")
	}
	if ld.scenario != nil {
		ld.watch()
	}
	ld.resolve()
	ld.flow()
}

// maxDiags is how many diagnostics a load gives; a file of nonsense has one in every byte.
const maxDiags = 100

// order sorts diagnostics by place, drops repeats, cuts the list and gives each the text to show a snippet of.
func (ld *loader) order(diags hcl.Diagnostics) hcl.Diagnostics {
	sort.SliceStable(diags, func(i, j int) bool {
		a, b := diags[i].Subject, diags[j].Subject
		switch {
		case a == nil || b == nil:
			return a == nil && b != nil
		case a.Filename != b.Filename:
			return a.Filename < b.Filename
		}
		return a.Start.Byte < b.Start.Byte
	})
	var out hcl.Diagnostics
	for i, d := range diags {
		if i > 0 && same(d, diags[i-1]) {
			continue
		}
		if len(out) == maxDiags {
			more := &hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Too many mistakes",
				Detail:   fmt.Sprintf("%d more are not shown. Mend those above first.", len(diags)-i),
			}
			return append(out, more)
		}
		if d.Subject != nil && d.Extra == nil {
			d.Extra = sourceText(ld.texts[d.Subject.Filename])
		}
		out = append(out, d)
	}
	return out
}

func same(a, b *hcl.Diagnostic) bool {
	return a.Summary == b.Summary && a.Detail == b.Detail && a.Subject != nil && b.Subject != nil && *a.Subject == *b.Subject
}
