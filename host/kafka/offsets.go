package kafka

import (
	"context"
	"errors"
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
	req.Group, req.InstanceID = s.group, kmsg.StringPtr(s.opt.Instance)
	req.MemberID, req.Generation = m.cl.GroupMetadata()
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
	err := again(ctx, func() error {
		resp, err := req.RequestWith(ctx, s.adm.cl)
		if err != nil {
			return err
		}
		var errs []error
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				errs = append(errs, kerr.ErrorForCode(p.ErrorCode))
			}
		}
		return errors.Join(errs...)
	})
	if err != nil {
		return fmt.Errorf("group %q: commit offsets: %w", s.group, err)
	}
	return nil
}
