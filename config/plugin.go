package config

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
)

// Defaults and bounds of a plugin's limits.
const (
	defaultMemory = 64 << 20
	defaultTime   = event.Second
	defaultOutput = 16 << 20
	maxMemory     = 4 << 30 // of a 32-bit module
)

func (ld *loader) readPlugin(b *topBlock) {
	b.check(pluginSchema)
	p := &Plugin{Name: b.name, Pos: posOf(b.head), Memory: defaultMemory, Time: defaultTime, Output: defaultOutput}
	b.required("path", `"scoring.wasm"`)
	p.Path = b.file("path")
	if sum := b.text("sha256", ""); sum != "" {
		p.SHA256 = strings.ToLower(sum)
		if len(sum) != 64 || strings.Trim(p.SHA256, "0123456789abcdef") != "" {
			b.wrong(b.attr("sha256"), "A SHA-256 has 64 hexadecimal digits; wgate plugin inspect prints it.")
		}
	}
	p.Guard = b.choice("guard", "metered", []string{"metered", "trusted"})
	p.GuardSet = b.attr("guard") != nil
	if l, ok := b.block("limits"); ok {
		l.check(limitsSchema)
		p.Memory = l.size("memory", defaultMemory)
		if p.Memory > maxMemory {
			l.wrong(l.attr("memory"), "A module can address 4GiB.")
		}
		p.Time = l.duration("time", defaultTime, false)
		p.Output = l.size("output", defaultOutput)
		if p.Output > maxMemory {
			l.wrong(l.attr("output"), "A module can address 4GiB.")
		}
	}
	if a := b.attr("config"); a != nil {
		if lit, ok := b.literal(a); ok {
			p.Config = jsonOf(lit)
		}
	}
	if al, ok := b.block("allow"); ok {
		al.check(allowSchema)
		p.HTTP = al.texts("http", `["https://api.example.com/"]`)
		for _, h := range p.HTTP {
			if u, err := url.Parse(h); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
				al.wrong(al.attr("http"), `%q is not the beginning of a URL, such as "https://api.example.com/v1/".`, h)
			}
		}
	}
	ld.plugins[b.name] = p
	ld.p.Plugins = append(ld.p.Plugins, p)
}

// jsonOf writes a constant as JSON; times and durations as milliseconds.
func jsonOf(l event.Literal) []byte {
	var out []byte
	var err error
	switch l.Kind {
	case event.List, event.Object:
		return []byte(l.Text)
	case event.String:
		out, err = json.Marshal(l.Text)
	case event.Bool:
		out, err = json.Marshal(l.Value.Bool())
	case event.Int:
		out, err = json.Marshal(l.Value.Int())
	case event.Float:
		out, err = json.Marshal(l.Value.Float())
	case event.Decimal128:
		return l.Value.Decimal().AppendTo(nil)
	case event.Instant:
		out, err = json.Marshal(int64(l.Value.Time()))
	case event.Span:
		out, err = json.Marshal(int64(l.Value.Duration()))
	default:
		return []byte("null")
	}
	if err != nil {
		return []byte("null")
	}
	return out
}

// callOf reads do = plugin.NAME.FUNCTION.
func (b body) callOf(a *hclsyntax.Attribute) *Call {
	ld := b.ld
	steps := dotted(a.Expr)
	if len(steps) != 3 || steps[0] != "plugin" {
		b.wrong(a, "Write plugin.NAME.FUNCTION, where NAME is the label of a plugin block.")
		return nil
	}
	p := ld.plugins[steps[1]]
	if p == nil {
		ld.fail(a.Expr.Range(), "Unknown plugin", "There is no plugin %q.%s", steps[1], didYouMean(steps[1], keysOf(ld.plugins)))
		return nil
	}
	return &Call{Plugin: p, Function: steps[2], Pos: posOf(a.Expr.Range())}
}
