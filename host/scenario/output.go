package scenario

import (
	"context"

	"github.com/wgate/wgate/host/engine"
)

// sinkOutput records what a sink writes.
type sinkOutput struct {
	rec    *recorder
	name   string // sink.NAME
	encode string
}

// Write records records.
func (o *sinkOutput) Write(_ context.Context, recs []engine.Record) error {
	for i := range recs {
		o.rec.takeRecord(o.name, o.encode, &recs[i])
	}
	return nil
}

// Flush has nothing to wait for.
func (o *sinkOutput) Flush(context.Context) error { return nil }

// deadLetter is a record that failed.
type deadLetter struct{ operator, code, reason, topic, partition, offset string }

// deadOutput records dead letters: a scenario that fails says what became of its records.
type deadOutput struct{ rec *recorder }

// Write records dead letters.
func (o *deadOutput) Write(_ context.Context, recs []engine.Record) error {
	for i := range recs {
		var d deadLetter
		for _, h := range recs[i].Headers {
			switch v := string(h.Value); h.Key {
			case "wgate-dl-operator":
				d.operator = v
			case "wgate-dl-code":
				d.code = v
			case "wgate-dl-reason":
				d.reason = v
			case "wgate-dl-topic":
				d.topic = v
			case "wgate-dl-partition":
				d.partition = v
			case "wgate-dl-offset":
				d.offset = v
			}
		}
		o.rec.dead = append(o.rec.dead, d)
	}
	return nil
}

// Flush has nothing to wait for.
func (o *deadOutput) Flush(context.Context) error { return nil }
