package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/internal/crash"
)

// member is one life of the client: one group member, one producer id. Its callbacks run on the client's goroutines.
type member struct {
	s    *Session
	sess *kgo.GroupTransactSession
	cl   *kgo.Client

	sought  chan struct{} // closed by the first Seek: until then nothing is fetched
	changed chan struct{} // holds a token when the assignment changed
	waiting atomic.Bool   // a rebalance waits for release
	gone    bool          // closed or being closed; guarded by Session.mu
	began   bool          // sought is closed; the caller's goroutine only
	staged  atomic.Int64  // unix ns: the last answer to offsets of a transaction
	pulse   atomic.Int64  // unix ns: the last heartbeat, or end of a transaction, was sent

	mu     sync.Mutex
	topics []string // that the client subscribes to
	group  error    // the last error of the group session
}

// join makes the member and waits until it is in the group with all partitions.
func (s *Session) join(ctx context.Context) error {
	m := &member{s: s, sought: make(chan struct{}), changed: make(chan struct{}, 1)}
	s.mu.Lock()
	m.topics = s.topicNames()
	s.mu.Unlock()
	opts, err := m.opts()
	if err != nil {
		return err
	}
	if m.sess, err = kgo.NewGroupTransactSession(opts...); err != nil {
		return fmt.Errorf("kafka client: %w", err)
	}
	m.cl = m.sess.Client()
	s.mu.Lock()
	s.member, s.dead = m, false
	s.mu.Unlock()
	if _, _, err := m.cl.ProducerID(ctx); err != nil {
		return fmt.Errorf("transactional id %q: %w", TransactionalID(s.opt.Pipeline, s.opt.Instance), err)
	}
	return m.await(ctx)
}

func (m *member) opts() ([]kgo.Opt, error) {
	o := &m.s.opt
	opts, err := clientOpts(o)
	if err != nil {
		return nil, err
	}
	isolation := kgo.ReadUncommitted()
	if o.readCommitted() {
		isolation = kgo.ReadCommitted()
	}
	opts = append(opts, producerOpts(m.s.adm)...)
	return append(opts,
		kgo.ConsumerGroup(m.s.group),
		kgo.InstanceID(o.Instance),
		kgo.ConsumeTopics(m.topics...),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.BlockRebalanceOnPoll(),
		kgo.SessionTimeout(o.SessionTimeout),
		kgo.HeartbeatInterval(o.SessionTimeout/4),
		kgo.RebalanceTimeout(30*time.Second),
		kgo.AdjustFetchOffsetsFn(m.adjust),
		kgo.OnPartitionsAssigned(m.assigned),
		kgo.OnPartitionsRevoked(m.revoked),
		kgo.OnPartitionsLost(m.revoked),
		kgo.OnPartitionsCallbackBlocked(func(context.Context, *kgo.Client) { m.waiting.Store(true) }),
		// Records that were deleted before they were read are an error and not a jump over the gap.
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchIsolationLevel(isolation),
		// Markers are kept, because a position that stays before one never reaches the end of the partition.
		kgo.KeepControlRecords(),
		kgo.FetchMaxWait(500*time.Millisecond),
		kgo.FetchMaxPartitionBytes(4<<20),
		kgo.MetadataMaxAge(o.MetadataAge),
		kgo.MetadataMinAge(min(o.MetadataAge, 250*time.Millisecond)),
		kgo.TransactionalID(TransactionalID(o.Pipeline, o.Instance)),
		kgo.TransactionTimeout(o.TxnTimeout),
		kgo.WithPools(new(pools)),
		kgo.WithHooks(m),
	), nil
}

// close ends the client. Callbacks that it still makes are ignored.
func (m *member) close() {
	m.s.mu.Lock()
	m.gone = true
	m.s.mu.Unlock()
	m.sess.CloseAllowingRebalance()
}

// hold makes rebalances wait until release: while a transaction is open, so that a partition that was added does not abort
// the epoch, which is shorter than the rebalance timeout. It waits for a rebalance that is under way.
func (m *member) hold() {
	m.waiting.Store(false)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	m.cl.PollRecords(over, 1) // fetches nothing, and counts as a poll that has not been released
}

func (m *member) release() {
	m.cl.AllowRebalance()
	m.waiting.Store(false)
}

// lives reports whether the group still has the member under this generation. The answer matters only while a rebalance
// waits: if it is one that was lost, the client would wait for a heartbeat that it no longer sends.
func (m *member) lives(ctx context.Context, as engine.Member) bool {
	if !m.waiting.Load() {
		return true
	}
	req := kmsg.NewPtrHeartbeatRequest()
	req.Group, req.MemberID, req.Generation = m.s.group, as.ID, as.Generation
	req.InstanceID = &m.s.opt.Instance
	resp, err := req.RequestWith(ctx, m.s.adm.cl)
	if err != nil {
		return true // the commit finds out
	}
	err = kerr.ErrorForCode(resp.ErrorCode)
	return err == nil || errors.Is(err, kerr.RebalanceInProgress)
}

