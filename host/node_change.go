package host

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"slices"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/plan"
)

// Compare says what deploying b would change.
func (n *Node) Compare(_ context.Context, name string, b *admin.Bundle) (*admin.Change, error) {
	p, err := n.parse(name, b)
	if err != nil {
		return nil, err
	}
	next, err := plan.Build(p)
	if err != nil {
		return nil, failureOf(err).WithStatus(http.StatusUnprocessableEntity)
	}
	c := &admin.Change{
		Pipeline: name, Action: "create", Plan: plan.Explain(next),
		Added: []string{}, Changed: []string{}, Removed: []string{}, Notes: []string{}, Missing: []string{},
	}
	for _, pl := range p.Plugins {
		digest := b.Modules[pl.Name]
		has, err := n.HasModule(digest)
		if err != nil {
			return nil, err
		}
		if !has && !slices.Contains(c.Missing, digest) {
			c.Missing = append(c.Missing, digest)
		}
	}
	e, err := n.find(name)
	if err != nil {
		c.Added = blocksOf(c.Plan)
		return c, nil //nolint:nilerr // there is none yet
	}
	state, _, d, _ := e.look()
	c.Action = "update"
	if sameBundle(&d.Bundle, b) && (state == admin.Running || state == admin.Starting) {
		c.Action = "none"
		return c, nil
	}
	old, err := n.parse(name, &d.Bundle)
	if err != nil {
		c.Notes = append(c.Notes, "what is deployed now cannot be read any more: "+err.Error())
		return c, nil
	}
	was, err := plan.Build(old)
	if err != nil {
		c.Notes = append(c.Notes, "what is deployed now cannot be planned any more: "+err.Error())
		return c, nil
	}
	compareSteps(c, plan.Explain(was))
	comparePlugins(c, old, p, &d.Bundle, b)
	if was.Hash == next.Hash && state == admin.Running && sameButPlugins(&d.Bundle, b) {
		c.Notes = append(c.Notes, "only plugins change: they are swapped while the pipeline runs, and come back if the first epoch fails")
	}
	if was.Hash != next.Hash {
		c.Notes = append(c.Notes, stateNote(was, next))
	}
	return c, nil
}

// stateNote says what becomes of state when the plans' hashes differ.
func stateNote(was, next *plan.Plan) string {
	names := func(p *plan.Plan) []string {
		var out []string
		for _, n := range p.Nodes {
			if n.Kind == plan.Aggregate {
				out = append(out, n.Block)
			}
		}
		return out
	}
	return fmt.Sprintf("state: it was written by the aggregates %v and does not fit %v as they are now: the pipeline will not start on it; "+
		"with --reset it is thrown away and the pipeline begins anew", names(was), names(next))
}

func blocksOf(x plan.Explanation) []string {
	out := []string{}
	for _, s := range x.Steps {
		if !slices.Contains(out, s.Block) {
			out = append(out, s.Block)
		}
	}
	return out
}

func stepsOf(x plan.Explanation, block string) []plan.Step {
	var out []plan.Step
	for _, s := range x.Steps {
		if s.Block == block {
			out = append(out, s)
		}
	}
	return out
}

// compareSteps notes which blocks are new, gone and different.
func compareSteps(c *admin.Change, was plan.Explanation) {
	before, after := blocksOf(was), blocksOf(c.Plan)
	for _, b := range after {
		switch {
		case !slices.Contains(before, b):
			c.Added = append(c.Added, b)
		case !reflect.DeepEqual(stepsOf(was, b), stepsOf(c.Plan, b)):
			c.Changed = append(c.Changed, b)
		}
	}
	for _, b := range before {
		if !slices.Contains(after, b) {
			c.Removed = append(c.Removed, b)
		}
	}
}

// comparePlugins notes the same of plugins: their modules, their configuration and what they are allowed.
func comparePlugins(c *admin.Change, old, p *config.Pipeline, was, now *admin.Bundle) {
	for _, a := range p.Plugins {
		b := pluginOf(old, a.Name)
		same := b != nil && was.Modules[a.Name] == now.Modules[a.Name] && samePlugin(a, b)
		switch {
		case b == nil:
			c.Added = append(c.Added, "plugin."+a.Name)
		case !same:
			c.Changed = append(c.Changed, "plugin."+a.Name)
		}
	}
	for _, b := range old.Plugins {
		if pluginOf(p, b.Name) == nil {
			c.Removed = append(c.Removed, "plugin."+b.Name)
		}
	}
}
