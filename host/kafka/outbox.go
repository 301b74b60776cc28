package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/host/engine"
)

// The sizes of an outbox's slabs.
const (
	slabRecords = 1024
	slabHeaders = 8192
)

// outbox turns records into the client's and counts what was sent and what was acknowledged. The client keeps a pointer to
// each record until it is acknowledged, so slabs are used again only after a flush that left nothing under way.
type outbox struct {
	records [][]kgo.Record
	headers [][]kgo.RecordHeader
	slab    int // of records that is being filled
	head    int // of headers
	sent    int64
	state   *acks

	lastIn  []engine.RecordHeader // of the record before, within one call
	lastOut []kgo.RecordHeader
}

// acks is what promises report; an outbox that was thrown away leaves its own behind.
type acks struct {
	done  atomic.Int64
	mu    sync.Mutex
	first error // the first failure
}

func (a *acks) promise(r *kgo.Record, err error) {
	if err != nil {
		a.mu.Lock()
		if a.first == nil {
			a.first = sendFault(r.Topic, r.Partition, err)
		}
		a.mu.Unlock()
	}
	a.done.Add(1)
}

// failure returns the first failure.
func (a *acks) failure() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.first
}

// sendFault says what it means that a record was not taken.
func sendFault(topic string, partition int32, err error) error {
	next := ""
	switch {
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge):
		next = "raise the topic's max.message.bytes"
	case errors.Is(err, kerr.TopicAuthorizationFailed), errors.Is(err, kerr.TransactionalIDAuthorizationFailed):
		next = "give the user WRITE on the topic"
	case errors.Is(err, kerr.InvalidTimestamp):
		next = "raise the topic's message.timestamp.after.max.ms and message.timestamp.before.max.ms"
	case errors.Is(err, kerr.InvalidRecord):
		next = "a compacted topic takes no record without a key"
	default:
		return fmt.Errorf("topic %q partition %d: produce: %w", topic, partition, err)
	}
	return fault(CodeNotTaken, fmt.Sprintf("topic %q partition %d: the broker refused a record", topic, partition), err,
		next)
}

// send hands records to cl. It blocks while the client's buffer is full.
func (o *outbox) send(ctx context.Context, cl *kgo.Client, adm *admin, recs []engine.Record) error {
	if o.state == nil {
		o.state = new(acks)
	}
	clock := time.Now()
	topic, lim := "", limits{}
	o.lastIn, o.lastOut = nil, nil
	for i := range recs {
		rec := &recs[i]
		if rec.Topic != topic {
			var err error
			if lim, err = adm.topicLimits(ctx, rec.Topic); err != nil {
				return err
			}
			topic = rec.Topic
		}
		r := o.record(rec)
		r.Timestamp = stamp(rec, clock, lim)
		o.sent++
		cl.Produce(ctx, r, o.state.promise)
	}
	return o.state.failure()
}

// stamp is the record's timestamp: the event time, or the clock where there is none (a result of the global window). A
// broker refuses what is further ahead of its clock than the topic allows: such a record gets the latest that it takes.
func stamp(rec *engine.Record, clock time.Time, lim limits) time.Time {
	if !rec.Timestamp.IsFinite() {
		return clock
	}
	t := time.UnixMilli(int64(rec.Timestamp))
	if lim.ahead >= 0 {
		if latest := clock.Add(lim.ahead - min(lim.ahead, time.Minute)); t.After(latest) {
			return latest
		}
	}
	return t
}

// record fills the next record of the slabs.
func (o *outbox) record(rec *engine.Record) *kgo.Record {
	if o.slab == len(o.records) {
		o.records = append(o.records, make([]kgo.Record, 0, slabRecords))
	}
	slab := append(o.records[o.slab], kgo.Record{Topic: rec.Topic, Key: rec.Key, Value: rec.Value, Headers: o.copyHeaders(rec.Headers)})
	o.records[o.slab] = slab
	if len(slab) == cap(slab) {
		o.slab++
	}
	return &slab[len(slab)-1]
}

// copyHeaders puts headers into a slab. Records that share their headers go on sharing them.
func (o *outbox) copyHeaders(hs []engine.RecordHeader) []kgo.RecordHeader {
	if len(hs) == 0 {
		return nil
	}
	if len(o.lastIn) == len(hs) && &o.lastIn[0] == &hs[0] {
		return o.lastOut
	}
	for {
		if o.head == len(o.headers) {
			o.headers = append(o.headers, make([]kgo.RecordHeader, 0, max(slabHeaders, len(hs))))
		}
		if slab := o.headers[o.head]; cap(slab)-len(slab) >= len(hs) {
			start := len(slab)
			for _, h := range hs {
				slab = append(slab, kgo.RecordHeader{Key: h.Key, Value: h.Value})
			}
			o.headers[o.head] = slab
			o.lastIn, o.lastOut = hs, slab[start:len(slab):len(slab)]
			return o.lastOut
		}
		o.head++
	}
}

// flush waits until all that was sent is acknowledged.
func (o *outbox) flush(ctx context.Context, cl *kgo.Client) error {
	if o.sent == 0 {
		return nil
	}
	if err := cl.Flush(ctx); err != nil {
		return fmt.Errorf("kafka: flush: %w", err)
	}
	if err := o.state.failure(); err != nil {
		return err
	}
	if done := o.state.done.Load(); done != o.sent {
		return fmt.Errorf("kafka: flush: %d records were sent and %d acknowledged", o.sent, done)
	}
	o.reset()
	return nil
}

// reset makes the slabs free again. Nothing may be under way.
func (o *outbox) reset() {
	for i := range o.records {
		clear(o.records[i])
		o.records[i] = o.records[i][:0]
	}
	for i := range o.headers {
		clear(o.headers[i])
		o.headers[i] = o.headers[i][:0]
	}
	o.slab, o.head, o.sent, o.state = 0, 0, 0, nil
}

// producerOpts returns the options of a client that writes. Records are compressed if that was chosen, acknowledged by all
// in-sync replicas, and in order per key.
func producerOpts(a *admin) []kgo.Opt {
	codec := kgo.Lz4Compression()
	if a.opt.Compression == "none" {
		codec = kgo.NoCompression()
	}
	return []kgo.Opt{
		kgo.RequiredAcks(kgo.AllISRAcks()),
		kgo.ProducerBatchCompression(codec),
		kgo.ProducerLinger(5 * time.Millisecond),
		kgo.MaxBufferedRecords(100_000),
		kgo.MaxBufferedBytes(256 << 20),
		kgo.ProducerBatchMaxBytesFn(a.batchBytes),
	}
}

// batchBytes is how large a batch for a topic may be; send has asked for the topic's limits before the client does.
func (a *admin) batchBytes(topic string) int32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l, ok := a.limits[topic]; ok {
		return int32(min(max(l.maxBytes, 1024), 64<<20))
	}
	return 1_000_000
}
