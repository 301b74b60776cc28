package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

// A call gives one partition's records, at most a bundle full, and positions move only by what was given.
func TestSession_bundleLimits(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 2)
		e.produce(append(values("in", 0, 0, 5000), values("in", 1, 0, 10)...)...)
		s := e.ready(e.options())
		sizes := map[int32][]int{}
		for total := 0; total < 5010; {
			b := bundle()
			ok, err := s.Poll(e.ctx, 5*time.Second, b)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			part := b.Origins[0].Partition
			for i, o := range b.Origins {
				if o.Partition != part || i > 0 && o.Offset != b.Origins[i-1].Offset+1 {
					t.Fatalf("row %d: %+v", i, o)
				}
			}
			if pos := s.Partitions(nil)[part].Position; pos != b.Origins[b.Len()-1].Offset+1 {
				t.Errorf("position %d after offset %d", pos, b.Origins[b.Len()-1].Offset)
			}
			if b.Len() > event.BundleRows || len(b.Keys) != b.Len() || len(b.Values) != b.Len() || len(b.Marks) != b.Len() || len(b.Ops) != b.Len() || len(b.Heads) != 0 {
				t.Errorf("arrays of different lengths, or too many rows: %d", b.Len())
			}
			sizes[part] = append(sizes[part], b.Len())
			total += b.Len()
		}
		if ok, err := s.Poll(e.ctx, 0, bundle()); ok || err != nil {
			t.Error("more came", err)
		}
	})
}

// Records of 3 MiB fill a bundle by bytes; appending to a bundle that has rows goes on with its arrays.
func TestSession_bundleBytes(t *testing.T) {
	bubble(t, func(e *env) {
		if err := e.fake.CreateTopic("in", 1, map[string]string{"max.message.bytes": "8000000"}); err != nil {
			t.Fatal(err)
		}
		cl := e.client(kgo.ProducerBatchMaxBytes(8_000_000))
		big := bytes.Repeat([]byte("x"), 3<<20)
		for range 7 {
			if err := cl.ProduceSync(e.ctx, &kgo.Record{Topic: "in", Value: big}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		h := []kgo.RecordHeader{{Key: "h", Value: []byte("v")}}
		if err := cl.ProduceSync(e.ctx, &kgo.Record{Topic: "in", Value: []byte("small"), Headers: h}).FirstErr(); err != nil {
			t.Fatal(err)
		}
		s := e.ready(e.options())
		rows := 0
		b := bundle()
		for rows < 8 {
			before := b.Len()
			ok, err := s.Poll(e.ctx, 3*time.Second, b)
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				if b.Len() == 0 {
					t.Fatal("nothing comes")
				}
				if b.Heap.Len() > event.BundleBytes {
					t.Errorf("%d bytes", b.Heap.Len())
				}
				b = bundle()
				continue
			}
			rows += b.Len() - before
		}
		if len(b.Heads) != b.Len() || string(b.Heap.Get(b.RowHeaders(b.Len() - 1)[0].Value)) != "v" {
			t.Errorf("headers: %v for %d rows", b.Heads, b.Len())
		}
		if b.Len() > 1 && len(b.RowHeaders(0)) != 0 {
			t.Error("the first row has headers")
		}
	})
}

// A partition that is held back gives nothing, loses nothing, and does not hold the others back.
func TestSession_pause(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 2)
		e.produce(append(values("in", 0, 0, 3), values("in", 1, 10, 13)...)...)
		s := e.ready(e.options())
		p0 := engine.Partition{Topic: "in", ID: 0}
		s.Pause(p0, true)
		diff(t, "the other", []string{"in/1/0=10", "in/1/1=11", "in/1/2=12"}, e.drain(s))
		e.produce(append(values("in", 0, 3, 4), values("in", 1, 13, 14)...)...)
		diff(t, "the other", []string{"in/1/3=13"}, e.drain(s))
		s.Pause(p0, false)
		diff(t, "held back", []string{"in/0/0=0", "in/0/1=1", "in/0/2=2", "in/0/3=3"}, e.drain(s))

		// Held back in the middle of what was fetched.
		e.produce(append(values("in", 0, 4, 6), values("in", 1, 14, 16)...)...)
		time.Sleep(time.Second)
		b := bundle()
		if ok, err := s.Poll(e.ctx, time.Second, b); !ok || err != nil {
			t.Fatal(ok, err)
		}
		other := engine.Partition{Topic: "in", ID: 1 - b.Origins[0].Partition}
		s.Pause(other, true)
		diff(t, "nothing", []string(nil), e.drain(s))
		s.Pause(other, false)
		diff(t, "the rest", 2, len(e.drain(s)))
	})
}

