package config

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// topBlock is a block at the top of a file.
type topBlock struct {
	body
	kind string
	name string // its label; empty for a kind without labels
}

// body reads one block. Its readers report what is wrong and then return the default, so that all mistakes of a block are
// found in one go.
type body struct {
	ld   *loader
	hb   *hclsyntax.Body
	what string    // how messages call the block: aggregate "sums"
	head hcl.Range // type and labels
}

func (ld *loader) bodyOf(b *hclsyntax.Block) body {
	what := b.Type
	for _, l := range b.Labels {
		what += fmt.Sprintf(" %q", l)
	}
	return body{ld: ld, hb: b.Body, what: what, head: b.DefRange()}
}

// takeBlocks sorts the blocks at the top of a file into ld.blocks and reports those that cannot be.
func (ld *loader) takeBlocks(hb *hclsyntax.Body) {
	for _, a := range sorted(hb.Attributes) {
		ld.fail(a.NameRange, "Attribute outside of a block",
			"At the top of a file only blocks may stand. Put %q into the block that it belongs to; constants go into local { }.", a.Name)
	}
	for _, b := range hb.Blocks {
		if len(ld.blocks) == maxBlocks {
			ld.fail(b.DefRange(), "Too many blocks", "A pipeline may have %d blocks. Make several pipelines of it.", maxBlocks)
			ld.broken = true
			return
		}
		k := kindOf(b.Type)
		if k == nil {
			ld.unknownKind(b)
			continue
		}
		name, ok := ld.label(b, k.labels)
		if !ok {
			continue
		}
		if prev := ld.find(k, name); prev != nil {
			ld.duplicateBlock(b, k, prev) // and read on: it may have other mistakes
		}
		ld.blocks = append(ld.blocks, &topBlock{body: ld.bodyOf(b), kind: k.name, name: name})
	}
}

func kindOf(name string) *kind {
	for i := range kinds {
		if kinds[i].name == name {
			return &kinds[i]
		}
	}
	return nil
}

func (ld *loader) unknownKind(b *hclsyntax.Block) {
	if b.Type == "scenario" {
		ld.fail(b.TypeRange, "Scenario in a pipeline", "A scenario stands in a file *%s of its own, which `wgate test` runs.", TestSuffix)
		return
	}
	if slices.Contains(laterKinds, b.Type) {
		ld.later(b.TypeRange, fmt.Sprintf("A block of kind %q", b.Type))
		return
	}
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	hint := didYouMean(b.Type, append(slices.Clone(names), laterKinds...))
	if hint == "" {
		hint = " There are: " + strings.Join(names, ", ") + "."
	}
	ld.fail(b.TypeRange, "Unknown block", "There is no block of kind %q.%s", b.Type, hint)
}

// find returns the earlier block that a new one of this kind and name would repeat.
func (ld *loader) find(k *kind, name string) *topBlock {
	for _, b := range ld.blocks {
		if b.kind == k.name && (k.once || k.labels > 0 && b.name == name) {
			return b
		}
	}
	return nil
}

func (ld *loader) duplicateBlock(b *hclsyntax.Block, k *kind, prev *topBlock) {
	if k.once {
		ld.fail(b.DefRange(), "Duplicate block", "There is a %s block already at %s; a pipeline has one. Remove one of the two.",
			k.name, at(prev.head))
		return
	}
	ld.fail(b.DefRange(), "Duplicate block", "There is a %s already at %s. Give one of the two another name, or remove it.",
		prev.what, at(prev.head))
}

// label returns the name of a block that must have n labels (0 or 1). It is false if there is no name to go on with.
func (ld *loader) label(b *hclsyntax.Block, n int) (string, bool) {
	switch {
	case len(b.Labels) > n:
		ld.fail(b.LabelRanges[n], "Too many labels", "%s has %s: %s.", article(b.Type), []string{"no label", "one label, its name"}[n], usage(b.Type, n))
	case len(b.Labels) < n:
		ld.fail(b.DefRange(), "Missing label", "%s needs a name: %s.", article(b.Type), usage(b.Type, n))
		return "", false
	}
	if n == 0 {
		return "", true
	}
	if why := badName(b.Labels[0]); why != "" {
		ld.fail(b.LabelRanges[0], "Invalid name", "%q cannot be a name: %s.", b.Labels[0], why)
	}
	return b.Labels[0], true
}

func usage(typ string, labels int) string {
	switch {
	case labels == 0:
		return typ + " { ... }"
	case typ == "window":
		return `window "fixed" { ... }`
	}
	return typ + ` "NAME" { ... }`
}

