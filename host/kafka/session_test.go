package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wgate/wgate/host/engine"
)

func TestSession_commit(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 2)
		e.produce(append(values("in", 0, 0, 3), values("in", 1, 7, 9)...)...)
		s := e.ready(e.options())
		got := e.drain(s)
		if len(got) != 5 {
			t.Fatalf("got %v", got)
		}
		outcome, err := e.epoch(s, "token-1", "a", "b")
		if outcome != engine.Committed || err != nil {
			t.Fatalf("outcome %v, %v", outcome, err)
		}
		offs := e.fetch(s)
		diff(t, "committed offsets", []engine.Offset{
			{Partition: engine.Partition{Topic: "in", ID: 0}, Offset: 3, LeaderEpoch: -1, Metadata: "token-1"},
			{Partition: engine.Partition{Topic: "in", ID: 1}, Offset: 2, LeaderEpoch: -1},
		}, offs)
		diff(t, "results", []string{"a", "b"}, e.committedValues("out", 1))

		// A timer-only epoch: nothing was polled since, and the anchor is committed all the same.
		if outcome, err := e.epoch(s, "token-2", "c"); outcome != engine.Committed || err != nil {
			t.Fatalf("outcome %v, %v", outcome, err)
		}
		if offs := e.fetch(s); offs[0].Metadata != "token-2" {
			t.Fatal(offs)
		}
		// An epoch without results commits, too.
		if outcome, err := e.epoch(s, "token-3"); outcome != engine.Committed || err != nil {
			t.Fatalf("outcome %v, %v", outcome, err)
		}
		diff(t, "results", []string{"a", "b", "c"}, e.committedValues("out", 1))
	})
}

// The client polls ahead of the epoch that is committed: the offsets are those that were named.
func TestSession_commitBehindThePoll(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 10)...)
		s := e.ready(e.options())
		e.drain(s)
		m, err := s.Begin(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		frozen := []engine.Offset{{Partition: engine.Partition{Topic: "in"}, Offset: 4, LeaderEpoch: -1, Metadata: "x"}}
		if outcome, err := s.End(e.ctx, m, frozen); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		offs := e.fetch(s)
		diff(t, "offsets", frozen, offs)
	})
}

func TestSession_abort(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 6)...)
		s := e.ready(e.options())
		first := e.drain(s)
		if _, err := s.Begin(e.ctx); err != nil {
			t.Fatal(err)
		}
		e.send(s, "lost")
		if err := s.Flush(e.ctx); err != nil {
			t.Fatal(err)
		}
		if err := s.Abort(e.ctx); err != nil {
			t.Fatal(err)
		}
		if err := s.Seek(e.ctx, nil); err != nil {
			t.Fatal(err)
		}
		diff(t, "read again", first, e.drain(s))
		if outcome, err := e.epoch(s, "t", "kept"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "results", []string{"kept"}, e.committedValues("out", 1))
	})
}

// Abort without a flush: what is still in the client's buffer must not get into the next transaction.
func TestSession_abortUnflushed(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 1)...)
		s := e.ready(e.options())
		e.drain(s)
		if _, err := s.Begin(e.ctx); err != nil {
			t.Fatal(err)
		}
		e.send(s, "lost", "lost", "lost")
		if err := s.Abort(e.ctx); err != nil {
			t.Fatal(err)
		}
		if outcome, err := e.epoch(s, "t", "kept"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "results", []string{"kept"}, e.committedValues("out", 1))
	})
}

// A generation that is not the one under which the epoch began refuses the commit.
func TestSession_generationRefused(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		s := e.ready(e.options())
		e.drain(s)
		m, err := s.Begin(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.send(s, "zombie")
		if err := s.Flush(e.ctx); err != nil {
			t.Fatal(err)
		}
		m.Generation--
		if outcome, err := s.End(e.ctx, m, positions(s, "t")); outcome != engine.Aborted || err != nil {
			t.Fatal(outcome, err)
		}
		offs := e.fetch(s)
		diff(t, "offsets", 0, len(offs))
		diff(t, "results", 0, len(e.committedValues("out", 1)))
	})
}

