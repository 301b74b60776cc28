package config

import (
	"strings"

	"github.com/wgate/wgate/windowing"
)

// readWindow reads the window block of an aggregate; without one the window is global.
func (b body) readWindow() windowing.Spec {
	var w body
	for _, in := range b.hb.Blocks {
		if in.Type == "window" {
			w = b.ld.bodyOf(in)
			if len(in.Labels) != 1 {
				return windowing.Spec{} // check has reported it
			}
			return w.windowOf(in.Labels[0])
		}
	}
	return windowing.Spec{}
}

func (b body) windowOf(label string) windowing.Spec {
	kind, ok := windowing.Lookup(label)
	if !ok {
		hint := didYouMean(label, windowing.Names())
		if hint == "" {
			hint = " There are: " + strings.Join(windowing.Names(), ", ") + "."
		}
		b.ld.fail(b.head, "Unknown window", "There is no window of kind %q.%s", label, hint)
		return windowing.Spec{}
	}
	s := windowing.Spec{Kind: kind}
	if kind > windowing.Session { // the attributes of kinds that cannot run are not read
		b.windowProblems(s)
		return s
	}
	var sc schema
	for _, a := range kind.Attributes() {
		sc.attrs = append(sc.attrs, a.Name)
	}
	b.check(sc)
	before := len(b.ld.diags)
	for _, a := range kind.Attributes() {
		if a.Required {
			b.required(a.Name, `"1m"`)
		}
	}
	s.Size = b.duration("size", 0, false)
	s.Period = b.duration("period", 0, false)
	s.Step = b.duration("step", 0, false)
	s.Gap = b.duration("gap", 0, false)
	s.Max = b.duration("max", 0, false)
	if a := b.attr("offset"); a != nil {
		s.Offset, _ = b.durationOf(a)
	}
	s.Inclusive = b.choice("boundary", "exclusive", []string{"exclusive", "inclusive"}) == "inclusive"
	if len(b.ld.diags) == before {
		b.windowProblems(s)
	}
	return s
}

// windowProblems reports what package windowing finds wrong, at the attribute at fault.
func (b body) windowProblems(s windowing.Spec) {
	for _, p := range s.Validate() {
		rng := b.head
		if a := b.attr(p.Attr); a != nil {
			rng = a.Expr.Range()
		}
		b.ld.fail(rng, upper(p.Summary), "%s", period(upper(p.Detail)))
	}
}
