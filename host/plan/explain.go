package plan

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
	"github.com/wgate/wgate/windowing/gbkw"
)

// Explanation is a plan as people and programs read it.
type Explanation struct {
	Pipeline   string `json:"pipeline"`
	Epoch      string `json:"epoch"`
	Delivery   string `json:"delivery"`
	Durability string `json:"durability"`
	Hash       string `json:"hash"`
	Steps      []Step `json:"steps"`
}

// Step is one node of a plan.
type Step struct {
	Block  string   `json:"block"`
	Kind   string   `json:"kind"`
	Input  string   `json:"input,omitempty"`
	Type   string   `json:"type,omitempty"`   // of the values that it gives
	Fields []string `json:"fields,omitempty"` // the columns that it gives
	Whole  bool     `json:"whole_value"`      // it gives the value as a whole, too
	Detail []string `json:"detail,omitempty"`
}

// Explain describes p.
func Explain(p *Plan) Explanation {
	x := Explanation{
		Pipeline: p.Pipeline.Name, Epoch: p.Pipeline.Epoch.String(), Delivery: p.Pipeline.Delivery,
		Durability: p.Pipeline.Durability, Hash: p.Hash,
	}
	for _, n := range p.Nodes {
		s := Step{Block: n.Block, Kind: n.Kind.String(), Detail: n.detail()}
		if n.In != nil {
			s.Input = n.In.Name
		}
		if len(n.Out) > 0 {
			s.Type, s.Whole = n.Out[0].Type.String(), n.Out[0].Whole
			for _, q := range n.Out[0].Paths {
				s.Fields = append(s.Fields, strings.Join(q, "."))
			}
			sort.Strings(s.Fields)
		}
		x.Steps = append(x.Steps, s)
	}
	return x
}

func (n *Node) detail() []string {
	switch n.Kind {
	case Source:
		return n.sourceDetail()
	case Do:
		return []string{"plugin " + n.Plugin.Name + ", function " + n.Func}
	case Aggregate:
		return n.aggregateDetail()
	case Sink:
		return n.sinkDetail()
	case Set, Shape:
		verb := "drops "
		if n.Kind == Set {
			verb = "sets "
		} else if n.Keep {
			verb = "keeps "
		}
		return []string{verb + strings.Join(n.Names, ", ")}
	}
	return nil
}

func (n *Node) sourceDetail() []string {
	s := n.SourceBlock
	var d []string
	if s.Kafka != nil {
		from := strings.Join(s.Kafka.Topics, ", ")
		if s.Kafka.Pattern != "" {
			from = "topics matching " + s.Kafka.Pattern
		}
		d = append(d, "reads "+from+" from "+s.Kafka.Start+", "+s.Kafka.Isolation)
	} else {
		d = append(d, "reads file "+s.File.Path+" to its end")
	}
	w := s.Watermark
	line := "watermark: out of order by up to " + w.OutOfOrder.String() + ", idle after " + w.Idle.String()
	if s.Arrival {
		line = "event time is the arrival; the watermark is the clock"
	} else if w.MaxAhead > 0 {
		line += ", a partition waits when more than " + w.MaxAhead.String() + " ahead"
	}
	return append(d, "decodes "+s.Decode, line)
}

func (n *Node) aggregateDetail() []string {
	a := n.Agg
	d := []string{
		"window " + a.Window.String(),
		"trigger " + a.Trigger.String(),
		"panes " + a.Panes + ", allowed lateness " + a.Lateness.String(),
		"earliest on-time pane: when the watermark passes the window's end",
		stateDetail(a),
	}
	if a.Retracted {
		d = append(d, "takes rows back that its input takes back")
	}
	late := "late rows: dead letters"
	switch {
	case a.Late == "drop":
		late = "late rows: counted and dropped"
	case a.LateRead:
		late = "late rows: " + n.Block + ".late"
	}
	return append(d, late)
}

func (n *Node) sinkDetail() []string {
	s := n.SinkBlock
	switch {
	case s.Kafka != nil:
		return []string{"writes topic " + s.Kafka.Topic + ", changes " + s.Changes}
	case s.File != nil:
		return []string{"writes file " + s.File.Path + " (at least once)"}
	}
	return []string{"writes standard output (at least once)"}
}

// hash names everything that kept state depends on. Two plans with one hash can use one another's state.
func hash(p *Plan) string {
	var b strings.Builder
	for _, n := range p.Nodes {
		if n.Kind != Aggregate {
			continue
		}
		a := n.Agg
		fmt.Fprintf(&b, "%s|%s|%s|%s|%d|%v|%v|", n.Block, a.Window, a.Trigger, a.Panes, a.Key.Form, gbkw.SharesSlices(Grouping(a)), a.Retracted)
		for _, k := range a.Key.Parts {
			b.WriteString(k.Name + "=" + k.Expr.String() + ",")
		}
		for _, g := range a.Aggs {
			b.WriteString(g.Func + "(")
			for _, e := range g.Args {
				b.WriteString(e.String() + ":" + e.Type().String() + ",")
			}
			if g.Where != nil {
				b.WriteString(" where " + g.Where.String())
			}
			b.WriteString(")")
		}
		b.WriteByte('\n')
	}
	return strconv.FormatUint(xxhash.Sum64String(b.String()), 16)
}

// typesOf returns the declared types of paths below t, for projections.
func typesOf(t event.Type, paths []expr.Path) []event.Type {
	out := make([]event.Type, len(paths))
	for i, p := range paths {
		ft := t
		for _, name := range p {
			ft, _ = ft.Field(name)
		}
		out[i] = ft
	}
	return out
}

// Types returns the types of the collection's columns.
func (c *Collection) Types() []event.Type { return typesOf(c.Type, c.Paths) }

// Sources returns the source nodes in the order of the pipeline's sources.
func (p *Plan) Sources() []*Node {
	var out []*Node
	for _, n := range p.Nodes {
		if n.Kind == Source {
			out = append(out, n)
		}
	}
	return out
}

// UsesKafka reports whether any block reads or writes a topic.
func UsesKafka(p *config.Pipeline) bool {
	for _, s := range p.Sources {
		if s.Kafka != nil {
			return true
		}
	}
	for _, s := range p.Sinks {
		if s.Kafka != nil {
			return true
		}
	}
	return false
}