// The broker answers the end of the transaction with an error that does not say what happened.
func TestSession_unknownOutcome(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		s := e.ready(e.options())
		e.drain(s)
		fault := e.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.EndTxn}, Count: -1, TopLevel: true})
		outcome, err := e.epoch(s, "t", "a")
		if outcome != engine.Unknown || err == nil {
			t.Fatal(outcome, err)
		}
		if fault.Hits() == 0 {
			t.Fatal("the fault was not active")
		}
		fault.Remove()
		if err := s.Abort(e.ctx); err == nil {
			t.Error("an abort after an unknown outcome must not be believed")
		}
		if _, err := s.Begin(e.ctx); err == nil {
			t.Error("a transaction began after an unknown outcome")
		}
		if err := s.Rebuild(e.ctx); err != nil {
			t.Fatal(err)
		}
		if offs := e.recover(s); len(offs) != 0 {
			t.Fatalf("offsets %v: the transaction was not ended, and the fence aborts it", offs)
		}
		diff(t, "read again", 3, len(e.drain(s)))
		if outcome, err := e.epoch(s, "t", "b"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "results", []string{"b"}, e.committedValues("out", 1))
	})
}

// A process is killed with a transaction open and started again at once: the static member takes its place over and the
// fence aborts what was open, without waiting for any timeout.
func TestSession_restartAfterKill(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 3)
		e.produce(values("in", 0, 0, 3)...)
		killed := e.ready(e.options())
		e.drain(killed)
		if outcome, err := e.epoch(killed, "t1", "a"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		m, err := killed.Begin(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.send(killed, "open")
		if err := killed.Flush(e.ctx); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s := e.ready(e.options())
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("the restart took %v", took)
		}
		// The one that was not really dead finds itself fenced.
		if outcome, _ := killed.End(e.ctx, m, positions(killed, "t2")); outcome == engine.Committed {
			t.Error("a fenced life committed")
		}
		e.produce(values("in", 0, 3, 4)...)
		diff(t, "read", []string{"in/0/3=3"}, e.drain(s))
		if outcome, err := e.epoch(s, "t2", "b"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "results", []string{"a", "b"}, e.committedValues("out", 1))
	})
}

// A partition that was lost makes the epoch dead until the next Seek.
func TestSession_revoked(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		s := e.ready(e.options())
		want := e.drain(s)
		m, err := s.Begin(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.send(s, "dead")
		if err := s.Flush(e.ctx); err != nil {
			t.Fatal(err)
		}
		// The broker forgets the member: heartbeats are refused, everything is lost and assigned again.
		fault := e.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: "wgate.p", TopLevel: true, Err: kerr.UnknownMemberID, Count: 2})
		e.drainFor(s, 10*time.Second)
		start := time.Now()
		if outcome, err := s.End(e.ctx, m, positions(s, "t")); outcome != engine.Aborted || err != nil {
			t.Fatal(outcome, err)
		}
		if took := time.Since(start); took > time.Second || fault.Hits() < 2 {
			t.Fatalf("took %v, hits %d", took, fault.Hits())
		}
		if err := s.Rebuild(e.ctx); err != nil {
			t.Fatal(err)
		}
		e.recover(s)
		if s.Revoked() {
			t.Error("still revoked after a new start")
		}
		diff(t, "read again", want, e.drainFor(s, 10*time.Second))
		if outcome, err := e.epoch(s, "t", "alive"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "results", []string{"alive"}, e.committedValues("out", 1))
	})
}

// The client gives its group session up, after a heartbeat that did not come through, and the group still has the member,
// as it is when a broker was away for a while: the commit does not wait for the heartbeat that nobody sends.
func TestSession_heartbeatLost(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		s := e.ready(e.options())
		want := e.drain(s)
		m, err := s.Begin(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.send(s, "unclear")
		fault := e.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: "wgate.p", TopLevel: true, Err: kerr.UnknownMemberID})
		e.drainFor(s, 4*time.Second)
		if err := s.Flush(e.ctx); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if outcome, err := s.End(e.ctx, m, positions(s, "t")); outcome != engine.Unknown || err == nil {
			t.Fatal(outcome, err)
		}
		if took := time.Since(start); took > 5*time.Second || fault.Hits() != 1 {
			t.Fatalf("took %v, hits %d", took, fault.Hits())
		}
		if err := s.Rebuild(e.ctx); err != nil {
			t.Fatal(err)
		}
		e.recover(s)
		diff(t, "read again", want, e.drainFor(s, 10*time.Second))
		if outcome, err := e.epoch(s, "t", "alive"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "results", []string{"alive"}, e.committedValues("out", 1))
	})
}

