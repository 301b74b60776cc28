package codec

import (
	"math"
	"strconv"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/expr"
)

// jsonDecoder reads JSON in one pass: the paths make a trie, the text is walked along it, and what lies beside is only
// checked to be JSON.
type jsonDecoder struct {
	root  *node
	paths int
	bad   []RowError

	// The row that is being decoded.
	b    *event.Bundle
	row  int
	text []byte
	off  uint32
	run  uint64 // counts the objects that were walked, to tell which members were seen
	fail RowError
}

// node is a field that is read or checked.
type node struct {
	path     expr.Path
	slot     int // column, -1 for none
	typ      *event.Type
	required bool
	dflt     *event.Literal
	children []child
	index    map[string]int // of children, where they are many
}

type child struct {
	name string
	node *node
	seen uint64
}

// manyChildren is from how many children on a map finds them faster than a look at each.
const manyChildren = 12

func newJSON(p Projection) *jsonDecoder {
	root := &node{slot: -1}
	if p.Schema != nil && !p.Schema.IsAny() {
		root.declare(*p.Schema)
	}
	for k, path := range p.Paths {
		n := root
		for i, name := range path {
			n = n.child(name, path[:i+1])
		}
		n.slot = k
		if n.typ == nil && k < len(p.Types) && !p.Types[k].IsAny() {
			n.declare(p.Types[k])
			n.required = !p.Types[k].Optional
		}
	}
	root.finish()
	return &jsonDecoder{root: root, paths: len(p.Paths)}
}

func (n *node) child(name string, path expr.Path) *node {
	for i := range n.children {
		if n.children[i].name == name {
			return n.children[i].node
		}
	}
	c := &node{path: path, slot: -1}
	n.children = append(n.children, child{name: name, node: c})
	return c
}

// declare gives n and the fields below it their declared types.
func (n *node) declare(t event.Type) {
	n.typ = &t
	if t.Kind != event.Object {
		return
	}
	for _, f := range t.Fields {
		path := append(append(expr.Path{}, n.path...), f.Name)
		c := n.child(f.Name, path)
		c.dflt = f.Default
		if !f.Type.IsAny() {
			c.declare(f.Type)
			c.required = !f.Type.Optional
		}
	}
	// The fields are checked on the way; of the object itself only its kind is left to check.
	n.typ = &event.Type{Kind: event.Object, Optional: t.Optional, Open: true}
}

func (n *node) finish() {
	if len(n.children) > manyChildren {
		n.index = make(map[string]int, len(n.children))
	}
	for i := range n.children {
		if n.index != nil {
			n.index[n.children[i].name] = i
		}
		n.children[i].node.finish()
	}
}

// Decode is described at Decoder.
func (d *jsonDecoder) Decode(b *event.Bundle, from int) []RowError {
	d.bad = d.bad[:0]
	extend(b, d.paths, from)
	d.b = b
	for i := from; i < b.Len(); i++ {
		v := b.Values[i]
		switch v.Kind {
		case event.JSON, event.Object, event.List, event.String, event.Bytes:
			d.record(i, v)
		}
	}
	d.b, d.text = nil, nil
	markBad(b, d.bad)
	return d.bad
}

// record decodes one row. A value that is no longer text, of a row that a stage made, has no fields.
func (d *jsonDecoder) record(row int, v event.Value) {
	d.row, d.fail = row, RowError{}
	d.text, d.off = v.Bytes(d.b.Heap), v.Ref().Off
	if v.Kind == event.String || v.Kind == event.Bytes {
		if d.root.typ != nil {
			d.mismatch(d.root, &jsontext.Mismatch{Code: expr.WrongType, Want: *d.root.typ, Got: "a " + v.Kind.String()})
		}
	} else if end, ok := d.value(d.root, jsontext.Space(d.text, 0), 0); !ok || jsontext.Space(d.text, end) != len(d.text) {
		d.notJSON(end)
	}
	if d.fail.Code != "" {
		d.fail.Row = row
		d.bad = append(d.bad, d.fail)
	}
}

func (d *jsonDecoder) notJSON(at int) {
	text := "the value is not JSON: see byte " + strconv.Itoa(at) + " of " + strconv.Itoa(len(d.text))
	if len(d.text) == 0 {
		text = "the value is not JSON: it has no bytes"
	}
	d.fail = RowError{Code: expr.NotJSON, Text: text}
}

