package wgate

// Version is the version of the SDK.
const Version = "0.1.0"

// Func processes one element. e and what it gives are good until it returns.
type Func func(e *Element, out *Emitter)

// Option is a property of a function.
type Option func(*function)

// function is one registered function; its id is its place in plugin.functions.
type function struct {
	name string
	each Func
	fold *combiner // of a combiner, else nil
	tags []string
	pure bool
}

// plugin is what the program registered.
var plugin struct {
	name, version string
	functions     []function
	open          []func(*Config) error
}

// Plugin names the plugin and its version. Call it from init.
func Plugin(name, version string) {
	plugin.name, plugin.version = name, version
}

// DoFn registers a function that is called for each element, as plugin.NAME.name in a pipeline. Call it from init; name is
// made of letters, digits and _.
func DoFn(name string, each Func, opts ...Option) {
	f := function{name: name, each: each}
	for _, o := range opts {
		o(&f)
	}
	plugin.functions = append(plugin.functions, f)
}

// Tags names the side outputs of a function. The first is Tag 1.
func Tags(names ...string) Option { return func(f *function) { f.tags = names } }

// Pure says that the same element always gives the same output, so that it can be taken back by running it again.
func Pure() Option { return func(f *function) { f.pure = true } }

// OnOpen registers a function that reads the configuration before the first element comes. An error refuses the
// configuration; the pipeline does not start then.
func OnOpen(f func(c *Config) error) { plugin.open = append(plugin.open, f) }

// manifest returns the plugin's manifest as JSON.
func manifest() []byte {
	b := append([]byte(nil), `{"abi":1,"name":`...)
	b = appendString(b, plugin.name)
	b = appendString(append(b, `,"version":`...), plugin.version)
	b = appendString(append(b, `,"sdk":`...), "go "+Version)
	b = append(b, `,"functions":[`...)
	for i, f := range plugin.functions {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendInt(append(b, `{"id":`...), int64(i))
		b = appendString(append(b, `,"name":`...), f.name)
		b = f.appendKind(b)
		if len(f.tags) > 0 {
			b = append(b, `,"tags":[`...)
			for j, t := range f.tags {
				if j > 0 {
					b = append(b, ',')
				}
				b = appendString(b, t)
			}
			b = append(b, ']')
		}
		if f.pure {
			b = append(b, `,"pure":true`...)
		}
		b = append(b, '}')
	}
	return append(b, `]}`...)
}

func (f *function) appendKind(b []byte) []byte {
	if f.fold == nil {
		return append(b, `,"kind":"dofn"`...)
	}
	b = appendInt(append(b, `,"kind":"combiner","args":`...), int64(f.fold.args))
	if f.fold.total {
		b = append(b, `,"total":true`...)
	}
	if f.fold.uncombine != nil {
		b = append(b, `,"uncombine":true`...)
	}
	return b
}
