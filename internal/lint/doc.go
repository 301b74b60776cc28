// Package lint holds the rules of this house as ordinary Go tests: which package may import which, that the core reads no
// clock and starts no goroutine, that names are explained and files stay short, what the module may depend on, and that
// docs/architecture.md speaks of files and names that exist. It has no code of its own to import.
//
// A rule is a function from parsed sources to a list of problems, and each has a test that shows it a source that breaks
// the rule. Start with source_test.go (how sources are read), then layers_test.go.
package lint
