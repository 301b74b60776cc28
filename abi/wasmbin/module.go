package wasmbin

import (
	"bytes"
	"fmt"
)

// ids of sections.
const (
	SectionCustom = iota
	SectionType
	SectionImport
	SectionFunction
	SectionTable
	SectionMemory
	SectionGlobal
	SectionExport
	SectionStart
	SectionElement
	SectionCode
	SectionData
	SectionDataCount
)

// What an import or export is.
const (
	KindFunc = iota
	KindTable
	KindMemory
	KindGlobal
)

var kindNames = [...]string{"function", "table", "memory", "global"}

// Module is what was found in a module's bytes. Its slices are parts of these.
type Module struct {
	Bytes    []byte
	Sections []Section
	Types    []Type
	Imports  []Import
	Funcs    []uint32 // type of each function that the module defines
	Tables   []Table  // those it defines
	Memories []Limits // those it defines
	Globals  int      // those it defines
	Exports  []Export
	Bodies   []Body
	Start    bool // there is a start function
}

// Section is one section: bytes [From, To) of the module with its id and length, its content from Body on.
type Section struct {
	ID             byte
	Name           string // of a custom section
	From, Body, To int
}

// Type is a function type, its parameters and results as value type bytes.
type Type struct{ Params, Results []byte }

// String writes t as "(i32, i64) -> i32".
func (t Type) String() string {
	s := "(" + valTypes(t.Params) + ")"
	if len(t.Results) > 0 {
		s += " -> " + valTypes(t.Results)
	}
	return s
}

func valTypes(ts []byte) string {
	names := map[byte]string{0x7f: "i32", 0x7e: "i64", 0x7d: "f32", 0x7c: "f64", 0x7b: "v128", 0x70: "funcref", 0x6f: "externref"}
	var b bytes.Buffer
	for i, t := range ts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(names[t])
	}
	return b.String()
}

// Import is one import.
type Import struct {
	Module, Name string
	Kind         byte
	Type         uint32 // of a function
}

// Export is one export.
type Export struct {
	Name  string
	Kind  byte
	Index uint32
}

// Limits are the limits of a table or memory: elements or pages of 64 KiB.
type Limits struct {
	Min, Max uint32
	HasMax   bool
}

// Table is one table: what it holds (a reference type's byte) and its limits.
type Table struct {
	Ref byte
	Limits
}

// Body is one function body: bytes [From, To) of the module, without its length; its instructions start at Code.
type Body struct {
	From, Code, To int
	Groups         int    // declarations of locals
	Locals         uint64 // declared in them
}

// IsComponent reports whether b starts like a WebAssembly component.
func IsComponent(b []byte) bool {
	return len(b) >= 8 && bytes.Equal(b[:4], magic) && b[6] == 1 && b[7] == 0
}

// IsModule reports whether b starts like a core module, version 1.
func IsModule(b []byte) bool {
	return len(b) >= 8 && bytes.Equal(b[:4], magic) && bytes.Equal(b[4:8], version)
}

var (
	magic   = []byte("\x00asm")
	version = []byte{1, 0, 0, 0}
)

// Parse reads the structure of a core module. It does not look at instructions. All errors wrap ErrFormat.
func Parse(b []byte) (*Module, error) {
	if !IsModule(b) {
		return nil, fmt.Errorf("%w: it does not start like a core module", ErrFormat)
	}
	m := &Module{Bytes: b}
	c := &cursor{b: b, at: 8}
	last := byte(0)
	for !c.done() {
		s := Section{From: c.at}
		s.ID = c.byte()
		size := c.u32()
		s.Body = c.at
		c.take(size)
		s.To = c.at
		if c.err != nil {
			return nil, c.err
		}
		if s.ID != SectionCustom {
			if order(s.ID) <= order(last) {
				return nil, fmt.Errorf("%w: section %d follows section %d", ErrFormat, s.ID, last)
			}
			last = s.ID
		}
		sc := &cursor{b: b[:s.To], at: s.Body}
		m.section(&s, sc)
		if sc.err == nil && s.ID != SectionCustom && sc.at != s.To && sized(s.ID) {
			sc.fail("section %d has %d bytes too many", s.ID, s.To-sc.at)
		}
		if sc.err != nil {
			return nil, sc.err
		}
		m.Sections = append(m.Sections, s)
	}
	if c.err != nil {
		return nil, c.err
	}
	if len(m.Bodies) != len(m.Funcs) {
		return nil, fmt.Errorf("%w: %d functions, %d bodies", ErrFormat, len(m.Funcs), len(m.Bodies))
	}
	return m, nil
}

// order is the place of a section: the data count stands before the code.
func order(id byte) int {
	switch id {
	case SectionDataCount:
		return 2*SectionElement + 1
	default:
		return 2 * int(id)
	}
}

// sized says whether Parse reads the section to its end.
func sized(id byte) bool {
	return id != SectionGlobal && id != SectionElement && id != SectionData
}

