package config

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
)

// literal evaluates an attribute that must be constant.
func (b body) literal(a *hclsyntax.Attribute) (event.Literal, bool) {
	return b.ld.constantOf(a.Expr, strconv.Quote(a.Name))
}

// wrong reports an attribute whose value is not what it must be.
func (b body) wrong(a *hclsyntax.Attribute, format string, args ...any) {
	b.ld.fail(a.Expr.Range(), "Invalid value of "+a.Name, format, args...)
}

// text reads a text that is not empty.
func (b body) text(name, def string) string {
	a := b.attr(name)
	if a == nil {
		return def
	}
	return b.textOf(a, def)
}

func (b body) textOf(a *hclsyntax.Attribute, def string) string {
	lit, ok := b.literal(a)
	switch {
	case !ok:
		return def
	case lit.Kind != event.String:
		b.wrong(a, "A text is needed here, in quotes; this is of type %s.", lit.Kind)
		return def
	case lit.Text == "":
		b.wrong(a, "The text must not be empty.")
		return def
	}
	return lit.Text
}

// choice reads one of the words of have. Words of later are of the language, but not in this version.
func (b body) choice(name, def string, have []string, later ...string) string {
	a := b.attr(name)
	if a == nil {
		return def
	}
	s := b.textOf(a, "")
	if s == "" {
		return def
	}
	for _, h := range have {
		if s == h {
			return s
		}
	}
	for _, l := range later {
		if s == l {
			b.ld.later(a.Expr.Range(), name+" = "+strconv.Quote(s))
			return def
		}
	}
	hint := didYouMean(s, append(append([]string(nil), have...), later...))
	b.wrong(a, "%q is not one of: %s.%s", s, strings.Join(have, ", "), hint)
	return def
}

// duration reads a length of time. Zero is refused unless zero is set; a negative one always is.
func (b body) duration(name string, def event.Duration, zero bool) event.Duration {
	a := b.attr(name)
	if a == nil {
		return def
	}
	d, ok := b.durationOf(a)
	switch {
	case !ok:
		return def
	case d < 0:
		b.wrong(a, "%s is negative; a length of time is needed.", d)
		return def
	case d == 0 && !zero:
		b.wrong(a, `%q must be longer than zero, for example "10s".`, name)
		return def
	}
	return d
}

// durationOf reads a length of time of either sign.
func (b body) durationOf(a *hclsyntax.Attribute) (event.Duration, bool) {
	lit, ok := b.literal(a)
	if !ok {
		return 0, false
	}
	d, why := durationLiteral(lit)
	if why != "" {
		b.ld.fail(a.Expr.Range(), "Invalid duration", "%s", why)
		return 0, false
	}
	return d, true
}

// units is the end of every message about a duration.
const units = `A duration is a number with a unit (ms, s, m, h, d), without blanks: "90s", "1.5h", "1h30m".`

func durationLiteral(lit event.Literal) (d event.Duration, why string) {
	switch lit.Kind {
	case event.Span:
		return lit.Value.Duration(), ""
	case event.Int, event.Decimal128, event.Float:
		return 0, "The number has no unit. " + units
	case event.String:
	default:
		return 0, "This is of type " + lit.Kind.String() + ". " + units
	}
	d, err := event.ParseDuration(lit.Text)
	if err == nil {
		return d, ""
	}
	if _, notNumber := strconv.ParseFloat(lit.Text, 64); notNumber == nil {
		return 0, strconv.Quote(lit.Text) + " has no unit. " + units
	}
	return 0, strconv.Quote(lit.Text) + " is not a duration. " + units
}

