package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/wgate/wgate/host/commit"
)

// watch looks at topics and ends until ctx ends.
func (s *Session) watch(ctx context.Context) {
	tick := time.NewTicker(s.opt.ProbeInterval)
	defer tick.Stop()
	var last time.Time // of the topics
	silent := false
	for {
		err := s.probe(ctx, &last)
		if ctx.Err() != nil {
			return
		}
		if bad := err != nil; bad != silent {
			if silent = bad; bad {
				s.log.Warn("the broker does not answer; records wait until it does", "broker", s.adm.where(), "error", err)
			} else {
				s.log.Info("the broker answers again", "broker", s.adm.where())
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// probe is one look. A fault that stops the pipeline is remembered; an error is not: it passes.
func (s *Session) probe(ctx context.Context, last *time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if time.Since(*last) >= s.opt.MetadataAge {
		err := s.refresh(ctx)
		if _, ok := errors.AsType[*commit.Stop](err); ok {
			s.fail(err)
			return nil
		}
		if err != nil {
			return err
		}
		*last = time.Now()
	}
	if err := s.refreshEnds(ctx); err != nil {
		return err
	}
	return s.refreshStops(ctx)
}

// refresh reads the topics from the broker: new topics that a pattern matches and new partitions are taken up, an id that
// changed or a partition that is gone is a commit.Stop.
func (s *Session) refresh(ctx context.Context) error {
	if len(s.sources) == 0 {
		return nil
	}
	var names []string
	for _, src := range s.sources {
		if src.pattern != nil {
			names = nil
			break
		}
		names = append(names, src.Kafka.Topics...)
	}
	md, err := s.adm.adm.Metadata(ctx, names...)
	if err != nil {
		return fmt.Errorf("broker %s: read its topics: %w", s.adm.where(), err)
	}
	s.mu.Lock()
	err = s.learnAll(md)
	m, known := s.member, s.topicNames()
	s.mu.Unlock()
	if err == nil && m != nil {
		m.subscribe(known)
	}
	return err
}

// learnAll takes the metadata in. The caller holds mu.
func (s *Session) learnAll(md kadm.Metadata) error {
	s.cluster = md.Cluster
	for _, d := range md.Topics.Sorted() {
		if err := s.learn(d); err != nil {
			return err
		}
	}
	for _, t := range s.topics {
		d, ok := md.Topics[t.name]
		if ok && !errors.Is(d.Err, kerr.UnknownTopicOrPartition) {
			t.missed = 0
		} else if t.missed++; t.missed >= 2 { // once may be a broker that has just started
			return fault(commit.CodeVanished, fmt.Sprintf("topic %q was deleted while it was read", t.name), nil,
				"take it out of the pipeline, or create it again and reset the pipeline's state and offsets")
		}
	}
	return nil
}

// learn takes one topic of the metadata in. The caller holds mu.
func (s *Session) learn(d kadm.TopicDetail) error {
	if d.Err != nil || len(d.Partitions) == 0 {
		return nil
	}
	t := s.topics[d.Topic]
	if t == nil {
		if t = s.adopt(d); t == nil {
			return nil
		}
	}
	var none kadm.TopicID
	if t.id != none && d.ID != none && t.id != d.ID {
		return recreated(t.name)
	}
	t.id = d.ID
	n := len(d.Partitions)
	if n >= len(t.parts) {
		t.shrunk = 0
	} else if t.shrunk++; t.shrunk >= 2 { // once is an answer from before partitions were added
		return fault(commit.CodeVanished, fmt.Sprintf("topic %q had %d partitions and now has %d", t.name, len(t.parts), n), nil,
			"Kafka never takes partitions away: the topic was made anew, or the addresses lead to another cluster")
	}
	t.grow(n)
	return nil
}

// adopt gives a topic to the source that reads it, nil if none does. The caller holds mu.
func (s *Session) adopt(d kadm.TopicDetail) *topic {
	if d.IsInternal || d.Topic == DeadLetterTopic(s.opt.Pipeline) {
		return nil
	}
	for _, src := range s.sources {
		if !src.takes(d.Topic) || len(src.topics) > 65535 {
			continue
		}
		t := &topic{name: d.Topic, id: d.ID, src: src, index: uint16(len(src.topics))}
		src.topics = append(src.topics, t)
		s.topics[d.Topic] = t
		return t
	}
	return nil
}

// topicNames returns the names of all topics, sorted. The caller holds mu.
func (s *Session) topicNames() []string {
	var names []string
	for name := range s.topics {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// refreshEnds asks where the owned partitions end.
func (s *Session) refreshEnds(ctx context.Context) error {
	want := s.owned(func(*part) bool { return true })
	if len(want) == 0 {
		return nil
	}
	asked := time.Now()
	// The high watermark first: with the stable offset asked for later, equal numbers mean that nothing was open.
	high, err := s.adm.offsets(ctx, want, tsLatest, false)
	if err != nil {
		return err
	}
	stable := high
	if s.opt.readCommitted() {
		if stable, err = s.adm.offsets(ctx, want, tsLatest, true); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for topic, parts := range high {
		for id, hw := range parts {
			if p := s.find(topic, id); p != nil {
				p.see(stable[topic][id], max(hw, stable[topic][id]), asked)
			}
		}
	}
	return nil
}

// see takes in where the partition ends.
func (p *part) see(stable, high int64, at time.Time) {
	if at.Before(p.seen) {
		return
	}
	p.stable, p.high, p.seen = stable, high, at
}

// refreshStops finds the offsets at which bounded sources end, once their stop time has come: the first record at or
// after it, or else the end of what can be read.
func (s *Session) refreshStops(ctx context.Context) error {
	clock := now()
	for _, src := range s.sources {
		at, ok := src.bounded()
		if !ok || clock < at {
			continue
		}
		want := s.owned(func(p *part) bool { return p.topic.src == src && p.stop < 0 })
		if len(want) == 0 {
			continue
		}
		ends, err := s.adm.offsets(ctx, want, tsLatest, s.opt.readCommitted())
		if err != nil {
			return err
		}
		first, err := s.adm.offsets(ctx, want, int64(at), s.opt.readCommitted())
		if err != nil {
			return err
		}
		s.mu.Lock()
		for topic, parts := range ends {
			for id, end := range parts {
				if off := first[topic][id]; off >= 0 {
					end = off
				}
				if p := s.find(topic, id); p != nil && p.stop < 0 {
					p.stop = end
				}
			}
		}
		s.mu.Unlock()
	}
	return nil
}

// owned returns the owned partitions for which keep says yes.
func (s *Session) owned(keep func(*part) bool) map[string][]int32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := map[string][]int32{}
	for _, t := range s.topics {
		for _, p := range t.parts {
			if p.owned && keep(p) {
				got[t.name] = append(got[t.name], p.id)
			}
		}
	}
	return got
}