// badName says why s cannot be the name of a block. Names become parts of references, topics, metrics and files.
func badName(s string) string {
	if s == "" {
		return "it is empty"
	}
	if len(s) > 64 {
		return "it has more than 64 characters"
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return "a name has letters, digits, _ and -, and starts with a letter or _"
		}
	}
	return ""
}

// check reports everything in the body that s does not allow.
func (b body) check(s schema) {
	for _, a := range sorted(b.hb.Attributes) {
		switch {
		case slices.Contains(s.attrs, a.Name):
		case slices.Contains(s.later, a.Name):
			b.ld.later(a.NameRange, fmt.Sprintf("%q in %s", a.Name, lowerFirst(b.kindName())))
		case s.form(a.Name) != nil:
			b.ld.fail(a.NameRange, "Block written as an attribute", "%q is a block: write %s, without the equals sign.",
				a.Name, usage(a.Name, s.form(a.Name).labels))
		default:
			b.ld.fail(a.NameRange, "Unknown attribute", "%s has no attribute %q.%s", b.kindName(), a.Name, s.hint(a.Name))
		}
	}
	seen := map[string]*hclsyntax.Block{}
	for _, in := range b.hb.Blocks {
		f := s.form(in.Type)
		switch {
		case slices.Contains(s.later, in.Type):
			b.ld.later(in.TypeRange, fmt.Sprintf("%q in %s", in.Type, lowerFirst(b.kindName())))
			continue
		case f == nil && slices.Contains(s.attrs, in.Type):
			b.ld.fail(in.TypeRange, "Attribute written as a block", "%q is an attribute: write %s = ..., with an equals sign.", in.Type, in.Type)
			continue
		case f == nil:
			b.ld.fail(in.TypeRange, "Unknown block", "%s has no block %q.%s", b.kindName(), in.Type, s.hint(in.Type))
			continue
		}
		if prev := seen[in.Type]; prev != nil {
			b.ld.fail(in.DefRange(), "Duplicate block", "There is a %s block already at %s; %s has one. Remove one of the two.",
				in.Type, at(prev.DefRange()), lowerFirst(b.kindName()))
			continue
		}
		seen[in.Type] = in
		if len(in.Labels) != f.labels {
			b.ld.fail(in.DefRange(), "Wrong number of labels", "Write %s.", usage(in.Type, f.labels))
		}
	}
}

// kindName is the block's type without its labels: "A source block".
func (b body) kindName() string {
	name, _, _ := strings.Cut(b.what, " ")
	return article(name)
}

func article(typ string) string {
	if strings.ContainsRune("aeiou", rune(typ[0])) {
		return "An " + typ + " block"
	}
	return "A " + typ + " block"
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func (s schema) form(name string) *blockForm {
	for i := range s.blocks {
		if s.blocks[i].name == name {
			return &s.blocks[i]
		}
	}
	return nil
}

// hint suggests a name, or lists what there is.
func (s schema) hint(given string) string {
	names := append(slices.Clone(s.attrs), s.later...)
	for _, f := range s.blocks {
		names = append(names, f.name)
	}
	if h := didYouMean(given, names); h != "" {
		return h
	}
	if len(names) == 0 {
		return " It has none: remove it."
	}
	return " It has: " + strings.Join(names, ", ") + "."
}

// attr returns the attribute, nil if it is not there.
func (b body) attr(name string) *hclsyntax.Attribute { return b.hb.Attributes[name] }

// required returns the attribute, and reports it if it is not there; example shows how to write it.
func (b body) required(name, example string) *hclsyntax.Attribute {
	a := b.attr(name)
	if a == nil {
		b.ld.fail(b.head, "Missing attribute", "%s needs %q, for example: %s = %s.", b.what, name, name, example)
	}
	return a
}

// block returns the first block of a type, ok is false if there is none. A further one was reported by check.
func (b body) block(typ string) (body, bool) {
	for _, in := range b.hb.Blocks {
		if in.Type == typ {
			return b.ld.bodyOf(in), true
		}
	}
	return body{}, false
}

// sorted returns attributes in the order in which they were written.
func sorted(attrs hclsyntax.Attributes) []*hclsyntax.Attribute {
	list := make([]*hclsyntax.Attribute, 0, len(attrs))
	for _, a := range attrs {
		list = append(list, a)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].SrcRange.Start.Byte < list[j].SrcRange.Start.Byte })
	return list
}

// each calls read for every block of a kind, in the order in which they were written.
func (ld *loader) each(kind string, read func(*topBlock)) {
	for _, b := range ld.blocks {
		if b.kind == kind {
			read(b)
		}
	}
}
