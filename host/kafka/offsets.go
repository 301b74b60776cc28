package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wgate/wgate/host/engine"
)

// CommitOffsets is described at engine.Broker. The commit is refused when the member's generation is not the group's.
func (s *Session) CommitOffsets(ctx context.Context, offs []engine.Offset) error {
	m := s.member
	if m == nil {
		return errNoMember
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = s.group
	req.MemberID, req.Generation = m.cl.GroupMetadata()
	req.InstanceID = kmsg.StringPtr(s.opt.Instance)
	for _, from := range s.commitTopics(offs) {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.TopicID = from.Topic, from.TopicID
		for _, p := range from.Partitions {
			part := kmsg.NewOffsetCommitRequestTopicPartition()
			part.Partition, part.Offset, part.LeaderEpoch, part.Metadata = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata
			t.Partitions = append(t.Partitions, part)
		}
		req.Topics = append(req.Topics, t)
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	resp, err := req.RequestWith(ctx, m.cl)
	if err != nil {
		return fmt.Errorf("group %q: commit offsets: %w", s.group, err)
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("group %q: commit offset of %s/%d: %w", s.group, t.Topic, p.Partition, err)
			}
		}
	}
	return nil
}
