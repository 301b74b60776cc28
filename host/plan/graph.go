package plan

import (
	"fmt"
	"strings"
)

// Mermaid draws the blocks of p and the collections between them as a Mermaid flow chart.
func Mermaid(p *Plan) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for i, block := range blocks(p) {
		fmt.Fprintf(&b, "  b%d[%q]\n", i, block)
	}
	for _, a := range arrows(p) {
		label := ""
		if a.label != "" {
			label = "|" + a.label + "|"
		}
		fmt.Fprintf(&b, "  b%d -->%s b%d\n", a.from, label, a.to)
	}
	return b.String()
}

// DOT draws the same graph in Graphviz' language.
func DOT(p *Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %q {\n  rankdir=LR;\n  node [shape=box];\n", p.Pipeline.Name)
	names := blocks(p)
	for _, block := range names {
		fmt.Fprintf(&b, "  %q;\n", block)
	}
	for _, a := range arrows(p) {
		label := ""
		if a.label != "" {
			label = fmt.Sprintf(" [label=%q]", a.label)
		}
		fmt.Fprintf(&b, "  %q -> %q%s;\n", names[a.from], names[a.to], label)
	}
	b.WriteString("}\n")
	return b.String()
}

// Graph is the graph of p's blocks for programs.
type Graph struct {
	Blocks []string    `json:"blocks"`
	Arrows [][3]string `json:"arrows"` // from, to, tag of the collection (empty for a main output)
}

// GraphOf returns the graph of p's blocks.
func GraphOf(p *Plan) Graph {
	names := blocks(p)
	g := Graph{Blocks: names}
	for _, a := range arrows(p) {
		g.Arrows = append(g.Arrows, [3]string{names[a.from], names[a.to], a.label})
	}
	return g
}

// blocks lists the blocks of p, each once, in the order of the plan.
func blocks(p *Plan) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range p.Nodes {
		if !seen[n.Block] {
			seen[n.Block] = true
			out = append(out, n.Block)
		}
	}
	return out
}

type arrow struct {
	from, to int
	label    string
}

func arrows(p *Plan) []arrow {
	at := map[string]int{}
	for i, b := range blocks(p) {
		at[b] = i
	}
	var out []arrow
	for _, n := range p.Nodes {
		if n.In == nil || n.In.From.Block == n.Block {
			continue
		}
		from := n.In.From.Block
		out = append(out, arrow{at[from], at[n.Block], strings.TrimPrefix(strings.TrimPrefix(n.In.Name, from), ".")})
	}
	return out
}