func TestSession_pollErrors(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		s := e.open(e.options())
		if _, err := s.Poll(e.ctx, 0, bundle()); !errors.Is(err, errNoMember) {
			t.Error(err)
		}
		if _, err := s.Begin(e.ctx); !errors.Is(err, errNoMember) {
			t.Error(err)
		}
		if err := s.Seek(e.ctx, nil); !errors.Is(err, errNoMember) {
			t.Error(err)
		}
		e.recover(s)
		if err := s.Send(e.ctx, nil); !errors.Is(err, errNoTxn) {
			t.Error(err)
		}
		if err := s.Flush(e.ctx); !errors.Is(err, errNoTxn) {
			t.Error(err)
		}
		if _, err := s.End(e.ctx, engine.Member{}, nil); !errors.Is(err, errNoTxn) {
			t.Error(err)
		}
		m, err := s.Begin(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.send(s, "not flushed")
		if outcome, err := s.End(e.ctx, m, positions(s, "t")); outcome == engine.Committed || !errors.Is(err, errNoFlush) {
			t.Error(outcome, err)
		}
		if m, err = s.Begin(e.ctx); err != nil {
			t.Fatal(err)
		}
		if outcome, err := s.End(e.ctx, m, nil); outcome == engine.Committed || !errors.Is(err, errNoAnchor) {
			t.Error(outcome, err)
		}
		diff(t, "results", 0, len(e.committedRecords("out", 1)))
		over, cancel := context.WithCancel(e.ctx)
		cancel()
		if _, err := s.Poll(over, time.Second, bundle()); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// The largest record that MaxRecordBytes allows is taken, and one that the topic does not take fails the flush.
func TestSession_maxRecordBytes(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		o := e.options()
		o.Compression = "none"
		s := e.ready(o)
		limit, err := s.MaxRecordBytes(e.ctx, "out")
		if err != nil || limit < 1_000_000 || limit > 1048588 {
			t.Fatal(limit, err)
		}
		send := func(n int) (engine.Outcome, error) {
			m, err := s.Begin(e.ctx)
			if err != nil {
				t.Fatal(err)
			}
			var hs []engine.RecordHeader
			for i := range 20 {
				h := engine.RecordHeader{Key: fmt.Sprintf("header-%02d", i), Value: []byte("v")}
				hs = append(hs, h)
				n -= len(h.Key) + len(h.Value) + 16
			}
			rec := engine.Record{Topic: "out", Key: []byte("key"), Value: bytes.Repeat([]byte("v"), n-3), Headers: hs, Timestamp: event.MaxTime}
			err = s.Send(e.ctx, []engine.Record{rec}) // the client may know already that it is too large
			if err == nil {
				err = s.Flush(e.ctx)
			}
			if err != nil {
				return engine.Aborted, errors.Join(err, s.Abort(e.ctx))
			}
			return s.End(e.ctx, m, positions(s, ""))
		}
		if outcome, err := send(limit); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		outcome, err := send(limit + 1000)
		if outcome != engine.Aborted {
			t.Fatal(outcome, err)
		}
		wantFault(t, err, CodeNotTaken)
		if !errors.Is(err, kerr.MessageTooLarge) {
			t.Error(err)
		}
		diff(t, "results", 1, len(e.committedRecords("out", 1)))
		if _, err := s.MaxRecordBytes(e.ctx, "nowhere"); err == nil {
			t.Error("no error for a topic that is not there")
		}
	})
}

func TestStamp(t *testing.T) {
	clock := time.UnixMilli(1_000_000_000)
	for _, tc := range []struct {
		ts   event.Time
		lim  limits
		want int64
	}{
		{5, limits{ahead: -1}, 5},
		{-5, limits{ahead: -1}, -5},
		{event.MaxTime, limits{ahead: -1}, 1_000_000_000},
		{event.MinTime, limits{ahead: -1}, 1_000_000_000},
		{2_000_000_000, limits{ahead: -1}, 2_000_000_000},
		{1_000_000_000 + 59*60_000, limits{ahead: time.Hour}, 1_000_000_000 + 59*60_000},
		{1_000_000_000 + 61*60_000, limits{ahead: time.Hour}, 1_000_000_000 + 59*60_000},
		{1_000_000_000 + 10, limits{ahead: 0}, 1_000_000_000},
	} {
		if got := stamp(&engine.Record{Timestamp: tc.ts}, clock, tc.lim).UnixMilli(); got != tc.want {
			t.Errorf("stamp %v, limits %+v: got %d, want %d", tc.ts, tc.lim, got, tc.want)
		}
	}
}

func TestOutput(t *testing.T) {
	bubble(t, func(e *env) {
		o := e.options()
		o.Sources = nil
		o.Sinks[0].Kafka.Create = &config.Create{Partitions: 1}
		w, err := OpenOutput(e.ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		var want []string
		for round := range 3 {
			var recs []engine.Record
			for i := range 2000 {
				v := fmt.Sprintf("%d-%d", round, i)
				want = append(want, v)
				recs = append(recs, engine.Record{Topic: "out", Key: []byte("k"), Value: []byte(v), Headers: []engine.RecordHeader{{Key: "i", Value: []byte(v)}}, Timestamp: 7})
			}
			if err := w.Write(e.ctx, recs); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(e.ctx); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, r := range e.committedRecords("out", 1) {
			if string(r.Headers[0].Value) != string(r.Value) {
				t.Fatalf("header %s of value %s", r.Headers[0].Value, r.Value)
			}
			got = append(got, string(r.Value))
		}
		diff(t, "records", want, got)
		if n, err := w.MaxRecordBytes(e.ctx, "out"); n == 0 || err != nil {
			t.Error(n, err)
		}
	})
}

// What was fetched before a partition was lost and came back is not handed out: the new life fetches it again.
func TestSession_oldLife(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 2)
		e.produce(append(values("in", 0, 0, 3), values("in", 1, 10, 13)...)...)
		s := e.ready(e.options())
		time.Sleep(time.Second)
		b := bundle()
		if ok, err := s.Poll(e.ctx, time.Second, b); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if len(s.queue) == 0 {
			t.Fatal("nothing is left in the queue")
		}
		e.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: "wgate.p", TopLevel: true, Err: kerr.UnknownMemberID})
		time.Sleep(10 * time.Second)
		if !s.Revoked() {
			t.Fatal("the loss was not noticed")
		}
		rest := e.drainFor(s, 5*time.Second)
		diff(t, "records in all", 6, b.Len()+len(rest))
		if other := e.fake.GroupInfo("wgate.p").NumAssigned(); other != 2 {
			t.Errorf("%d partitions are assigned", other)
		}
	})
}
