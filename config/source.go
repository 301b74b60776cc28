package config

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
)

// Defaults of a source.
const (
	defaultIdle      = 30 * event.Second
	defaultMaxFuture = event.Hour
	defaultMaxAhead  = 10 * event.Minute
)

// formats are what decode and encode can be.
var (
	formats      = []string{"json", "text", "bytes"}
	laterFormats = []string{"avro", "protobuf", "msgpack", "csv"}
)

// declareSource reads all of a source but its event_time, which flow reads when types are known.
func (ld *loader) declareSource(b *topBlock) {
	b.check(sourceSchema)
	s := &Source{Name: b.name, Pos: posOf(b.head)}
	s.Decode = b.choice("decode", "json", formats, laterFormats...)
	s.TimeUnit = b.choice("time_unit", "ms", []string{"s", "ms", "us", "ns"})
	s.Errors = b.policy(ld.policy)
	s.Watermark = Watermark{Idle: defaultIdle, MaxFuture: defaultMaxFuture, MaxAhead: defaultMaxAhead}
	if w, ok := b.block("watermark"); ok {
		w.check(watermarkSchema)
		s.Watermark = Watermark{
			OutOfOrder: w.duration("out_of_order", 0, true),
			Idle:       w.duration("idle", defaultIdle, false),
			MaxFuture:  w.duration("max_future", defaultMaxFuture, false),
			MaxAhead:   w.duration("max_ahead", defaultMaxAhead, false),
		}
	}
	b.readOrigin(s)
	b.readSchema(s)
	ld.p.Sources = append(ld.p.Sources, s)
	ld.graph.add(Ref{Kind: "source", Name: b.name}, b, nil, func(v *vertex, _ flow) { b.readEventTime(s, v) })
}

// readEventTime reads event_time. The record's own timestamp and the time of arrival are no expressions of the plan, but
// modes of a source.
func (b *topBlock) readEventTime(s *Source, v *vertex) {
	v.out = flow{value: s.Type, key: event.Any, source: true, declared: s.Schema != nil}
	a := b.attr("event_time")
	if a == nil {
		if s.File != nil {
			b.ld.fail(b.head, "Missing attribute", "Lines of a file have no timestamp of their own. Add event_time = value.FIELD, or event_time = arrival().")
		}
		return
	}
	if call, ok := a.Expr.(*hclsyntax.FunctionCallExpr); ok && call.Name == "arrival" && len(call.Args) == 0 {
		s.Arrival = true
		return
	}
	if steps := dotted(a.Expr); len(steps) == 2 && steps[0] == "record" && steps[1] == "timestamp" {
		if s.File != nil {
			b.wrong(a, "Lines of a file have no timestamp of their own. Use value.FIELD, or arrival().")
		}
		return
	}
	s.EventTime = b.ld.instantExpr(a.Expr, v.out)
}

// readOrigin reads where the records come from: kafka { } or file { }.
func (b body) readOrigin(s *Source) {
	k, isKafka := b.block("kafka")
	f, isFile := b.block("file")
	switch {
	case isKafka && isFile:
		b.ld.fail(f.head, "Two origins", "A source reads kafka or file; kafka is at %s. Make two sources of it.", at(k.head))
	case !isKafka && !isFile:
		b.ld.fail(b.head, "Missing block", `%s does not say where records come from. Add kafka { topic = "..." } or file { path = "..." }.`, b.what)
	}
	if isKafka {
		s.Kafka = k.readKafka()
	}
	if isFile {
		s.File = f.readFile()
	}
}

func (b body) readFile() *File {
	b.check(fileSchema)
	b.required("path", `"data.jsonl"`)
	return &File{Path: b.file("path"), Pos: posOf(b.head)}
}

func (b body) readKafka() *Kafka {
	b.check(sourceKafkaSchema)
	k := &Kafka{Broker: b.brokerOf(), StopTime: event.MaxTime, Pos: posOf(b.head)}
	var given []*hclsyntax.Attribute
	for _, name := range []string{"topic", "topics", "pattern"} {
		if a := b.attr(name); a != nil {
			given = append(given, a)
		}
	}
	switch len(given) {
	case 0:
		b.ld.fail(b.head, "Missing attribute", `Say what to read: topic = "NAME", topics = ["A", "B"] or pattern = "^REGEXP$".`)
	case 1:
	default:
		b.ld.fail(given[1].NameRange, "Attributes exclude each other", "%q at %s says already what to read. Remove one of the two.",
			given[0].Name, at(given[0].NameRange))
	}
	if t := b.text("topic", ""); t != "" {
		k.Topics = []string{t}
	}
	k.Topics = append(k.Topics, b.texts("topics", `["clicks", "views"]`)...)
	for _, t := range k.Topics {
		if why := badTopic(t); why != "" {
			b.wrong(given[0], "%q cannot be a topic: %s.", t, why)
		}
	}
	if p := b.text("pattern", ""); p != "" {
		if _, err := regexp.Compile(p); err != nil {
			b.wrong(b.attr("pattern"), "It is not a regular expression: %s.", regexpCause(err))
		}
		k.Pattern = p
	}
	b.readSpan(k)
	k.Isolation = b.choice("isolation", "read_committed", []string{"read_committed", "read_uncommitted"})
	return k
}

// readSpan reads start and stop.
func (b body) readSpan(k *Kafka) {
	k.Start = "earliest"
	if a := b.attr("start"); a != nil {
		lit, ok := b.literal(a)
		switch {
		case !ok:
		case lit.Kind == event.String && (lit.Text == "earliest" || lit.Text == "latest"):
			k.Start = lit.Text
		case lit.Kind == event.String && didYouMean(lit.Text, []string{"earliest", "latest"}) != "":
			b.wrong(a, "%q is neither earliest, latest nor a time.%s", lit.Text, didYouMean(lit.Text, []string{"earliest", "latest"}))
		default:
			if t, ok := b.instant(a, lit); ok {
				k.Start, k.StartTime = "time", t
			}
		}
	}
	a := b.attr("stop")
	if a == nil {
		return
	}
	if lit, ok := b.literal(a); ok {
		if t, ok := b.instant(a, lit); ok {
			k.StopTime = t
		}
	}
	if k.Start == "time" && k.StopTime <= k.StartTime {
		b.wrong(a, "It must be later than start.")
	}
}

// regexpCause says what is wrong with a regular expression, without repeating it.
func regexpCause(err error) string {
	var se *syntax.Error
	if errors.As(err, &se) {
		return se.Code.String()
	}
	return err.Error()
}

// badTopic says why Kafka would refuse the name of a topic.
func badTopic(t string) string {
	if len(t) > 249 {
		return "it has more than 249 characters"
	}
	if t == "." || t == ".." {
		return "Kafka does not allow it"
	}
	for i := 0; i < len(t); i++ {
		c := t[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return "topics have letters, digits, '.', '_' and '-' only"
		}
	}
	return ""
}
