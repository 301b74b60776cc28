package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/engine"
)

var errNoMember = errors.New("kafka: no member: call Fence first")

// Fence is described at engine.Broker. It makes a new client, after it has aborted what is open under the transactional id
// and made sure that nobody else is in the group; a member that died without leaving is waited for until its session ends.
// Nothing is fetched before Seek.
func (s *Session) Fence(ctx context.Context) error {
	s.drop()
	s.unclear = false
	if err := s.failed(); err != nil {
		return err
	}
	if s.opt.Instance == "" || len(s.sources) == 0 {
		return fault(CodeSettings, "exactly once needs a kafka source and an instance id", nil,
			"")
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.TxnTimeout+s.opt.SessionTimeout+90*time.Second)
	defer cancel()
	if err := s.adm.fence(ctx, TransactionalID(s.opt.Pipeline, s.opt.Instance)); err != nil {
		return err
	}
	if err := s.awaitAlone(ctx); err != nil {
		return err
	}
	if err := s.refresh(ctx); err != nil {
		return err
	}
	err := s.join(ctx)
	if err != nil {
		s.drop()
	}
	return err
}

// awaitAlone waits until no other member is in the group, which must not even be disturbed by joining.
func (s *Session) awaitAlone(ctx context.Context) error {
	deadline := time.Now().Add(s.opt.SessionTimeout + 2*time.Second)
	for told := false; ; told = true {
		other, err := s.adm.otherMember(ctx, s.group, s.opt.Instance)
		if err != nil || other == "" {
			return err
		}
		if time.Now().After(deadline) {
			return secondMember(s.group, other)
		}
		if !told {
			s.log.Info("another member is in the group; waiting whether it is alive", "group", s.group, "member", other)
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// FetchOffsets is described at engine.Broker. Partitions without a committed offset are left out.
func (s *Session) FetchOffsets(ctx context.Context) (offs []engine.Offset, stable bool, err error) {
	got, stable, err := s.adm.committed(ctx, s.group, s.allPartitions())
	if err != nil || !stable {
		return nil, stable, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, src := range s.sources {
		for _, t := range src.topics {
			for _, p := range t.parts {
				o, ok := got[t.name][p.id]
				if !ok || o.Offset < 0 {
					continue
				}
				off := engine.Offset{
					Partition: engine.Partition{Source: src.Index, Topic: t.name, ID: p.id},
					Offset:    o.Offset, LeaderEpoch: o.LeaderEpoch,
				}
				if o.Metadata != nil {
					off.Metadata = *o.Metadata
				}
				offs = append(offs, off)
			}
		}
	}
	return offs, true, nil
}

// allPartitions names every partition of the task.
func (s *Session) allPartitions() []kmsg.OffsetFetchRequestGroupTopic {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []kmsg.OffsetFetchRequestGroupTopic
	for _, name := range s.topicNames() {
		t := s.topics[name]
		rt := kmsg.NewOffsetFetchRequestGroupTopic()
		rt.Topic, rt.TopicID = name, t.id
		for _, p := range t.parts {
			rt.Partitions = append(rt.Partitions, p.id)
		}
		all = append(all, rt)
	}
	return all
}

// Bounds is described at engine.Broker.
func (s *Session) Bounds(ctx context.Context, p engine.Partition) (first, next int64, err error) {
	want := map[string][]int32{p.Topic: {p.ID}}
	low, err := s.adm.offsets(ctx, want, tsEarliest, false)
	if err != nil {
		return 0, 0, err
	}
	high, err := s.adm.offsets(ctx, want, tsLatest, false)
	if err != nil {
		return 0, 0, err
	}
	return low[p.Topic][p.ID], high[p.Topic][p.ID], nil
}

// Seek is described at engine.Broker. Without any offset this is the first start, and the start attribute decides;
// with some, a partition that is not named is one that was added since, and is read from the earliest record.
func (s *Session) Seek(ctx context.Context, offs []engine.Offset) error {
	m := s.member
	if m == nil {
		return errNoMember
	}
	if err := s.refresh(ctx); err != nil {
		return err
	}
	at, err := s.resolve(ctx, offs)
	if err != nil {
		return err
	}
	if m.began { // no revoke may run meanwhile, and one that waited is over: what it took comes back at these positions
		m.hold()
		defer m.release()
	}
	set := map[string]map[int32]kgo.EpochOffset{}
	s.mu.Lock()
	for p, off := range at {
		p.next, p.sought = off, true
		if p.owned {
			if set[p.topic.name] == nil {
				set[p.topic.name] = map[int32]kgo.EpochOffset{}
			}
			set[p.topic.name][p.id] = kgo.EpochOffset{Epoch: -1, Offset: off}
		}
	}
	s.mu.Unlock()
	s.queue = nil
	if !m.began {
		m.began = true
		close(m.sought)
		return nil
	}
	m.cl.SetOffsets(set)
	return nil
}

// resolve returns where to read each partition that is known.
func (s *Session) resolve(ctx context.Context, offs []engine.Offset) (map[*part]int64, error) {
	at := map[*part]int64{}
	ask := map[int64]map[string][]int32{} // what ListOffsets has to say, by its timestamp argument
	s.mu.Lock()
	for _, o := range offs {
		p := s.find(o.Topic, o.ID)
		if p == nil {
			s.mu.Unlock()
			return nil, fault(commit.CodeVanished, fmt.Sprintf("topic %q partition %d was read before and is not there", o.Topic, o.ID), nil,
				"take back the change of the source's topics, or reset the pipeline's state")
		}
		at[p] = o.Offset
	}
	for _, t := range s.topics {
		ts := int64(tsEarliest)
		if len(offs) == 0 {
			ts = t.src.startAt()
		}
		for _, p := range t.parts {
			if _, ok := at[p]; ok {
				continue
			}
			if ask[ts] == nil {
				ask[ts] = map[string][]int32{}
			}
			ask[ts][t.name] = append(ask[ts][t.name], p.id)
		}
	}
	s.mu.Unlock()
	for ts, want := range ask {
		got, err := s.startOffsets(ctx, want, ts)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		for topic, parts := range got {
			for id, off := range parts {
				at[s.find(topic, id)] = off
			}
		}
		s.mu.Unlock()
	}
	return at, nil
}

// startAt is the start attribute as ListOffsets takes it.
func (s *source) startAt() int64 {
	switch s.Kafka.Start {
	case "latest":
		return tsLatest
	case "time":
		return max(int64(s.Kafka.StartTime), 0)
	}
	return tsEarliest
}

// startOffsets asks where to start; a time after the last record means the end.
func (s *Session) startOffsets(ctx context.Context, want map[string][]int32, ts int64) (map[string]map[int32]int64, error) {
	got, err := s.adm.offsets(ctx, want, ts, s.opt.readCommitted())
	if err != nil {
		return nil, err
	}
	late := map[string][]int32{}
	for topic, parts := range got {
		for id, off := range parts {
			if off < 0 {
				late[topic] = append(late[topic], id)
			}
		}
	}
	if len(late) == 0 {
		return got, nil
	}
	ends, err := s.adm.offsets(ctx, late, tsLatest, s.opt.readCommitted())
	for topic, parts := range ends {
		for id, off := range parts {
			got[topic][id] = off
		}
	}
	return got, err
}

// startNew gives partitions of a new assignment that have no position their first record's: they were added while the
// pipeline ran.
func (s *Session) startNew(ctx context.Context, assigned map[string]map[int32]kgo.Offset) error {
	want := map[string][]int32{}
	s.mu.Lock()
	for topic, parts := range assigned {
		for id := range parts {
			if p := s.find(topic, id); p != nil && p.next < 0 {
				want[topic] = append(want[topic], id)
			}
		}
	}
	s.mu.Unlock()
	got, err := s.adm.offsets(ctx, want, tsEarliest, false)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for topic, parts := range got {
		for id, off := range parts {
			if p := s.find(topic, id); p != nil && p.next < 0 {
				p.next, p.sought = off, true
			}
		}
	}
	return nil
}
