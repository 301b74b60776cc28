package kafka

import (
	"regexp"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

// source is a Source at work.
type source struct {
	Source
	pattern *regexp.Regexp // nil: the topics are named
	topics  []*topic       // by the index that Origin.Topic carries; only ever grows
}

// takes reports whether a topic belongs to the source.
func (s *source) takes(name string) bool {
	if s.pattern != nil {
		return s.pattern.MatchString(name)
	}
	for _, t := range s.Kafka.Topics {
		if t == name {
			return true
		}
	}
	return false
}

// topic is a topic that a source reads.
type topic struct {
	name   string
	id     kadm.TopicID // zero where the broker has no ids
	src    *source
	index  uint16
	parts  []*part // by partition
	missed int     // how often in a row the broker did not list it
	shrunk int     // how often in a row it listed fewer partitions
}

// part is a partition of a topic, with the position that the engine has reached. The client's own position is never used:
// it runs ahead by what is fetched and not handed out, and goes back by itself after an abort.
type part struct {
	topic *topic
	id    int32

	next    int64 // offset of the next record to hand out; -1: not known yet
	sought  bool  // nothing was handed out since next was set
	owned   bool
	life    uint32 // counts assignments and losses: what was fetched in an earlier life is dropped
	paused  bool
	stop    int64 // offset at which the source ends; -1: none known
	stable  int64 // last stable offset when last seen; -1: not seen
	high    int64 // high watermark when last seen
	seen    time.Time
	dropped uint64 // records that were not handed out because the partition was not owned
}

func newPart(t *topic, id int32) *part {
	return &part{topic: t, id: id, next: -1, stop: -1, stable: -1, high: -1}
}

// grow makes the topic have n partitions.
func (t *topic) grow(n int) {
	for len(t.parts) < n {
		t.parts = append(t.parts, newPart(t, int32(len(t.parts))))
	}
}

// ended reports whether a bounded source is through with the partition.
func (p *part) ended() bool { return p.stop >= 0 && p.next >= p.stop }

// state is the partition as the engine sees it. fresh is the time before which what was seen of its ends is too old.
func (p *part) state(committed bool, fresh time.Time) engine.PartitionState {
	end := p.stable
	if !committed {
		end = p.high
	}
	return engine.PartitionState{
		Partition: engine.Partition{Source: p.topic.src.Index, Topic: p.topic.name, ID: p.id},
		Position:  p.next, End: end, Ended: p.ended(),
		CaughtUp: end >= 0 && p.next >= end && end == p.high && p.seen.After(fresh),
	}
}

// at is the partition's position as the client takes it. The leader epoch is left out: what the log lost is found by the
// bounds that recovery checks, and an epoch of another life would only make the client doubt.
func (p *part) at() kgo.Offset { return kgo.NewOffset().At(p.next).WithEpoch(-1) }

// bounded returns the time at which the source ends, false if it never does.
func (s *source) bounded() (event.Time, bool) {
	return s.Kafka.StopTime, s.Kafka.StopTime.IsFinite()
}
