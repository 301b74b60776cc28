package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wgate/wgate/host/engine"
)

// Reasons why a commit is not tried or not believed.
var (
	errNoTxn      = errors.New("kafka: no transaction is open")
	errGeneration = errors.New("the group's generation is not the one under which the epoch began")
	errNoFlush    = errors.New("kafka: commit without a flush")
	errNoAnchor   = errors.New("kafka: commit without any offset: nothing would fence a member that was evicted")
	errNotDone    = errors.New("kafka: the client says neither that the transaction was committed nor why not")
	errUnclear    = errors.New("kafka: the outcome of the last transaction is unknown: call Rebuild and Fence")
)

// Begin is described at engine.Broker.
func (s *Session) Begin(context.Context) (engine.Member, error) {
	m := s.member
	switch {
	case m == nil:
		return engine.Member{}, errNoMember
	case s.unclear:
		return engine.Member{}, errUnclear
	}
	m.hold()
	if err := m.sess.Begin(); err != nil {
		m.release()
		return engine.Member{}, fmt.Errorf("kafka: begin a transaction: %w", err)
	}
	s.open = true
	id, generation := m.cl.GroupMetadata()
	return engine.Member{ID: id, Generation: generation}, nil
}

// Send is described at engine.Broker. An error may be that of an earlier record.
func (s *Session) Send(ctx context.Context, recs []engine.Record) error {
	if !s.open {
		return errNoTxn
	}
	return s.out.send(ctx, s.member.cl, s.adm, recs)
}

// Flush is described at engine.Broker. After an error the transaction can only be aborted.
func (s *Session) Flush(ctx context.Context) error {
	if !s.open {
		return errNoTxn
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience())
	defer cancel()
	err := s.out.flush(ctx, s.member.cl)
	if err != nil {
		s.adm.forgetLimits()
	}
	return err
}

// patience is how long an answer of the broker is waited for; then the outcome is unknown, which the recovery resolves.
func (s *Session) patience() time.Duration { return s.opt.TxnTimeout + 30*time.Second }

// Revoked is described at engine.Broker. It holds from the loss until the next Fence, also when no transaction was open.
func (s *Session) Revoked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// End is described at engine.Broker. The offsets of the request are replaced by offs, whatever the client has polled. A
// commit is not tried when a partition was lost or the generation changed: then the transaction is aborted. After Unknown,
// only Rebuild and Fence help. Canceling ctx does not stop it.
func (s *Session) End(ctx context.Context, as engine.Member, offs []engine.Offset) (engine.Outcome, error) {
	if !s.open {
		return engine.Unknown, errNoTxn
	}
	m := s.member
	defer m.release()
	if id, generation := m.cl.GroupMetadata(); s.Revoked() || id != as.ID || generation != as.Generation || !m.lives(ctx, as) {
		s.log.Info("the epoch is not committed: the group's assignment changed", "group", s.group, "generation", generation, "began_under", as.Generation)
		return s.refuse(ctx, nil)
	}
	switch {
	case s.out.sent != 0:
		return s.refuse(ctx, errNoFlush)
	case len(offs) == 0:
		return s.refuse(ctx, errNoAnchor)
	}
	topics := s.commitTopics(offs)
	replaced := false
	fn := func(req *kmsg.TxnOffsetCommitRequest) error {
		if req.MemberID != as.ID || req.Generation != as.Generation {
			return errGeneration
		}
		req.Topics = topics
		replaced = true
		return nil
	}
	// Canceled halfway, the client would not know what it has sent; a time that runs out is an unknown outcome, too.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience())
	defer cancel()
	go m.watchPulse(ctx, cancel)
	committed, err := m.sess.End(kgo.PreTxnCommitFnContext(ctx, fn), kgo.TryCommit)
	s.open = false
	if err == nil && committed && replaced {
		return engine.Committed, nil
	}
	s.unclear = true
	if err == nil {
		err = errNotDone
	}
	return engine.Unknown, fmt.Errorf("kafka: end of the transaction: %w", err)
}

// refuse aborts instead of committing; why may be nil.
func (s *Session) refuse(ctx context.Context, why error) (engine.Outcome, error) {
	if err := s.Abort(ctx); err != nil {
		return engine.Unknown, errors.Join(why, err)
	}
	return engine.Aborted, why
}

// Abort is described at engine.Broker. Without an open transaction it does nothing that anyone sees.
func (s *Session) Abort(ctx context.Context) error {
	m := s.member
	switch {
	case m == nil:
		return errNoMember
	case s.unclear:
		return errUnclear
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.patience())
	defer cancel()
	defer m.release()
	s.open = false
	if _, err := m.sess.End(ctx, kgo.TryAbort); err != nil {
		s.unclear = true
		return fmt.Errorf("kafka: abort: %w", err)
	}
	s.out.reset()
	return nil
}

// commitTopics is offs as the request has them.
func (s *Session) commitTopics(offs []engine.Offset) []kmsg.TxnOffsetCommitRequestTopic {
	s.mu.Lock()
	defer s.mu.Unlock()
	var topics []kmsg.TxnOffsetCommitRequestTopic
	at := map[string]int{}
	for _, o := range offs {
		i, ok := at[o.Topic]
		if !ok {
			i = len(topics)
			at[o.Topic] = i
			t := kmsg.NewTxnOffsetCommitRequestTopic()
			t.Topic = o.Topic
			if known := s.topics[o.Topic]; known != nil {
				t.TopicID = known.id
			}
			topics = append(topics, t)
		}
		p := kmsg.NewTxnOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset, p.LeaderEpoch = o.ID, o.Offset, o.LeaderEpoch
		p.Metadata = kmsg.StringPtr(o.Metadata)
		topics[i].Partitions = append(topics[i].Partitions, p)
	}
	return topics
}

// MaxRecordBytes is described at engine.Broker: how many bytes key, value and headers of a record for topic may have
// together, when each header counts for 16 more. A record of that size fits even if nothing of it can be compressed.
func (s *Session) MaxRecordBytes(ctx context.Context, topic string) (int, error) {
	return s.adm.maxRecordBytes(ctx, topic)
}
