package quickstart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/host/kafka"
)

// exchange plays the world around the pipeline: it produces the events and reads results and dead letters, as any client
// with isolation read_committed would. It ends when the pipeline has committed everything that was produced and all that
// it wrote up to then has been read.
func exchange(ctx context.Context, addr string, events []Event, o Options) (panes []Pane, late int, err error) {
	dead := kafka.DeadLetterTopic(pipelineName)
	client, err := kgo.NewClient(
		kgo.SeedBrokers(addr), kgo.ClientID("wgate-quickstart"), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ConsumeTopics(outputTopic, dead), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// The markers of transactions are wanted, too: they tell how far a partition has been read.
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.FetchMaxWait(100*time.Millisecond), kgo.MetadataMinAge(100*time.Millisecond),
		kgo.MetadataMaxAge(time.Second), kgo.UnknownTopicRetries(-1),
	)
	if err != nil {
		return nil, 0, err
	}
	defer client.Close()
	r := reader{client: client, admin: kadm.NewClient(client), dead: dead, show: o.Show, read: map[partition]int64{}}
	if err := r.produce(ctx, events, o.Pace); err != nil {
		return nil, 0, err
	}
	for {
		if err := r.poll(ctx, 200*time.Millisecond); err != nil {
			return nil, 0, err
		}
		through, err := r.through(ctx, int64(len(events)))
		if err != nil || through {
			return r.panes, r.late, err
		}
	}
}

type partition struct {
	topic string
	id    int32
}

// reader is a client of the broker beside the pipeline.
type reader struct {
	client *kgo.Client
	admin  *kadm.Client
	dead   string
	show   func(Pane)
	read   map[partition]int64 // the offset behind the last record that was read
	panes  []Pane
	late   int
}

// produce writes the events in their order, a slice of them every fiftieth of a second, and reads in between.
func (r *reader) produce(ctx context.Context, events []Event, pace time.Duration) error {
	const beat = 20 * time.Millisecond
	slices := max(1, int(pace/beat))
	for i := range slices {
		var recs []*kgo.Record
		for _, e := range events[len(events)*i/slices : len(events)*(i+1)/slices] {
			value, err := json.Marshal(e)
			if err != nil {
				return err
			}
			recs = append(recs, &kgo.Record{Topic: inputTopic, Partition: 0, Key: []byte(e.User), Value: value})
		}
		if err := r.client.ProduceSync(ctx, recs...).FirstErr(); err != nil {
			return fmt.Errorf("produce to topic %q: %w", inputTopic, err)
		}
		if pace > 0 {
			if err := r.poll(ctx, beat); err != nil {
				return err
			}
		}
	}
	return nil
}

// poll takes what comes until there is nothing for the length of wait.
func (r *reader) poll(ctx context.Context, wait time.Duration) error {
	end, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for end.Err() == nil {
		fetches := r.client.PollFetches(end)
		for _, e := range fetches.Errors() {
			if !errors.Is(e.Err, context.DeadlineExceeded) {
				return fmt.Errorf("read topic %q: %w", e.Topic, e.Err)
			}
		}
		for it := fetches.RecordIter(); !it.Done(); {
			if err := r.take(it.Next()); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (r *reader) take(rec *kgo.Record) error {
	r.read[partition{rec.Topic, rec.Partition}] = rec.Offset + 1
	if rec.Attrs.IsControl() {
		return nil
	}
	if rec.Topic == r.dead {
		if code := header(rec, "wgate-dl-code"); code != "late" {
			return fmt.Errorf("a dead letter with code %q: %s", code, header(rec, "wgate-dl-reason"))
		}
		r.late++
		return nil
	}
	p, err := paneOf(rec)
	if err != nil {
		return fmt.Errorf("topic %q, offset %d: %w", rec.Topic, rec.Offset, err)
	}
	r.panes = append(r.panes, p)
	r.show(p)
	return nil
}

// through reports whether the pipeline has committed n input records and everything that it wrote has been read.
func (r *reader) through(ctx context.Context, n int64) (bool, error) {
	group := kafka.GroupName(pipelineName)
	offs, err := r.admin.FetchOffsets(ctx, group)
	if errors.Is(err, kerr.GroupIDNotFound) {
		return false, nil // the pipeline has not come so far
	}
	if err != nil {
		return false, fmt.Errorf("offsets of group %q: %w", group, err)
	}
	if o, ok := offs.Lookup(inputTopic, 0); !ok || o.At < n {
		return false, nil
	}
	ends, err := r.admin.ListCommittedOffsets(ctx, outputTopic, r.dead)
	if err != nil {
		return false, fmt.Errorf("ends of topics: %w", err)
	}
	through := true
	ends.Each(func(e kadm.ListedOffset) {
		if e.Err == nil && r.read[partition{e.Topic, e.Partition}] < e.Offset {
			through = false
		}
	})
	return through, nil
}

func header(rec *kgo.Record, key string) string {
	for _, h := range rec.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// paneOf reads a result as language.md describes it: the key raw, window and pane in headers, the value as JSON.
func paneOf(rec *kgo.Record) (Pane, error) {
	var v struct {
		Total *int64 `json:"total"`
		Count *int64 `json:"n"`
	}
	if err := json.Unmarshal(rec.Value, &v); err != nil || v.Total == nil || v.Count == nil {
		return Pane{}, fmt.Errorf("not a result of the example pipeline: %w", errors.Join(err, errValue))
	}
	p := Pane{Key: string(rec.Key), Timing: header(rec, "wgate-pane-timing"), Total: *v.Total, Count: *v.Count}
	var errs [3]error
	p.Start, errs[0] = strconv.ParseInt(header(rec, "wgate-window-start"), 10, 64)
	p.End, errs[1] = strconv.ParseInt(header(rec, "wgate-window-end"), 10, 64)
	p.Index, errs[2] = strconv.Atoi(header(rec, "wgate-pane-index"))
	return p, errors.Join(errs[:]...)
}

var errValue = errors.New("want total and n")
