package config

import (
	"slices"

	"github.com/wgate/wgate/triggers"
)

// declareSink reads what of a sink needs no types.
func (ld *loader) declareSink(b *topBlock) {
	b.check(sinkSchema)
	s := &Sink{Name: b.name, Pos: posOf(b.head), Errors: b.policy(ld.policy)}
	s.Encode = b.choice("encode", "json", formats, laterFormats...)
	s.Changes = b.choice("changes", "append", []string{"append", "retract", "upsert"})
	b.readTarget(s)
	ld.p.Sinks = append(ld.p.Sinks, s)
	ld.graph.add(Ref{Kind: "sink", Name: b.name}, b, b.input(), func(v *vertex, in flow) { b.readSink(s, v, in) })
}

// readTarget reads where the rows go: exactly one of kafka, file and stdout.
func (b body) readTarget(s *Sink) {
	var found []body
	for _, name := range []string{"kafka", "file", "stdout"} {
		if t, ok := b.block(name); ok {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 0:
		b.ld.fail(b.head, "Missing block", `%s does not say where rows go. Add kafka { topic = "..." }, file { path = "..." } or stdout {}.`, b.what)
	case 1:
	default:
		b.ld.fail(found[1].head, "Two targets", "A sink writes to one place, and there is another at %s. Make two sinks of it.", at(found[0].head))
	}
	if k, ok := b.block("kafka"); ok {
		s.Kafka = k.readKafkaSink(s.Changes)
	}
	if f, ok := b.block("file"); ok {
		s.File = f.readFile()
	}
	if o, ok := b.block("stdout"); ok {
		o.check(stdoutSchema)
		s.Stdout = true
	}
}

func (b body) readKafkaSink(changes string) *KafkaSink {
	b.check(sinkKafkaSchema)
	k := &KafkaSink{Broker: b.brokerOf(), Pos: posOf(b.head)}
	if a := b.required("topic", `"results"`); a != nil {
		k.Topic = b.text("topic", "")
		if why := badTopic(k.Topic); k.Topic != "" && why != "" {
			b.wrong(a, "%q cannot be a topic: %s.", k.Topic, why)
		}
	}
	c, ok := b.block("create")
	if !ok {
		return k
	}
	c.check(createSchema)
	cleanup := "delete"
	if changes == "upsert" {
		cleanup = "compact"
	}
	k.Create = &Create{
		Partitions:  int32(c.integer("partitions", -1, 1, 100_000)),
		Replication: int16(c.integer("replication", -1, 1, 100)),
		Cleanup:     c.choice("cleanup", cleanup, []string{"delete", "compact"}),
	}
	if changes == "upsert" && k.Create.Cleanup == "delete" {
		b.ld.warn(c.attr("cleanup").Expr.Range(), "Upsert topic not compacted",
			`A topic with cleanup = "delete" forgets the current result of a key that has not changed for long. Use "compact".`)
	}
	return k
}

// readSink compiles the expressions of a sink and checks its changes against the panes that it gets.
func (b *topBlock) readSink(s *Sink, v *vertex, in flow) {
	if len(v.inputs) > 0 {
		s.Input = v.inputs[0]
	}
	s.Key = b.readKey(in)
	s.KeySet = b.attr("key") != nil
	if a := b.attr("value"); a != nil {
		s.Value = b.ld.compile(a.Expr, in)
	}
	if a := b.attr("headers"); a != nil {
		s.Headers = b.assigns(a, in)
	}
	b.checkLoop(s)
	if in.agg != nil {
		b.checkChanges(s, in.agg)
	}
}

// checkChanges refuses what would leave wrong rows in the sink.
func (b *topBlock) checkChanges(s *Sink, a *Aggregate) {
	rng := b.head
	if c := b.attr("changes"); c != nil {
		rng = c.Expr.Range()
	}
	what := "aggregate." + a.Name
	several := a.Lateness > 0 || !a.Trigger.Equal(triggers.Default())
	switch {
	case s.Changes == "append" && a.Panes == "retracting":
		b.ld.fail(rng, "Changes do not fit the panes",
			`%s takes results back (panes = "retracting"), and a sink with changes = "append" cannot. Use changes = "retract" or "upsert".`, what)
	case s.Changes == "upsert" && a.Panes == "accumulating" && a.Window.Kind.Merging():
		b.ld.fail(rng, "Changes do not fit the panes",
			`Windows of %s merge, and with panes = "accumulating" the rows of swallowed windows would stay for ever in an upsert. Use panes = "retracting", or changes = "append".`, what)
	case s.Changes == "upsert" && a.Panes == "discarding" && several:
		b.ld.warn(rng, "Changes do not fit the panes",
			`%s sends parts of a result (panes = "discarding"), and each replaces the one before. Use panes = "accumulating", or changes = "append".`, what)
	}
}

// checkLoop warns of a sink that feeds a source of its own pipeline.
func (b *topBlock) checkLoop(s *Sink) {
	if s.Kafka == nil || s.Kafka.Topic == "" {
		return
	}
	for _, src := range b.ld.p.Sources {
		if k := src.Kafka; k != nil && k.Broker == s.Kafka.Broker && slices.Contains(k.Topics, s.Kafka.Topic) {
			b.ld.warn(rangeOf(s.Kafka.Pos), "Pipeline reads its own output", "source.%s reads topic %q, too: records may go round for ever.", src.Name, s.Kafka.Topic)
		}
	}
}
