package main

import (
	"fmt"
	"strings"
	"unicode"
)

// rustSource writes the constants as a Rust module.
func rustSource(s *spec) []byte {
	var b strings.Builder
	b.WriteString("// Code generated from abi.json by abi/gen; DO NOT EDIT.\n\n")
	fmt.Fprintf(&b, "// The version of the ABI.\npub const MAJOR: u32 = %d;\npub const MINOR: u32 = %d;\n", s.Major, s.Minor)
	line := func(name, typ string, v int64, doc string) {
		if doc != "" {
			fmt.Fprintf(&b, "/// %s\n", strings.ReplaceAll(strings.ReplaceAll(doc, "[", "("), "]", ")"))
		}
		fmt.Fprintf(&b, "pub const %s: %s = %d;\n", screaming(name), typ, v)
	}
	types := map[string]string{"": "usize", "uint8": "u8", "uint16": "u16", "uint32": "u32", "int32": "i32"}
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "\n// %s: %s.\n", g.Name, g.Doc)
		prefix := g.Name
		if g.Name == "Limit" {
			prefix = ""
		}
		for _, v := range g.Values {
			line(prefix+v.name, types[g.Type], v.num, v.doc)
		}
	}
	for _, l := range s.Layouts {
		fmt.Fprintf(&b, "\n// Layout %s: %s. Its size and the offsets of its fields.\n", l.Name, l.Doc)
		line("Size"+l.Name, "usize", int64(l.Size), "")
		for _, f := range l.Fields {
			doc := f.typ
			if f.doc != "" {
				doc += ": " + f.doc
			}
			line("At"+l.Name+f.name, "usize", int64(f.off), doc)
		}
	}
	return []byte(b.String())
}

// screaming turns a name like AtEmitKeyForm into AT_EMIT_KEY_FORM, and FormJSON into FORM_JSON.
func screaming(name string) string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if i > 0 && unicode.IsUpper(c) && (unicode.IsLower(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToUpper(c))
	}
	return b.String()
}
