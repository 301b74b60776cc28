package wasm

import (
	"fmt"

	"github.com/wgate/wgate/host/engine"
)

// strictText is how much of what a guest said goes into the error of a strict instance.
const strictText = 1 << 10

// Strict makes the first trap, missed deadline, lack of memory or bad frame an error of the call, in place of looking for
// the row that causes it: so a version that is on trial is given up at once.
func (in *Instance) Strict(on bool) { in.strict = on }

// fatal is the error that a fault becomes.
func (m *Module) fatal(fn string, f *fault) error {
	return fmt.Errorf("plugin %q, function %s, module %.12s: %s: %s", m.opt.Name, fn, m.key.digest, f.code, cut(f.text, strictText))
}

// fatalRow is the error that a strict instance makes of failed rows of which the guest says that it trapped on them: an SDK
// may have caught the panic.
func (in *Instance) fatalRow(fn string, failed []engine.FailedRow) error {
	if !in.strict {
		return nil
	}
	for _, x := range failed {
		switch x.Code {
		case codeTrap, codeDeadline, codeMemory, codeFrame:
			return in.m.fatal(fn, &fault{code: x.Code, text: x.Text})
		}
	}
	return nil
}

// Tags returns the side outputs of DoFn fn: the first is what the guest calls number 1.
func (in *Instance) Tags(fn string) []string {
	if f := in.m.manifest.Function(fn); f != nil {
		return f.Tags
	}
	return nil
}
