package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

var (
	_ engine.Input  = (*Session)(nil)
	_ engine.Broker = (*Session)(nil)
)

// Session reads all kafka sources of one pipeline on one broker and writes its sinks, in one group and one transaction at
// a time. It implements engine.Input and engine.Broker and is used by one goroutine; only Topic, Topics and Close may be
// called from others.
type Session struct {
	opt   Options
	adm   *admin
	group string
	log   *slog.Logger

	cluster string
	stop    context.CancelFunc // of the watch
	watched sync.WaitGroup

	// What belongs to the caller's goroutine.
	out     outbox
	queue   []fetched
	open    bool // a transaction
	unclear bool // the last End did not tell: only Fence helps

	mu      sync.Mutex // guards the rest, which the client's callbacks and the watch use, too
	sources []*source
	topics  map[string]*topic
	member  *member // nil before Fence
	dead    bool    // a partition was revoked or lost since Fence
	fatal   error   // stops the pipeline
}

// TopicInfo is a topic that the session reads.
type TopicInfo struct {
	Name       string
	ID         [16]byte // zero where the broker has no topic ids
	Source     int      // index in the plan
	Partitions int
}

// Open connects to the broker, checks the pipeline's topics and creates those that may be created. It does not join the
// group yet. Errors are commit.Stops where the user can do something about them.
func Open(ctx context.Context, o Options) (*Session, error) {
	s := &Session{opt: o, group: GroupName(o.Pipeline), topics: map[string]*topic{}}
	adm, err := openAdmin(ctx, &s.opt)
	if err != nil {
		return nil, err
	}
	s.adm, s.log = adm, s.opt.Log
	if err := s.prepare(ctx); err != nil {
		adm.close()
		return nil, err
	}
	watch, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stop = stop
	s.watched.Go(func() { s.watch(watch) })
	return s, nil
}

// prepare is the part of Open that asks the broker.
func (s *Session) prepare(ctx context.Context) error {
	if err := s.adm.checkVersion(ctx); err != nil {
		return err
	}
	if err := s.adm.checkPatterns(); err != nil {
		return err
	}
	if err := s.adm.ensure(ctx); err != nil {
		return err
	}
	for _, src := range s.opt.Sources {
		run := &source{Source: src}
		if src.Kafka.Pattern != "" {
			run.pattern = regexp.MustCompile(src.Kafka.Pattern) // Options.check has compiled it
		}
		s.sources = append(s.sources, run)
	}
	if err := s.refresh(ctx); err != nil {
		return err
	}
	for _, src := range s.sources {
		if len(src.topics) == 0 {
			return fault(CodeNoMatch, fmt.Sprintf("source %q: no topic of broker %s matches pattern %q", src.Name, s.adm.where(), src.Kafka.Pattern), nil,
				"create a topic that it matches, or correct the pattern")
		}
	}
	return nil
}

// Cluster returns the id of the cluster.
func (s *Session) Cluster() string { return s.cluster }

// Topics returns the topics that are read, in the order of sources and topic indexes.
func (s *Session) Topics() []TopicInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []TopicInfo
	for _, src := range s.sources {
		for _, t := range src.topics {
			all = append(all, TopicInfo{Name: t.name, ID: t.id, Source: src.Index, Partitions: len(t.parts)})
		}
	}
	return all
}

// Topic returns the name of a topic by the source and the topic index that event.Origin carries; empty if there is none.
// Indexes are stable for the life of the Session only.
func (s *Session) Topic(source, index uint16) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, src := range s.sources {
		if src.Index == int(source) && int(index) < len(src.topics) {
			return src.topics[index].name
		}
	}
	return ""
}

// Close leaves the client and ends everything that Open started. What is in an open transaction is aborted by the broker.
// The static member stays in the group until its session timeout, so that a restart takes no rebalance; see Leave.
func (s *Session) Close() {
	s.stop()
	s.watched.Wait()
	s.drop()
	s.adm.close()
}

// Leave takes this instance out of the group for good: after a pipeline was stopped or deleted. The Session must have no
// member, which is the case before Fence and after Rebuild.
func (s *Session) Leave(ctx context.Context) error {
	got, err := s.adm.adm.LeaveGroup(ctx, kadm.LeaveGroup(s.group).InstanceIDs(s.opt.Instance).Reason("the pipeline was stopped"))
	if err == nil {
		err = got.Error()
	}
	if err != nil && !errors.Is(err, kerr.UnknownMemberID) && !errors.Is(err, kerr.GroupIDNotFound) {
		return fmt.Errorf("group %q: leave: %w", s.group, err)
	}
	return nil
}

// Rebuild closes the client, whose state is not to be believed after an outcome that is not certain. Fence, which the
// recovery begins with, makes the new one, so that it is fenced before it joins.
func (s *Session) Rebuild(context.Context) error {
	s.drop()
	return nil
}

// drop closes the member, if there is one.
func (s *Session) drop() {
	s.mu.Lock()
	m := s.member
	s.member = nil
	for _, t := range s.topics {
		for _, p := range t.parts {
			p.owned, p.paused = false, false // the next client knows of no pause
			p.life++
		}
	}
	s.mu.Unlock()
	if m != nil {
		m.close()
	}
	s.queue, s.open, s.out = nil, false, outbox{}
}

// failed returns what stops the pipeline, nil if nothing does.
func (s *Session) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fatal
}

// fail remembers the first fault.
func (s *Session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fatal == nil && err != nil {
		s.fatal = err
	}
}

// Partitions appends the state of every partition that is owned, in the order of sources, topics and ids.
func (s *Session) Partitions(dst []engine.PartitionState) []engine.PartitionState {
	fresh := time.Now().Add(-3*s.opt.ProbeInterval - time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, src := range s.sources {
		for _, t := range src.topics {
			for _, p := range t.parts {
				if p.owned {
					dst = append(dst, p.state(s.opt.readCommitted(), fresh))
				}
			}
		}
	}
	return dst
}

// Pause holds the records of a partition back, or lets them come again.
func (s *Session) Pause(ep engine.Partition, paused bool) {
	s.mu.Lock()
	p, m := s.find(ep.Topic, ep.ID), s.member
	if p == nil || p.paused == paused {
		s.mu.Unlock()
		return
	}
	p.paused = paused
	s.mu.Unlock()
	if m == nil {
		return
	}
	set := map[string][]int32{ep.Topic: {ep.ID}}
	if paused {
		m.cl.PauseFetchPartitions(set)
	} else {
		m.cl.ResumeFetchPartitions(set)
	}
}

// find returns a partition, nil if it is not known. The caller holds mu.
func (s *Session) find(topic string, id int32) *part {
	t := s.topics[topic]
	if t == nil || id < 0 || int(id) >= len(t.parts) {
		return nil
	}
	return t.parts[id]
}

// now is the time that stop times and timestamps are compared with.
func now() event.Time { return event.TimeOf(time.Now()) }