var sizeUnits = []struct {
	name  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

// size reads a number of bytes, such as "64MiB".
func (b body) size(name string, def int64) int64 {
	a := b.attr(name)
	if a == nil {
		return def
	}
	lit, ok := b.literal(a)
	if !ok {
		return def
	}
	if lit.Kind == event.String {
		for _, u := range sizeUnits {
			num, found := strings.CutSuffix(lit.Text, u.name)
			n, err := strconv.ParseInt(num, 10, 64)
			if found && err == nil && n > 0 && n <= (1<<50)/u.bytes {
				return n * u.bytes
			}
		}
	}
	b.wrong(a, `A size is a whole number above zero with a unit (B, KiB, MiB, GiB, KB, MB, GB), without blanks: "64MiB".`)
	return def
}

// integer reads a whole number from lo to hi.
func (b body) integer(name string, def, lo, hi int64) int64 {
	a := b.attr(name)
	if a == nil {
		return def
	}
	lit, ok := b.literal(a)
	if !ok {
		return def
	}
	if lit.Kind != event.Int || lit.Value.Int() < lo || lit.Value.Int() > hi {
		b.wrong(a, "A whole number from %d to %d is needed here.", lo, hi)
		return def
	}
	return lit.Value.Int()
}

func (b body) boolean(name string, def bool) bool {
	a := b.attr(name)
	if a == nil {
		return def
	}
	lit, ok := b.literal(a)
	if !ok {
		return def
	}
	if lit.Kind != event.Bool {
		b.wrong(a, "true or false is needed here, without quotes.")
		return def
	}
	return lit.Value.Bool()
}

// texts reads a list of texts, none of them empty; nil if the attribute is absent or wrong.
func (b body) texts(name, example string) []string {
	a := b.attr(name)
	if a == nil {
		return nil
	}
	lit, ok := b.literal(a)
	if !ok {
		return nil
	}
	var list []string
	if lit.Kind != event.List || json.Unmarshal([]byte(lit.Text), &list) != nil || len(list) == 0 {
		b.wrong(a, "A list of texts is needed here, for example: %s = %s.", name, example)
		return nil
	}
	if len(list) > maxNames {
		b.wrong(a, "The list may have %d texts; this has %d.", maxNames, len(list))
		return nil
	}
	seen := map[string]bool{}
	for _, s := range list {
		if s == "" || seen[s] {
			b.wrong(a, "%q stands in the list and is empty or a repetition.", s)
			return nil
		}
		seen[s] = true
	}
	return list
}

// instant reads a time of RFC 3339.
func (b body) instant(a *hclsyntax.Attribute, lit event.Literal) (event.Time, bool) {
	if lit.Kind == event.Instant {
		return lit.Value.Time(), true
	}
	if lit.Kind == event.String {
		if t, err := time.Parse(time.RFC3339Nano, lit.Text); err == nil {
			return event.TimeOf(t), true
		}
	}
	b.wrong(a, `A time is written with its zone: "2026-01-31T12:00:00Z".`)
	return 0, false
}

// policy reads on_error and max_errors.
func (b body) policy(def ErrorPolicy) ErrorPolicy {
	p := def
	p.OnError = OnError(b.choice("on_error", string(def.OnError), []string{string(DeadLetter), string(Skip), string(Fail)}))
	a := b.attr("max_errors")
	if a == nil {
		return p
	}
	if lit, ok := b.literal(a); ok {
		num, percent := strings.CutSuffix(lit.Text, "%")
		f, err := strconv.ParseFloat(num, 64)
		if lit.Kind != event.String || !percent || err != nil || !(f >= 0 && f <= 100) {
			b.wrong(a, `A share of the records is needed here, from "0%%" to "100%%", for example "1%%".`)
			return p
		}
		p.MaxErrors = f / 100
	}
	return p
}

// secret reads env("NAME") or file("path").
func (b body) secret(name string, literal bool) Secret {
	a := b.attr(name)
	if a == nil {
		return Secret{}
	}
	call, ok := a.Expr.(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "env" && call.Name != "file" || len(call.Args) != 1 {
		if literal {
			return NewSecret(b.textOf(a, ""))
		}
		b.wrong(a, `A secret does not stand in a pipeline. Write %s = env("NAME") or %s = file("path").`, name, name)
		return Secret{}
	}
	lit, ok := b.ld.constantOf(call.Args[0], "The argument of "+call.Name)
	if !ok {
		return Secret{}
	}
	if lit.Kind != event.String || lit.Text == "" {
		b.ld.fail(call.Args[0].Range(), "Invalid secret", `%s needs a text: %s("NAME").`, call.Name, call.Name)
		return Secret{}
	}
	if b.ld.opts.Getenv == nil {
		return Secret{}
	}
	return b.lookUp(call, lit.Text)
}

func (b body) lookUp(call *hclsyntax.FunctionCallExpr, name string) Secret {
	if call.Name == "env" {
		v, ok := b.ld.opts.Getenv(name)
		if !ok {
			b.ld.fail(call.Range(), "Secret not found", "The environment variable %s is not set where wgate runs. Set it, and keep it out of the pipeline.", name)
		}
		return NewSecret(v)
	}
	v, err := b.ld.opts.ReadFile(b.path(name))
	if err != nil {
		b.ld.fail(call.Range(), "Secret not found", "%s: %s. The path is relative to the file that names it.", name, cause(err))
	}
	return NewSecret(strings.TrimRight(string(v), "\r\n"))
}
