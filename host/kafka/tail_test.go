package kafka

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// TestTail sees what is committed after it was opened, also in a topic that comes later.
func TestTail(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("old", 1)
		e.produce(values("old", 0, 0, 3)...)
		tail, err := OpenTail(e.ctx, e.options(), []string{"old", "new"})
		if err != nil {
			t.Fatal(err)
		}
		defer tail.Close()
		next := func(want ...string) {
			t.Helper()
			var got []string
			for len(got) < len(want) {
				ctx, cancel := context.WithTimeout(e.ctx, 10*time.Second)
				recs, err := tail.Next(ctx)
				cancel()
				if err != nil {
					t.Fatalf("after %v: %v", got, err)
				}
				for _, r := range recs {
					got = append(got, r.Topic+" "+string(r.Value)+" "+string(r.Headers[0].Value))
				}
			}
			diff(t, "records", want, got)
		}
		rec := func(topic, value string) *kgo.Record {
			return &kgo.Record{Topic: topic, Value: []byte(value), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("x")}}}
		}
		e.produce(rec("old", "a"))
		next("old a x")
		e.topic("new", 1)
		e.produce(rec("new", "b"))
		next("new b x")
		ctx, cancel := context.WithTimeout(e.ctx, time.Second)
		defer cancel()
		if recs, err := tail.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || len(recs) > 0 {
			t.Errorf("%d records, %v", len(recs), err)
		}
	})
}
