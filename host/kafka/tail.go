package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

// tailLook is how often a Tail looks for topics and partitions that are new.
const tailLook = 250 * time.Millisecond

// Tail reads topics as anybody else would: what has been committed to them since it was opened. It is in no group. It is
// used by one goroutine at a time.
type Tail struct {
	adm    *admin
	cl     *kgo.Client
	topics []string
	known  map[string]map[int32]bool
	looked time.Time
}

// OpenTail begins at the present ends of topics. A topic that does not exist yet is read from its beginning as soon as it
// does. Of o, the broker is used.
func OpenTail(ctx context.Context, o Options, topics []string) (*Tail, error) {
	if len(topics) == 0 {
		return nil, errors.New("there are no topics to read")
	}
	a, err := openAdmin(ctx, &o)
	if err != nil {
		return nil, err
	}
	t := &Tail{adm: a, topics: topics, known: map[string]map[int32]bool{}}
	opts, err := clientOpts(&o)
	if err == nil {
		t.cl, err = kgo.NewClient(append(opts, kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.FetchMaxWait(tailLook),
			kgo.MetadataMinAge(tailLook))...)
	}
	if err != nil {
		a.close()
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	fresh, err := t.fresh(ctx)
	if err == nil && len(fresh) > 0 {
		var ends map[string]map[int32]int64
		if ends, err = a.offsets(ctx, fresh, tsLatest, true); err == nil {
			t.begin(fresh, ends)
		}
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	t.looked = time.Now()
	return t, nil
}

// Close ends the reading.
func (t *Tail) Close() {
	t.cl.Close()
	t.adm.close()
}

// Next waits for records and returns them, those of a partition in their order. It returns none and the error of ctx when
// that ends.
func (t *Tail) Next(ctx context.Context) ([]engine.Record, error) {
	for {
		if time.Since(t.looked) >= tailLook {
			fresh, err := t.fresh(ctx)
			if err != nil {
				return nil, err
			}
			t.begin(fresh, nil)
			t.looked = time.Now()
		}
		wait, cancel := context.WithTimeout(ctx, tailLook)
		fetches := t.cl.PollFetches(wait)
		cancel()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := fetches.Err(); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("read topics %v: %w", t.topics, err)
		}
		var out []engine.Record
		fetches.EachRecord(func(r *kgo.Record) { out = append(out, tailRecord(r)) })
		if len(out) > 0 {
			return out, nil
		}
	}
}

// fresh returns the partitions that were not there when it was last called.
func (t *Tail) fresh(ctx context.Context) (map[string][]int32, error) {
	found, err := t.adm.adm.ListTopics(ctx, t.topics...)
	if err != nil {
		return nil, fmt.Errorf("topics %v: %w", t.topics, err)
	}
	out := map[string][]int32{}
	for name, d := range found {
		if d.Err != nil {
			continue // not yet
		}
		for id := range d.Partitions {
			if t.known[name] == nil {
				t.known[name] = map[int32]bool{}
			}
			if !t.known[name][id] {
				t.known[name][id] = true
				out[name] = append(out[name], id)
			}
		}
	}
	return out, nil
}

// begin reads partitions from the given offsets on; from their beginning where there is none.
func (t *Tail) begin(parts map[string][]int32, at map[string]map[int32]int64) {
	add := map[string]map[int32]kgo.Offset{}
	for topic, ids := range parts {
		add[topic] = map[int32]kgo.Offset{}
		for _, id := range ids {
			add[topic][id] = kgo.NewOffset().At(at[topic][id])
		}
	}
	if len(add) > 0 {
		t.cl.AddConsumePartitions(add)
	}
}

func tailRecord(r *kgo.Record) engine.Record {
	out := engine.Record{Topic: r.Topic, Key: r.Key, Value: r.Value, Timestamp: event.TimeOf(r.Timestamp)}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, engine.RecordHeader{Key: h.Key, Value: h.Value})
	}
	return out
}
