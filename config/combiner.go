package config

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// pluginName is what the name of a called function begins with once hideCalls has been there.
const pluginName = "plugin-"

// hideCalls returns src with every call plugin.NAME.FUNCTION( written plugin-NAME-FUNCTION(, which is one name to HCL. Every
// byte keeps its place, so that whoever needs the name as it was reads it in src.
func hideCalls(src []byte, name string) []byte {
	if !bytes.Contains(src, []byte("plugin.")) {
		return src
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	is := []hclsyntax.TokenType{
		hclsyntax.TokenIdent, hclsyntax.TokenDot, hclsyntax.TokenIdent, hclsyntax.TokenDot, hclsyntax.TokenIdent, hclsyntax.TokenOParen,
	}
	out := bytes.Clone(src)
scan:
	for i := 0; i+len(is) <= len(tokens); i++ {
		if string(tokens[i].Bytes) != "plugin" || i > 0 && tokens[i-1].Type == hclsyntax.TokenDot {
			continue
		}
		for k, t := range is {
			if tokens[i+k].Type != t || k > 0 && tokens[i+k].Range.Start.Byte != tokens[i+k-1].Range.End.Byte {
				continue scan
			}
		}
		out[tokens[i+1].Range.Start.Byte], out[tokens[i+3].Range.Start.Byte] = '-', '-'
	}
	return out
}

// combinerOf returns plugin, function as the name of a call has them; ok is false if it names no function of a plugin.
func (ld *loader) combinerOf(e *hclsyntax.FunctionCallExpr) (plugin, function string, ok bool) {
	if !strings.HasPrefix(e.Name, pluginName) {
		return "", "", false
	}
	parts := strings.Split(sourceOf(ld, e.NameRange), ".")
	if len(parts) != 3 {
		return "", "", false
	}
	return parts[1], parts[2], true
}

// remote takes the call of a plugin's combiner out of compute.
func (c *computer) remote(e *hclsyntax.FunctionCallExpr, plugin, function string) (*expr.Node, bool) {
	p := c.ld.plugins[plugin]
	if p == nil {
		c.ld.fail(e.NameRange, "Unknown plugin", "There is no plugin %q.%s", plugin, didYouMean(plugin, keysOf(c.ld.plugins)))
		return nil, false
	}
	args, where, ok := c.filter(e)
	if !ok {
		return nil, false
	}
	if len(args) == 0 {
		c.ld.fail(e.Range(), "Wrong argument", "A combiner takes one argument or more: say what it is to combine, such as %s(value).", sourceOf(c.ld, e.NameRange))
		return nil, false
	}
	return c.slot(e, func() (Agg, bool) {
		a, _, ok := c.argsOf(e, args, where)
		a.Func, a.Type = sourceOf(c.ld, e.NameRange), event.Any
		a.Call = &Call{Plugin: p, Function: function, Pos: posOf(e.NameRange)}
		return a, ok
	})
}

// readCombiner reads combiner = plugin.NAME.FUNCTION: the combiner takes the values, and its result is the value.
func (b *topBlock) readCombiner(a *Aggregate, in flow) bool {
	attr := b.attr("combiner")
	if o := b.attr("compute"); o != nil {
		b.ld.fail(attr.NameRange, "Attributes exclude each other",
			"compute is at %s already. A combiner makes the value by itself; as one of several results call it in compute: r = plugin.NAME.FUNCTION(value).", at(o.NameRange))
		return false
	}
	call := b.callOf(attr)
	if call == nil {
		return false
	}
	pos := posOf(attr.Expr.Range())
	arg := b.ld.checked(&expr.Node{Op: expr.OpVar, Name: "value", Pos: pos}, in.scope(), in.declared)
	if arg == nil {
		return false
	}
	text := "plugin." + call.Plugin.Name + "." + call.Function
	a.Aggs = []Agg{{Func: text, Call: call, Args: []*expr.Expr{arg}, Type: event.Any, Pos: pos}}
	node := &expr.Node{Op: expr.OpSlot, Name: text, Type: event.Any, Pos: pos}
	a.Value = b.ld.checked(node, expr.Scope{Key: a.Key.Type, Windowed: true, NoValue: true}, false)
	return a.Value != nil
}
