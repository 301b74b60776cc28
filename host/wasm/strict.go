package wasm

import "fmt"

// strictText is how much of what a guest said goes into the error of a strict instance.
const strictText = 1 << 10

// Strict makes the first trap, missed deadline, lack of memory or bad frame an error of the call, in place of looking for
// the row that causes it: so a version that is on trial is given up at once.
func (in *Instance) Strict(on bool) { in.strict = on }

// fatal is the error that a fault becomes.
func (m *Module) fatal(fn string, f *fault) error {
	return fmt.Errorf("plugin %q, function %s, module %.12s: %s: %s", m.opt.Name, fn, m.key.digest, f.code, cut(f.text, strictText))
}

// Tags returns the side outputs of DoFn fn: the first is what the guest calls number 1.
func (in *Instance) Tags(fn string) []string {
	if f := in.m.manifest.Function(fn); f != nil {
		return f.Tags
	}
	return nil
}
