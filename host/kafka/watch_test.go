package kafka

import (
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/engine"
)

// drainFor polls for a time.
func (e *env) drainFor(s *Session, d time.Duration) []string {
	var got []string
	for end := time.Now().Add(d); time.Now().Before(end); {
		got = append(got, e.drain(s)...)
	}
	return got
}

// A partition that is added while the pipeline runs is read from its first record, also with start = "latest", and does
// not disturb an epoch that is open.
func TestSession_partitionAdded(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		o := e.options()
		o.Sources[0].Kafka.Start = "latest"
		s := e.ready(o)
		diff(t, "before", []string(nil), e.drain(s))
		m, err := s.Begin(e.ctx)
		if err != nil {
			t.Fatal(err)
		}
		e.send(s, "a")
		if err := s.Flush(e.ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := kadm.NewClient(e.client()).UpdatePartitions(e.ctx, 3, "in"); err != nil {
			t.Fatal(err)
		}
		e.produce(append(values("in", 1, 3, 5), values("in", 2, 5, 6)...)...)
		diff(t, "while the epoch is open", []string(nil), e.drainFor(s, 8*time.Second))
		if outcome, err := s.End(e.ctx, m, positions(s, "t")); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "after", 3, len(e.drainFor(s, 8*time.Second)))
		if s.Revoked() {
			t.Error("a partition that was added is no loss")
		}
		if outcome, err := e.epoch(s, "t"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "partitions", 3, len(e.fetch(s)))
	})
}

// Partitions that were added while the pipeline was down are read from the first record, too.
func TestSession_partitionAddedWhileDown(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		o := e.options()
		o.Sources[0].Kafka.Start = "latest"
		s := e.ready(o)
		e.drain(s)
		if outcome, err := e.epoch(s, "t"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		s.drop()
		if _, err := kadm.NewClient(e.client()).UpdatePartitions(e.ctx, 2, "in"); err != nil {
			t.Fatal(err)
		}
		e.produce(values("in", 1, 3, 5)...)
		s = e.ready(o)
		diff(t, "read", []string{"in/1/0=3", "in/1/1=4"}, e.drain(s))
	})
}

// A topic that a pattern matches is read when it appears.
func TestSession_pattern(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("scores-eu", 1)
		e.topic("other", 1)
		e.produce(append(values("scores-eu", 0, 0, 2), values("other", 0, 7, 8)...)...)
		o := e.options()
		o.Sources = []Source{
			{Index: 0, Name: "rest", Kafka: kafkaOf("other"), Raw: event.JSON},
			{Index: 1, Name: "scores", Kafka: &config.Kafka{Pattern: "^scores-.*$", Start: "earliest", StopTime: event.MaxTime, Isolation: "read_committed"}, Raw: event.String},
		}
		s := e.ready(o)
		diff(t, "at first", 3, len(e.drain(s)))
		e.topic("scores-us", 2)
		e.produce(values("scores-us", 1, 5, 7)...)
		diff(t, "later", []string{"scores-us/1/0=5", "scores-us/1/1=6"}, e.drainFor(s, 10*time.Second))
		var names []string
		for _, info := range s.Topics() {
			names = append(names, info.Name)
		}
		diff(t, "topics", []string{"other", "scores-eu", "scores-us"}, names)
		if outcome, err := e.epoch(s, "t"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "offsets", 4, len(e.fetch(s)))
	})
}

// A topic that is deleted, or made anew, stops the pipeline with a code.
func TestSession_topicGone(t *testing.T) {
	for name, tc := range map[string]struct {
		again bool
		code  string
	}{"deleted": {code: commit.CodeVanished}, "made anew": {again: true, code: commit.CodeRecreated}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(e *env) {
				e.topic("in", 1)
				e.produce(values("in", 0, 0, 2)...)
				s := e.ready(e.options())
				e.drain(s)
				if err := e.fake.DeleteTopic("in"); err != nil {
					t.Fatal(err)
				}
				if tc.again {
					e.topic("in", 1)
				}
				var err error
				for range 20 {
					if _, err = s.Poll(e.ctx, time.Second, bundle()); err != nil {
						break
					}
				}
				wantFault(t, err, tc.code)
			})
		})
	}
}

