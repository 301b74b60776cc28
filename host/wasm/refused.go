package wasm

// Refused is the error about a plugin that cannot be used: what is wrong, and what to do about it.
type Refused struct {
	Plugin string // label of the plugin block; may be empty
	Path   string // may be empty
	What   string
	Next   string
	Err    error // may be nil
}

// Error writes `plugin "NAME": PATH: WHAT; NEXT`.
func (r *Refused) Error() string {
	s := "plugin"
	if r.Plugin != "" {
		s += ` "` + r.Plugin + `"`
	}
	if r.Path != "" {
		s += ": " + r.Path
	}
	return s + ": " + r.What + "; " + r.Next
}

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.Err }

func (o *Options) refuse(path, what, next string) *Refused {
	return &Refused{Plugin: o.Name, Path: path, What: what, Next: next}
}
