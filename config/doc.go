// Package config reads pipelines written in HCL and checks them: every reference, name, type, unit and default. Its result
// is a Pipeline, which needs nothing of the source text any more, or a list of diagnostics that names every mistake at
// once, each with its place and its remedy.
//
// A load goes through these steps, each in a file of its own: prescan.go refuses what would kill the HCL parser; load.go
// parses; schema.go and body.go check which blocks and attributes stand where; constant.go gives variables and locals
// their values; pipeline.go, broker.go, source.go, plugin.go, transform.go, aggregate.go and sink.go read the blocks;
// graph.go orders them; flow.go carries the type of a value from a source to the sinks, while convert.go turns HCL
// expressions into the trees of package expr, which checks and compiles them; view.go shows diagnostics.
//
// This is the only package that knows HCL and cty. Callers get hcl.Diagnostics, which they can ask (HasErrors) and show
// (Render, DiagnosticsJSON) without importing them.
package config
