package kafka

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// The timestamps that ListOffsets takes for the ends of a partition.
const (
	tsLatest   = -1
	tsEarliest = -2
)

// admin is the client that asks and creates: it is in no group and in no transaction. It is safe for concurrent use.
type admin struct {
	opt *Options
	cl  *kgo.Client
	adm *kadm.Client

	mu     sync.Mutex
	limits map[string]limits // by topic
}

// limits is what a topic's configuration says about the records that it takes.
type limits struct {
	maxBytes int           // max.message.bytes
	ahead    time.Duration // message.timestamp.after.max.ms: how far ahead of the broker's clock a record may be; < 0: any
}

// openAdmin completes and checks o and connects.
func openAdmin(ctx context.Context, o *Options) (*admin, error) {
	o.complete()
	if err := o.check(); err != nil {
		return nil, err
	}
	opts, err := clientOpts(o)
	if err != nil {
		return nil, err
	}
	if err := reach(ctx, o, opts); err != nil {
		return nil, err
	}
	// kadm answers from metadata that is up to MetadataMinAge old, 5 s by default: a topic that was just made would not be
	// seen for as long.
	cl, err := kgo.NewClient(append(opts, kgo.MetadataMinAge(50*time.Millisecond))...)
	if err != nil {
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	return &admin{opt: o, cl: cl, adm: kadm.NewClient(cl), limits: map[string]limits{}}, nil
}

func (a *admin) close() { a.cl.Close() }

// where names the cluster in messages.
func (a *admin) where() string { return a.opt.Broker.Addresses[0] }

// offsets asks for one offset of every partition in want: the first record at or after the time ts (ms), or one of the
// ends. committed bounds tsLatest by the last stable offset. A partition without a record at or after ts gives -1.
func (a *admin) offsets(ctx context.Context, want map[string][]int32, ts int64, committed bool) (map[string]map[int32]int64, error) {
	got := make(map[string]map[int32]int64, len(want))
	for try := 0; len(want) > 0; try++ {
		missing, why, err := a.offsetsOnce(ctx, want, ts, committed, got)
		if err != nil {
			return nil, fmt.Errorf("list offsets: %w", err)
		}
		if want = missing; len(want) == 0 {
			break
		}
		if try == 20 || !kerr.IsRetriable(why) {
			return nil, fmt.Errorf("list offsets: %w", why)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("list offsets: %w: %w", ctx.Err(), why)
		}
	}
	return got, nil
}

// offsetsOnce puts what the brokers answer into got and returns what they did not, with the last reason.
func (a *admin) offsetsOnce(ctx context.Context, want map[string][]int32, ts int64, committed bool, got map[string]map[int32]int64) (missing map[string][]int32, why, err error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	if committed {
		req.IsolationLevel = 1
	}
	for topic, parts := range want {
		rt := kmsg.NewListOffsetsRequestTopic()
		rt.Topic = topic
		for _, p := range parts {
			rp := kmsg.NewListOffsetsRequestTopicPartition()
			rp.Partition, rp.Timestamp = p, ts
			rt.Partitions = append(rt.Partitions, rp)
		}
		req.Topics = append(req.Topics, rt)
	}
	resp, err := req.RequestWith(ctx, a.cl)
	if err != nil {
		return nil, nil, err
	}
	missing = map[string][]int32{}
	for _, rt := range resp.Topics {
		for _, rp := range rt.Partitions {
			if e := kerr.ErrorForCode(rp.ErrorCode); e != nil {
				why = fmt.Errorf("topic %q partition %d: %w", rt.Topic, rp.Partition, e)
				missing[rt.Topic] = append(missing[rt.Topic], rp.Partition)
				continue
			}
			if got[rt.Topic] == nil {
				got[rt.Topic] = map[int32]int64{}
			}
			got[rt.Topic][rp.Partition] = rp.Offset
		}
	}
	return missing, why, nil
}

// topicLimits returns what topic takes; what the broker does not say has Kafka's default.
func (a *admin) topicLimits(ctx context.Context, topic string) (limits, error) {
	a.mu.Lock()
	l, ok := a.limits[topic]
	a.mu.Unlock()
	if ok {
		return l, nil
	}
	got, err := a.adm.DescribeTopicConfigs(ctx, topic)
	if err != nil {
		return limits{}, fmt.Errorf("topic %q: read its configuration: %w", topic, err)
	}
	l = limits{maxBytes: 1048588, ahead: -1}
	rc, err := got.On(topic, nil)
	if err = errors.Join(err, rc.Err); err != nil {
		if !errors.Is(err, kerr.TopicAuthorizationFailed) { // without DESCRIBE_CONFIGS the defaults have to do
			return limits{}, fmt.Errorf("topic %q: read its configuration: %w", topic, err)
		}
	}
	for _, c := range rc.Configs {
		n, err := strconv.ParseInt(c.MaybeValue(), 10, 64)
		if err != nil {
			continue
		}
		switch c.Key {
		case "max.message.bytes":
			l.maxBytes = int(n)
		case "message.timestamp.after.max.ms":
			if n < int64(1<<62)/int64(time.Millisecond) {
				l.ahead = time.Duration(n) * time.Millisecond
			}
		}
	}
	a.mu.Lock()
	a.limits[topic] = l
	a.mu.Unlock()
	return l, nil
}

// forgetLimits makes the next topicLimits ask again.
func (a *admin) forgetLimits() {
	a.mu.Lock()
	clear(a.limits)
	a.mu.Unlock()
}

// recordOverhead is more than a batch with one record has around key, value and headers: the batch's head (61) and the
// record's own lengths and deltas.
const recordOverhead = 128

// maxRecordBytes returns how large a record of topic may be, as MaxRecordBytes says.
func (a *admin) maxRecordBytes(ctx context.Context, topic string) (int, error) {
	l, err := a.topicLimits(ctx, topic)
	return max(l.maxBytes-recordOverhead, 0), err
}

// again calls f until its error is none that passes, such as that of a coordinator that is just being made, or ctx ends.
func again(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil || !kerr.IsRetriable(err) && !kgo.IsRetryableBrokerErr(err) || errors.Is(err, kerr.UnstableOffsetCommit) {
			return err
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// committed returns the committed offsets of group for the partitions of topics, and whether none of them waits for a
// transaction. The partitions are named in the request: asked for all that it has, Kafka leaves out a partition whose first
// offset is still in a transaction, instead of saying that it is not stable.
func (a *admin) committed(ctx context.Context, group string, topics []kmsg.OffsetFetchRequestGroupTopic) (offs map[string]map[int32]kmsg.OffsetFetchResponseGroupTopicPartition, stable bool, err error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.RequireStable = true
	rg := kmsg.NewOffsetFetchRequestGroup()
	rg.Group, rg.Topics = group, topics
	req.Groups = append(req.Groups, rg)
	var got kmsg.OffsetFetchResponseGroup
	err = again(ctx, func() error {
		resp, err := req.RequestWith(ctx, a.cl)
		if err != nil {
			return err
		}
		if len(resp.Groups) != 1 {
			return errors.New("the broker answers for another number of groups than was asked for")
		}
		got = resp.Groups[0]
		return kerr.ErrorForCode(got.ErrorCode)
	})
	switch {
	case errors.Is(err, kerr.GroupIDNotFound):
		return nil, true, nil
	case errors.Is(err, kerr.UnstableOffsetCommit):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("group %q: read its offsets: %w", group, err)
	}
	names := map[[16]byte]string{}
	for _, t := range topics {
		names[t.TopicID] = t.Topic
	}
	offs, stable = map[string]map[int32]kmsg.OffsetFetchResponseGroupTopicPartition{}, true
	for _, t := range got.Topics {
		if t.Topic == "" {
			t.Topic = names[t.TopicID]
		}
		offs[t.Topic] = map[int32]kmsg.OffsetFetchResponseGroupTopicPartition{}
		for _, p := range t.Partitions {
			switch err := kerr.ErrorForCode(p.ErrorCode); {
			case errors.Is(err, kerr.UnstableOffsetCommit):
				stable = false
			case err != nil:
				return nil, false, fmt.Errorf("group %q: read its offset of topic %q partition %d: %w", group, t.Topic, p.Partition, err)
			}
			offs[t.Topic][p.Partition] = p
		}
	}
	return offs, stable, nil
}

// otherMember returns the identity of a member of group that is not instance, empty if there is none.
func (a *admin) otherMember(ctx context.Context, group, instance string) (string, error) {
	var g kadm.DescribedGroup
	err := again(ctx, func() error {
		got, err := a.adm.DescribeGroups(ctx, group)
		if err == nil {
			g, err = got.On(group, nil)
		}
		if err == nil {
			err = g.Err
		}
		return err
	})
	if err != nil {
		if errors.Is(err, kerr.GroupIDNotFound) {
			return "", nil
		}
		return "", fmt.Errorf("group %q: look at its members: %w", group, err)
	}
	for _, m := range g.Members {
		if m.InstanceID == nil {
			return m.MemberID + " at " + m.ClientHost, nil
		}
		if *m.InstanceID != instance {
			return *m.InstanceID + " at " + m.ClientHost, nil
		}
	}
	return "", nil
}

// fence aborts what is open under the transactional id, so that offsets become stable before the group is joined.
func (a *admin) fence(ctx context.Context, id string) error {
	req := kmsg.NewPtrInitProducerIDRequest()
	req.TransactionalID = &id
	req.TransactionTimeoutMillis = int32(a.opt.TxnTimeout.Milliseconds())
	req.ProducerID, req.ProducerEpoch = -1, -1
	for {
		err := again(ctx, func() error {
			resp, err := req.RequestWith(ctx, a.cl)
			if err == nil {
				err = kerr.ErrorForCode(resp.ErrorCode)
			}
			return err
		})
		switch {
		case err == nil:
			return nil
		case errors.Is(err, kerr.InvalidTransactionTimeout):
			return fault(CodeTxnTimeout, fmt.Sprintf("broker %s does not allow transactions of %v", a.where(), a.opt.TxnTimeout), err,
				"shorten the pipeline's epoch, or raise the broker's transaction.max.timeout.ms")
		case errors.Is(err, kerr.TransactionalIDAuthorizationFailed):
			return fault(CodeForbidden, fmt.Sprintf("transactional id %q may not be used", id), err,
				fmt.Sprintf("give the user WRITE and DESCRIBE on transactional ids that start with %q", a.opt.Pipeline+"/"))
		case !errors.Is(err, kerr.ConcurrentTransactions): // the old transaction's end is still being written
			return fmt.Errorf("transactional id %q: %w", id, err)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("transactional id %q: its last transaction does not end: %w", id, ctx.Err())
		}
	}
}