// O16: null, empty and repeated headers come through as they are.
func TestSession_nullEmptyRepeated(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		in := []*kgo.Record{
			{Topic: "in", Key: []byte("k"), Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("a")}, {Key: "x"}, {Key: "trace", Value: []byte("b")}, {Key: "x", Value: []byte{}}}},
			{Topic: "in", Key: []byte("k"), Value: []byte{}},
			{Topic: "in", Value: []byte("1")},
			{Topic: "in", Key: []byte{}, Value: []byte("2")},
			{Topic: "in", Key: []byte{0xff, 0xfe}, Value: []byte("3"), Headers: []kgo.RecordHeader{{Key: "", Value: nil}}},
		}
		e.produce(in...)
		s := e.ready(e.options())
		b := bundle()
		if ok, err := s.Poll(e.ctx, 5*time.Second, b); !ok || err != nil {
			t.Fatal(ok, err)
		}
		var kinds []string
		for i := range b.Len() {
			kinds = append(kinds, b.Keys[i].Kind.String()+" "+b.Values[i].Kind.String())
		}
		diff(t, "kinds of key and value", []string{"string null", "string json", "null json", "string json", "bytes json"}, kinds)

		var recs []engine.Record
		for i := range b.Len() {
			rec := engine.Record{Topic: "out", Timestamp: b.Origins[i].Timestamp}
			if !b.Keys[i].IsNull() {
				rec.Key = b.Keys[i].Bytes(b.Heap)
			}
			if !b.Values[i].IsNull() {
				rec.Value = b.Values[i].Bytes(b.Heap)
			}
			for _, h := range b.RowHeaders(i) {
				rec.Headers = append(rec.Headers, engine.RecordHeader{Key: string(b.Heap.Get(h.Key)), Value: b.Heap.Get(h.Value)})
			}
			recs = append(recs, rec)
		}
		m, err := s.Begin(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(e.ctx, recs); err != nil {
			t.Fatal(err)
		}
		if err := s.Flush(e.ctx); err != nil {
			t.Fatal(err)
		}
		if outcome, err := s.End(e.ctx, m, positions(s, "")); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		out := e.committedRecords("out", 1)
		if len(out) != len(in) {
			t.Fatalf("%d records came out", len(out))
		}
		for i := range in {
			diff(t, "key", in[i].Key, out[i].Key)
			diff(t, "value", in[i].Value, out[i].Value)
			diff(t, "headers", in[i].Headers, out[i].Headers)
			diff(t, "timestamp", in[i].Timestamp.UnixMilli(), out[i].Timestamp.UnixMilli())
		}
	})
}

// O15 (a): a timestamp of -1 stays -1, and positions move over such records as over any other.
func TestSession_timestampMinusOne(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		var recs []*kgo.Record
		for _, ts := range []int64{1000, -1, 2000, -1} {
			recs = append(recs, &kgo.Record{Topic: "in", Value: []byte("{}"), Timestamp: time.UnixMilli(ts)})
		}
		e.produce(recs...)
		s := e.ready(e.options())
		b := bundle()
		if ok, err := s.Poll(e.ctx, 5*time.Second, b); !ok || err != nil {
			t.Fatal(ok, err)
		}
		var got []int64
		for _, o := range b.Origins {
			got = append(got, int64(o.Timestamp))
		}
		diff(t, "timestamps", []int64{1000, -1, 2000, -1}, got)
		if outcome, err := e.epoch(s, "t"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		offs := e.fetch(s)
		diff(t, "committed", int64(4), offs[0].Offset)
	})
}

// A loss while no transaction is open kills the records that were read, too.
func TestSession_lostBetweenEpochs(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		s := e.ready(e.options())
		want := e.drain(s)
		e.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Heartbeat}, Group: "wgate.p", TopLevel: true, Err: kerr.UnknownMemberID})
		diff(t, "nothing is read twice by itself", 0, len(e.drainFor(s, 10*time.Second)))
		if !s.Revoked() {
			t.Fatal("the loss was not noticed")
		}
		if outcome, err := e.epoch(s, "t", "dead"); outcome != engine.Aborted || err != nil {
			t.Fatal(outcome, err)
		}
		if err := s.Rebuild(e.ctx); err != nil {
			t.Fatal(err)
		}
		e.recover(s)
		diff(t, "read again", want, e.drainFor(s, 5*time.Second))
		if outcome, err := e.epoch(s, "t", "alive"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "results", []string{"alive"}, e.committedValues("out", 1))
	})
}

// Offsets outside a transaction: taken from a member, refused from one that the group no longer knows.
func TestSession_commitOffsets(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		s := e.ready(e.options())
		e.drain(s)
		offs := positions(s, "witness")
		if err := s.CommitOffsets(e.ctx, offs); err != nil {
			t.Fatal(err)
		}
		diff(t, "offsets", offs, e.fetch(s))
		fault := e.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.IllegalGeneration})
		if err := s.CommitOffsets(e.ctx, offs); !errors.Is(err, kerr.IllegalGeneration) || fault.Hits() != 1 {
			t.Error(err, fault.Hits())
		}
	})
}