func (m *Module) section(s *Section, c *cursor) {
	switch s.ID {
	case SectionCustom:
		s.Name = c.name()
		s.Body = c.at
	case SectionType:
		m.types(c)
	case SectionImport:
		m.imports(c)
	case SectionFunction:
		for range c.count() {
			m.Funcs = append(m.Funcs, c.u32())
		}
	case SectionTable:
		for range c.count() {
			m.Tables = append(m.Tables, Table{c.byte(), c.limits()})
		}
	case SectionMemory:
		for range c.count() {
			m.Memories = append(m.Memories, c.limits())
		}
	case SectionGlobal:
		m.Globals = c.count()
	case SectionExport:
		for range c.count() {
			m.Exports = append(m.Exports, Export{c.name(), c.byte(), c.u32()})
		}
	case SectionStart:
		m.Start = true
		c.u32()
	case SectionCode:
		m.code(c)
	case SectionDataCount:
		c.u32()
	case SectionElement, SectionData:
	default:
		c.fail("section %d is not known", s.ID)
	}
}

func (m *Module) types(c *cursor) {
	for range c.count() {
		if f := c.byte(); f != 0x60 {
			c.fail("type form %#x is not a function", f)
			return
		}
		p := c.take(c.u32())
		m.Types = append(m.Types, Type{p, c.take(c.u32())})
	}
}

func (m *Module) imports(c *cursor) {
	for range c.count() {
		i := Import{Module: c.name(), Name: c.name(), Kind: c.byte()}
		switch i.Kind {
		case KindFunc:
			i.Type = c.u32()
		case KindTable:
			c.byte()
			c.limits()
		case KindMemory:
			c.limits()
		case KindGlobal:
			c.byte()
			c.byte()
		default:
			c.fail("import kind %d is not known", i.Kind)
		}
		m.Imports = append(m.Imports, i)
		if c.err != nil {
			return
		}
	}
}

func (c *cursor) limits() Limits {
	var l Limits
	switch flag := c.byte(); flag {
	case 0:
		l.Min = c.u32()
	case 1:
		l.Min, l.Max, l.HasMax = c.u32(), c.u32(), true
	default:
		c.fail("limits of form %d (threads or 64-bit memories) are not allowed", flag)
	}
	return l
}

func (m *Module) code(c *cursor) {
	for range c.count() {
		size := c.u32()
		b := Body{From: c.at}
		c.take(size)
		b.To = c.at
		if c.err != nil {
			return
		}
		bc := &cursor{b: c.b[:b.To], at: b.From}
		b.Groups = bc.count()
		for range b.Groups {
			b.Locals += uint64(bc.u32())
			bc.byte()
		}
		if b.Code = bc.at; bc.err != nil {
			c.err = bc.err
			return
		}
		m.Bodies = append(m.Bodies, b)
	}
}

// Custom returns the content of the last custom section called name, nil and false if there is none.
func (m *Module) Custom(name string) ([]byte, bool) {
	for i := len(m.Sections) - 1; i >= 0; i-- {
		if s := m.Sections[i]; s.ID == SectionCustom && s.Name == name {
			return m.Bytes[s.Body:s.To], true
		}
	}
	return nil, false
}

// WithCustom returns a copy of the module's bytes without any custom section called name and with one at the end whose
// content is text.
func (m *Module) WithCustom(name string, text []byte) []byte {
	out := append([]byte(nil), m.Bytes[:8]...)
	for _, s := range m.Sections {
		if s.ID != SectionCustom || s.Name != name {
			out = append(out, m.Bytes[s.From:s.To]...)
		}
	}
	body := append(AppendU32(nil, uint32(len(name))), name...)
	body = append(body, text...)
	out = append(out, SectionCustom)
	out = AppendU32(out, uint32(len(body)))
	return append(out, body...)
}

// ImportedFuncs returns the number of functions that the module imports: the index of its first own one.
func (m *Module) ImportedFuncs() int {
	n := 0
	for _, i := range m.Imports {
		if i.Kind == KindFunc {
			n++
		}
	}
	return n
}

// FuncType returns the type of function index; ok is false if there is no such function or type.
func (m *Module) FuncType(index uint32) (t Type, ok bool) {
	ti, i := uint32(0), index
	for _, im := range m.Imports {
		if im.Kind != KindFunc {
			continue
		}
		if i == 0 {
			return m.typeAt(im.Type)
		}
		i--
	}
	if uint64(i) >= uint64(len(m.Funcs)) {
		return Type{}, false
	}
	ti = m.Funcs[i]
	return m.typeAt(ti)
}

func (m *Module) typeAt(i uint32) (Type, bool) {
	if uint64(i) >= uint64(len(m.Types)) {
		return Type{}, false
	}
	return m.Types[i], true
}

// Export returns the export called name, nil if there is none.
func (m *Module) Export(name string) *Export {
	for i := range m.Exports {
		if m.Exports[i].Name == name {
			return &m.Exports[i]
		}
	}
	return nil
}

// KindName returns the word for an import's or export's kind.
func KindName(kind byte) string {
	if int(kind) < len(kindNames) {
		return kindNames[kind]
	}
	return "unknown thing"
}
