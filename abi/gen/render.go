package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// spec is abi.json.
type spec struct {
	Major, Minor int
	Groups       []group
	Layouts      []layout
	Exports      [][3]string
	Imports      [][3]string
}

type group struct {
	Name, Type, Doc string
	Values          []value
}

type layout struct {
	Name, Doc string
	Size      int
	Fields    []field
}

// value is one constant: name, number, text.
type value struct {
	name string
	num  int64
	doc  string
}

// UnmarshalJSON reads the array that a value is in abi.json.
func (v *value) UnmarshalJSON(b []byte) error { return unmarshalRow(b, &v.name, &v.num, &v.doc) }

// field is one part of a layout: name, offset, type, text.
type field struct {
	name, typ, doc string
	off            int
}

// UnmarshalJSON reads the array that a field is in abi.json.
func (f *field) UnmarshalJSON(b []byte) error {
	return unmarshalRow(b, &f.name, &f.off, &f.typ, &f.doc)
}

func unmarshalRow(b []byte, to ...any) error {
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return err
	}
	if len(raw) != len(to) {
		return fmt.Errorf("abi.json: a row of %d parts where %d are due: %s", len(raw), len(to), b)
	}
	for i := range raw {
		if err := json.Unmarshal(raw[i], to[i]); err != nil {
			return err
		}
	}
	return nil
}

var sizes = map[string]int{"u8": 1, "i8": 1, "u16": 2, "u32": 4, "i32": 4, "u64": 8, "i64": 8}

// check finds gaps, overlaps and unaligned fields.
func (s *spec) check() error {
	for _, l := range s.Layouts {
		at := 0
		for _, f := range l.Fields {
			n, ok := sizes[f.typ]
			switch {
			case !ok:
				return fmt.Errorf("abi.json: %s.%s has no known type: %q", l.Name, f.name, f.typ)
			case f.off != at:
				return fmt.Errorf("abi.json: %s.%s is at %d, the field before it ends at %d", l.Name, f.name, f.off, at)
			case f.off%n != 0:
				return fmt.Errorf("abi.json: %s.%s is not aligned", l.Name, f.name)
			}
			at += n
		}
		if at != l.Size || at%8 != 0 {
			return fmt.Errorf("abi.json: %s has fields of %d bytes and size %d", l.Name, at, l.Size)
		}
	}
	return nil
}

// output is one generated file.
type output struct {
	path string
	text []byte
}

// renderAll makes all outputs from dir/abi.json.
func renderAll(dir string) ([]output, error) {
	src, err := os.ReadFile(filepath.Join(dir, "abi.json"))
	if err != nil {
		return nil, fmt.Errorf("abi: %w", err)
	}
	var s spec
	dec := json.NewDecoder(bytes.NewReader(src))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return nil, fmt.Errorf("abi.json: %w", err)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	host, err := goSource(&s, "abi", true)
	if err != nil {
		return nil, err
	}
	sdk, err := goSource(&s, "wgate", false)
	if err != nil {
		return nil, err
	}
	page := filepath.Join(dir, "SPEC.md")
	old, err := os.ReadFile(page)
	if err != nil {
		return nil, fmt.Errorf("abi: %w", err)
	}
	text, err := splice(old, tables(&s))
	if err != nil {
		return nil, err
	}
	return []output{
		{filepath.Join(dir, "abi.gen.go"), host},
		{filepath.Join(dir, "..", "plugins", "sdk-go", "abi.gen.go"), sdk},
		{filepath.Join(dir, "..", "plugins", "sdk-rust", "src", "abi.rs"), rustSource(&s)},
		{page, text},
	}, nil
}

// goSource writes the constants as a Go file. The host's are exported; the SDK's are not, so that its users do not see them.
func goSource(s *spec, pkg string, exported bool) ([]byte, error) {
	name := func(n string) string {
		if exported {
			return n
		}
		r := []rune(n)
		r[0] = unicode.ToLower(r[0])
		return string(r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "// Code generated from abi.json by abi/gen; DO NOT EDIT.\n\npackage %s\n\n", pkg)
	fmt.Fprintf(&b, "// The version of the ABI.\nconst (\n%s = %d\n%s = %d\n)\n", name("Major"), s.Major, name("Minor"), s.Minor)
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "\n// %s: %s.\nconst (\n", g.Name, g.Doc)
		prefix := g.Name
		if g.Name == "Limit" {
			prefix = ""
		}
		for _, v := range g.Values {
			fmt.Fprintf(&b, "%s %s = %d", name(prefix+v.name), g.Type, v.num)
			if v.doc != "" {
				fmt.Fprintf(&b, " // %s", v.doc)
			}
			b.WriteByte('\n')
		}
		b.WriteString(")\n")
	}
	for _, l := range s.Layouts {
		fmt.Fprintf(&b, "\n// Layout %s: %s. Its size and the offsets of its fields.\nconst (\n", l.Name, l.Doc)
		fmt.Fprintf(&b, "%s = %d\n", name("Size"+l.Name), l.Size)
		for _, f := range l.Fields {
			fmt.Fprintf(&b, "%s = %d // %s", name("At"+l.Name+f.name), f.off, f.typ)
			if f.doc != "" {
				fmt.Fprintf(&b, ": %s", f.doc)
			}
			b.WriteByte('\n')
		}
		b.WriteString(")\n")
	}
	out, err := format.Source([]byte(b.String()))
	if err != nil {
		return nil, fmt.Errorf("abi: generated source: %w", err)
	}
	return out, nil
}

// tables writes the spec's tables.
func tables(s *spec) string {
	var b strings.Builder
	for _, part := range []struct {
		title string
		rows  [][3]string
	}{{"Exports of a plugin", s.Exports}, {"Imports from module `wgate1`", s.Imports}} {
		fmt.Fprintf(&b, "### %s\n\n| name | signature | rule |\n|---|---|---|\n", part.title)
		for _, r := range part.rows {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", r[0], r[1], r[2])
		}
		b.WriteByte('\n')
	}
	b.WriteString("### Layouts\n\nNumbers are little endian; every layout is a multiple of 8 bytes.\n\n")
	for _, l := range s.Layouts {
		fmt.Fprintf(&b, "**%s**, %d bytes: %s.\n\n| at | type | field | meaning |\n|---|---|---|---|\n", l.Name, l.Size, l.Doc)
		for _, f := range l.Fields {
			fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", f.off, f.typ, f.name, f.doc)
		}
		b.WriteByte('\n')
	}
	b.WriteString("### Constants\n\n")
	for _, g := range s.Groups {
		title := g.Name
		if g.Type != "" {
			title += " " + g.Type
		}
		fmt.Fprintf(&b, "**%s**: %s.\n\n| value | name | meaning |\n|---|---|---|\n", title, g.Doc)
		for _, v := range g.Values {
			n := v.name
			if n == "" {
				n = g.Name
			}
			fmt.Fprintf(&b, "| %d | %s | %s |\n", v.num, n, v.doc)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

const (
	beginMark = "<!-- generated from abi.json: begin -->\n"
	endMark   = "<!-- generated from abi.json: end -->\n"
)

// splice puts text between the marks of page.
func splice(page []byte, text string) ([]byte, error) {
	head, rest, ok := strings.Cut(string(page), beginMark)
	_, tail, ok2 := strings.Cut(rest, endMark)
	if !ok || !ok2 {
		return nil, fmt.Errorf("abi: SPEC.md lacks the line %q or %q", beginMark, endMark)
	}
	return []byte(head + beginMark + "\n" + text + endMark + tail), nil
}