// subscribe adds topics that are new.
func (m *member) subscribe(topics []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var added []string
	for _, t := range topics {
		if !slices.Contains(m.topics, t) {
			added = append(added, t)
		}
	}
	if len(added) > 0 {
		m.topics = append(m.topics, added...)
		m.cl.AddConsumeTopics(added...)
	}
}

// OnGroupManageError is called by the client when its group session failed; it joins again by itself.
func (m *member) OnGroupManageError(err error) {
	m.mu.Lock()
	m.group = err
	m.mu.Unlock()
	m.s.fail(groupFault(err))
	m.s.log.Warn("the consumer group was lost; joining again", "group", m.s.group, "error", err)
	m.notify()
}

// OnBrokerRead is called by the client when an answer came. The commit's second crash point lies there: the offsets are
// part of the transaction, whose end is not yet sent.
func (m *member) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if err == nil && kmsg.Key(key) == kmsg.TxnOffsetCommit {
		m.staged.Store(time.Now().UnixNano())
		crash.Point("offsets_staged")
	}
}

// OnBrokerWrite is called by the client when a request was written.
func (m *member) OnBrokerWrite(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	switch k := kmsg.Key(key); {
	case err != nil:
	case k == kmsg.Heartbeat:
		m.pulse.Store(time.Now().UnixNano())
	case k == kmsg.EndTxn:
		m.pulse.Store(time.Now().UnixNano())
		crash.Point("end_sent")
	}
}

// pulseWait is how long a commit waits for the heartbeat that the client sends after its offsets.
const pulseWait = 2 * time.Second

// watchPulse calls giveUp when a commit has staged its offsets and waits for a heartbeat that does not come: the client
// has given its group session up, as it does when the broker was away, and tells nobody until release. It returns when
// ctx ends, which is the commit's.
func (m *member) watchPulse(ctx context.Context, giveUp func()) {
	begin := time.Now().UnixNano()
	tick := time.NewTicker(pulseWait / 4)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		at := m.staged.Load()
		if at >= begin && m.pulse.Load() < at && time.Now().UnixNano()-at >= int64(pulseWait) {
			giveUp()
			return
		}
	}
}

func (m *member) notify() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// await waits until every partition is assigned to this member: it is the only one.
func (m *member) await(ctx context.Context) error {
	limit := m.s.opt.SessionTimeout + 30*time.Second
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		if err := m.s.failed(); err != nil {
			return err
		}
		if m.s.ownsAll() {
			return nil
		}
		select {
		case <-m.changed:
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			m.mu.Lock()
			why := m.group
			m.mu.Unlock()
			if other, err := m.s.adm.otherMember(context.WithoutCancel(ctx), m.s.group, m.s.opt.Instance); err == nil && other != "" {
				return secondMember(m.s.group, other)
			}
			return fmt.Errorf("group %q: not all partitions were assigned within %v: %w", m.s.group, limit, errors.Join(ctx.Err(), why))
		}
	}
}

func (s *Session) ownsAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.topics {
		for _, p := range t.parts {
			if !p.owned {
				return false
			}
		}
	}
	return true
}

// secondMember is the fault of a group that somebody else is in.
func secondMember(group, other string) error {
	return fault(commit.CodeSecond, fmt.Sprintf("group %q has another live member: %s", group, other), nil,
		"a pipeline with its state on one disk runs in one place only: stop the other, or choose durability = \"changelog\" where it is available")
}

// assigned notes what is owned now; where to read it is said by adjust.
func (m *member) assigned(_ context.Context, _ *kgo.Client, added map[string][]int32) {
	m.s.mu.Lock()
	for topic, ids := range added {
		t := m.s.topics[topic]
		if m.gone || t == nil {
			continue
		}
		for _, id := range ids {
			t.grow(int(id) + 1)
			t.parts[id].owned = true
			t.parts[id].life++
		}
	}
	m.s.mu.Unlock()
	m.notify()
}

// revoked notes what is not owned any more. The epoch is dead even if all of it comes back.
func (m *member) revoked(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	for topic, ids := range gone {
		for _, id := range ids {
			if p := m.s.find(topic, id); p != nil && !m.gone {
				p.owned = false
				p.life++
				m.s.dead = true
			}
		}
	}
}

// adjust says where to read newly assigned partitions, instead of the offsets that the client fetched: where the engine
// stands. It waits for the first Seek; the group's session goes on meanwhile.
func (m *member) adjust(ctx context.Context, fetched map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	select {
	case <-m.sought:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := m.s.startNew(ctx, fetched); err != nil {
		return nil, err
	}
	m.s.mu.Lock()
	defer m.s.mu.Unlock()
	for topic, parts := range fetched {
		for id := range parts {
			if p := m.s.find(topic, id); p != nil {
				parts[id] = p.at()
			}
		}
	}
	return fetched, nil
}
