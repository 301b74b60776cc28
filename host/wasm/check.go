package wasm

import (
	"context"
	"errors"
	"io/fs"

	"github.com/tetratelabs/wazero"

	"github.com/wgate/wgate/host/wasm/meter"
)

// Problem is something that keeps a plugin file from being used, and how to mend it.
type Problem struct {
	What string `json:"problem"`
	Next string `json:"next"`
}

// Report is what Check has found of a plugin file.
type Report struct {
	Path     string    `json:"path"`
	Digest   string    `json:"sha256"`
	Bytes    int       `json:"bytes"`
	Problems []Problem `json:"problems"`
}

// Check looks at everything that can be told of a plugin file without running it, and says all that is wrong: what has no
// problems is taken under the default limits. An error means that there is no file to look at.
func Check(ctx context.Context, path string) (*Report, error) {
	o := Options{}
	if err := o.complete(); err != nil {
		return nil, err
	}
	r := &Report{Path: path, Problems: []Problem{}}
	b, err := o.readFile(path)
	var ref *Refused
	switch {
	case errors.As(err, &ref) && !errors.Is(err, fs.ErrNotExist):
		r.Problems = append(r.Problems, Problem{ref.What, ref.Next})
		return r, nil
	case err != nil:
		return nil, err
	}
	a, wrong := o.examine(path, b, true)
	r.Digest, r.Bytes = a.digest, len(b)
	for _, w := range wrong {
		r.Problems = append(r.Problems, Problem{w.What, w.Next})
	}
	if a.module != nil && len(a.module.Excesses(quotaOf(&o))) == 0 {
		if err := validate(ctx, a, &o); err != nil {
			r.Problems = append(r.Problems, Problem{"its code is not valid: " + cut(err.Error(), messageBytes), "build it for core WebAssembly 2.0 with WASI preview 1, and with no other features"})
		}
	}
	return r, nil
}

// validate has the code checked, as it is and as it will be rewritten. The interpreter does that faster than the compiler.
func validate(ctx context.Context, a *admitted, o *Options) (err error) {
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer func() { err = errors.Join(err, rt.Close(ctx)) }()
	if _, err := rt.CompileModule(ctx, a.module.Capped(o.pages(), tableElements)); err != nil {
		return err
	}
	_, err = meter.Rewrite(a.module.Bytes)
	return err
}