// value reads the value at d.text[i] for n and returns the position after it; ok is false where the text is not JSON.
func (d *jsonDecoder) value(n *node, i, depth int) (end int, ok bool) {
	if len(n.children) > 0 && i < len(d.text) && d.text[i] == '{' {
		end, ok = d.object(n, i, depth+1)
	} else {
		end, ok = jsontext.Skip(d.text, i, depth)
	}
	if !ok || n.slot < 0 && n.typ == nil {
		return end, ok
	}
	part := d.text[i:end]
	switch {
	case part[0] == 'n' && n.dflt != nil:
		d.absent(n)
	case n.slot < 0:
		if bad := jsontext.Check(d.b.Heap, part, n.typ); bad != nil {
			d.mismatch(n, bad)
		}
	case n.typ == nil:
		v := jsontext.ReadAt(d.b.Heap, part, d.off+uint32(i))
		if v.Kind == event.Float && math.IsInf(v.Float(), 0) {
			d.failed(expr.Overflow, n.path.String()+" is a number that is too large")
		}
		d.b.Fields[n.slot][d.row] = v
	default:
		v, bad := jsontext.Typed(d.b.Heap, part, d.off+uint32(i), n.typ)
		if bad != nil {
			d.mismatch(n, bad)
		}
		d.b.Fields[n.slot][d.row] = v
	}
	return end, true
}

// object walks the members of the object at d.text[i].
func (d *jsonDecoder) object(n *node, i, depth int) (end int, ok bool) {
	if depth > jsontext.MaxDepth {
		return i, false
	}
	d.run++
	run := d.run
	text := d.text
	i = jsontext.Space(text, i+1)
	if i < len(text) && text[i] == '}' {
		d.unseen(n, run)
		return i + 1, true
	}
	for {
		start := i
		end, escaped, ok := jsontext.SkipString(text, i)
		if !ok {
			return end, false
		}
		i = jsontext.Space(text, end)
		if i >= len(text) || text[i] != ':' {
			return i, false
		}
		i = jsontext.Space(text, i+1)
		if c := n.find(text[start+1:end-1], escaped); c != nil {
			if c.seen == run { // the last one counts
				d.forget(c.node)
			}
			c.seen = run
			i, ok = d.value(c.node, i, depth)
		} else {
			i, ok = jsontext.Skip(text, i, depth)
		}
		if !ok {
			return i, false
		}
		i = jsontext.Space(text, i)
		switch {
		case i < len(text) && text[i] == ',':
			i = jsontext.Space(text, i+1)
		case i < len(text) && text[i] == '}':
			d.unseen(n, run)
			return i + 1, true
		default:
			return i, false
		}
	}
}

func (n *node) find(name []byte, escaped bool) *child {
	if escaped {
		for i := range n.children {
			if jsontext.SameText(name, n.children[i].name) {
				return &n.children[i]
			}
		}
		return nil
	}
	if n.index != nil {
		if i, ok := n.index[string(name)]; ok {
			return &n.children[i]
		}
		return nil
	}
	for i := range n.children {
		if n.children[i].name == string(name) {
			return &n.children[i]
		}
	}
	return nil
}

// forget takes back what an earlier member of the same name gave.
func (d *jsonDecoder) forget(n *node) {
	if n.slot >= 0 {
		d.b.Fields[n.slot][d.row] = event.Value{}
	}
	for i := range n.children {
		d.forget(n.children[i].node)
	}
}

// unseen handles the members that an object does not have.
func (d *jsonDecoder) unseen(n *node, run uint64) {
	for i := range n.children {
		c := &n.children[i]
		if c.seen != run {
			d.absent(c.node)
		}
	}
}

func (d *jsonDecoder) absent(n *node) {
	switch {
	case n.dflt != nil:
		if n.slot >= 0 {
			d.b.Fields[n.slot][d.row] = materialize(d.b.Heap, n.dflt)
		}
	case n.required:
		d.failed(expr.MissingField, n.path.String()+" is missing; it is declared as "+n.typ.String())
	}
}

func (d *jsonDecoder) mismatch(n *node, bad *jsontext.Mismatch) {
	where := n.path.String() + bad.Path
	if bad.Code == expr.MissingField {
		d.failed(bad.Code, where+" is missing; it is declared as "+bad.Want.String())
		return
	}
	d.failed(bad.Code, where+" is "+bad.Got+and(bad.Code)+"; it is declared as "+bad.Want.String())
}

// and says what is wrong with a value of a kind that would do.
func and(code string) string {
	switch code {
	case expr.Overflow:
		return " that does not fit"
	case expr.BadTimestamp:
		return " that is no RFC 3339 time"
	case expr.BadArgument:
		return " that cannot be read"
	}
	return ""
}

// failed notes the first error of a row.
func (d *jsonDecoder) failed(code, text string) {
	if d.fail.Code == "" {
		d.fail = RowError{Code: code, Text: text}
	}
}

func materialize(h *event.Heap, l *event.Literal) event.Value {
	switch l.Kind {
	case event.String, event.List, event.Object:
		return event.HeapValue(l.Kind, h.PutString(l.Text))
	case event.Missing, event.Null:
		return event.NullValue()
	}
	return l.Value
}