// Caught up means at the end of what can be read and nothing open behind it; markers at the end do not count.
func TestSession_caughtUp(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		producer := e.client(kgo.TransactionalID("someone"))
		write := func(end kgo.TransactionEndTry, n int) {
			t.Helper()
			if err := producer.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			if err := producer.ProduceSync(e.ctx, values("in", 0, 0, n)...).FirstErr(); err != nil {
				t.Fatal(err)
			}
			if err := producer.EndTransaction(e.ctx, end); err != nil {
				t.Fatal(err)
			}
		}
		state := func(s *Session) engine.PartitionState { return s.Partitions(nil)[0] }
		write(kgo.TryCommit, 2)
		s := e.ready(e.options())
		if st := state(s); st.CaughtUp || st.Position != 0 {
			t.Errorf("before anything was read: %+v", st)
		}
		diff(t, "committed", 2, len(e.drainFor(s, 3*time.Second)))
		if st := state(s); !st.CaughtUp || st.Position != 3 || st.End != 3 {
			t.Errorf("after a commit marker: %+v", st)
		}
		write(kgo.TryAbort, 4)
		diff(t, "aborted", 0, len(e.drainFor(s, 3*time.Second)))
		if st := state(s); !st.CaughtUp || st.Position != 8 {
			t.Errorf("after an abort marker: %+v", st)
		}
		if err := producer.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := producer.ProduceSync(e.ctx, values("in", 0, 0, 1)...).FirstErr(); err != nil {
			t.Fatal(err)
		}
		diff(t, "open", 0, len(e.drainFor(s, 3*time.Second)))
		if st := state(s); st.CaughtUp || st.Position != 8 || st.End != 8 {
			t.Errorf("behind an open transaction: %+v", st)
		}
		if err := producer.EndTransaction(e.ctx, kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
		diff(t, "closed", 1, len(e.drainFor(s, 3*time.Second)))
		if st := state(s); !st.CaughtUp {
			t.Errorf("after it was closed: %+v", st)
		}
		// A broker that does not say where a partition ends: what was seen gets old.
		fault := e.fake.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.NotLeaderForPartition, Count: -1})
		time.Sleep(8 * time.Second)
		if st := state(s); st.CaughtUp || fault.Hits() == 0 {
			t.Errorf("without an answer: %+v", st)
		}
	})
}

// Start at a time, stop at a time.
func TestSession_startStop(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 2)
		e.produce(append(values("in", 0, 0, 10), values("in", 1, 20, 22)...)...) // a record's timestamp is its value in seconds
		o := e.options()
		o.Sources[0].Kafka.Start, o.Sources[0].Kafka.StartTime = "time", 3000
		o.Sources[0].Kafka.StopTime = 6500
		s := e.ready(o)
		diff(t, "read", []string{"in/0/3=3", "in/0/4=4", "in/0/5=5", "in/0/6=6"}, e.drainFor(s, 3*time.Second))
		for i, st := range s.Partitions(nil) {
			if !st.Ended || st.Position != []int64{7, 0}[i] {
				t.Errorf("not ended: %+v", st)
			}
		}
	})
	bubble(t, func(e *env) {
		e.topic("in", 1)
		at := func(d time.Duration, v string) *kgo.Record {
			return &kgo.Record{Topic: "in", Value: []byte(v), Timestamp: time.Now().Add(d)}
		}
		e.produce(at(0, "a"))
		o := e.options()
		o.Sources[0].Kafka.StopTime = event.TimeOf(time.Now().Add(time.Minute))
		s := e.ready(o)
		diff(t, "read", []string{"in/0/0=a"}, e.drainFor(s, 10*time.Second))
		if s.Partitions(nil)[0].Ended {
			t.Error("ended before its time")
		}
		e.produce(at(0, "b"), at(time.Hour, "ahead"), at(0, "c"))
		diff(t, "read", []string{"in/0/1=b"}, e.drainFor(s, 3*time.Second))
		if !s.Partitions(nil)[0].Ended {
			t.Error("a record from after the stop does not end it")
		}
	})
	bubble(t, func(e *env) {
		e.topic("in", 1)
		o := e.options()
		o.Sources[0].Kafka.StopTime = event.TimeOf(time.Now().Add(20 * time.Second))
		s := e.ready(o)
		e.drainFor(s, 10*time.Second)
		if s.Partitions(nil)[0].Ended {
			t.Error("ended before its time")
		}
		e.drainFor(s, 13*time.Second)
		if !s.Partitions(nil)[0].Ended {
			t.Error("an empty partition does not end when its time has come")
		}
	})
}

// Records that the broker deleted before they were read are an error and not a gap.
func TestSession_deletedBeforeRead(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 10)...)
		if err := e.fake.DeleteRecords("in", 0, 5); err != nil {
			t.Fatal(err)
		}
		s := e.open(e.options())
		if err := s.Fence(e.ctx); err != nil {
			t.Fatal(err)
		}
		first, next, err := s.Bounds(e.ctx, engine.Partition{Topic: "in"})
		if first != 5 || next != 10 || err != nil {
			t.Fatal(first, next, err)
		}
		if err := s.Seek(e.ctx, []engine.Offset{{Partition: engine.Partition{Topic: "in"}, Offset: 2}}); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if _, err = s.Poll(e.ctx, time.Second, bundle()); err != nil {
				break
			}
		}
		wantFault(t, err, commit.CodeExpired)
		if err2 := s.Seek(e.ctx, []engine.Offset{{Partition: engine.Partition{Topic: "gone"}, Offset: 2}}); err2 == nil {
			t.Error("a seek to a partition that is not there")
		} else {
			wantFault(t, err2, commit.CodeVanished)
		}
		if errors.Is(err, errNoMember) {
			t.Error(err)
		}
	})
}
