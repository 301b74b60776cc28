package kafka

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wgate/wgate/config"
)

// devPartitions is how many partitions a topic gets that nobody has described.
const devPartitions = 4

// ensure checks that every topic that is named exists, and creates those that may be created. It returns the metadata of
// all that it looked at.
func (a *admin) ensure(ctx context.Context) error {
	o := a.opt
	plans := map[string]*config.Create{} // missing topics to create; nil: as the broker likes it
	uses := map[string]string{}          // the block that names a topic
	var names []string
	add := func(topic, block string, create *config.Create, may bool) {
		if _, ok := uses[topic]; !ok {
			uses[topic] = block
			names = append(names, topic)
		}
		if may && plans[topic] == nil {
			plans[topic] = create
		}
	}
	dev := &config.Create{Partitions: devPartitions, Replication: -1}
	for _, s := range o.Sinks {
		block := fmt.Sprintf("sink %q", s.Name)
		switch {
		case s.Kafka.Create != nil:
			add(s.Kafka.Topic, block, s.Kafka.Create, true)
		default:
			add(s.Kafka.Topic, block, dev, o.CreateTopics)
		}
	}
	for _, s := range o.Sources {
		for _, t := range s.Kafka.Topics {
			add(t, fmt.Sprintf("source %q", s.Name), dev, o.CreateTopics)
		}
	}
	if o.DeadLetters {
		add(DeadLetterTopic(o.Pipeline), "the dead letters", &config.Create{Partitions: 1, Replication: -1}, true)
	}
	if len(names) == 0 {
		return nil
	}
	missing, err := a.missing(ctx, names, uses)
	if err != nil || len(missing) == 0 {
		return err
	}
	var errs []error
	for _, t := range missing {
		create, ok := plans[t]
		if !ok {
			errs = append(errs, a.noTopic(uses[t], t))
			continue
		}
		if err := a.create(ctx, t, uses[t], create); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return a.await(ctx, missing)
}

// missing returns those of names that do not exist.
func (a *admin) missing(ctx context.Context, names []string, uses map[string]string) ([]string, error) {
	md, err := a.adm.Metadata(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("broker %s: read its topics: %w", a.where(), err)
	}
	var missing []string
	for _, name := range names {
		switch err := md.Topics[name].Err; {
		case errors.Is(err, kerr.UnknownTopicOrPartition):
			missing = append(missing, name)
		case errors.Is(err, kerr.TopicAuthorizationFailed):
			return nil, fault(CodeForbidden, fmt.Sprintf("%s: topic %q may not be looked at", uses[name], name), err,
				"give the user DESCRIBE and READ or WRITE on the topic")
		case errors.Is(err, kerr.InvalidTopicException):
			return nil, fault(CodeNoTopic, fmt.Sprintf("%s: %q is not a name of a topic", uses[name], name), nil,
				"use letters, digits, '.', '_' and '-', at most 249")
		case err != nil && !kerr.IsRetriable(err):
			return nil, fmt.Errorf("%s: topic %q: %w", uses[name], name, err)
		}
	}
	return missing, nil
}

// noTopic is the fault of a topic that is missing and may not be created.
func (a *admin) noTopic(block, topic string) error {
	f := fault(CodeNoTopic, fmt.Sprintf("%s: topic %q does not exist on broker %s", block, topic, a.where()), nil,
		"")
	if strings.HasPrefix(block, "sink") {
		f.Next = "add a create block to the sink's kafka block, or create the topic; wgate dev creates topics by itself"
	} else {
		f.Next = "create the topic, or correct its name; wgate dev creates topics by itself"
	}
	return f
}

// create makes a topic. A topic that somebody else has made meanwhile is good as it is.
func (a *admin) create(ctx context.Context, topic, block string, c *config.Create) error {
	partitions, replication := int32(-1), int16(-1)
	configs := map[string]*string{}
	if c != nil {
		if c.Partitions > 0 {
			partitions = c.Partitions
		}
		if c.Replication > 0 {
			replication = c.Replication
		}
		if c.Cleanup != "" {
			configs["cleanup.policy"] = kadm.StringPtr(c.Cleanup)
		}
	}
	// A result's timestamp is its event time, such as the end of a window that is still open: ahead of the clock.
	const ahead = "message.timestamp.after.max.ms"
	configs[ahead] = kadm.StringPtr("9223372036854775807")
	got, err := a.adm.CreateTopic(ctx, partitions, replication, configs, topic)
	if errors.Is(err, kerr.InvalidConfig) { // older than Kafka 3.6: there is no such limit
		delete(configs, ahead)
		got, err = a.adm.CreateTopic(ctx, partitions, replication, configs, topic)
	}
	if err == nil || errors.Is(err, kerr.TopicAlreadyExists) {
		return nil
	}
	cause := fmt.Sprintf("%s: topic %q could not be created", block, topic)
	if got.ErrMessage != "" {
		cause += " (" + got.ErrMessage + ")"
	}
	return fault(CodeNoCreate, cause, err,
		"create it by hand, or give the user CREATE on the topic")
}

// await waits until topics that were created are known to the brokers.
func (a *admin) await(ctx context.Context, topics []string) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for {
		md, err := a.adm.Metadata(ctx, topics...)
		ready := err == nil
		if err == nil {
			for _, t := range topics {
				ready = ready && md.Topics[t].Err == nil && len(md.Topics[t].Partitions) > 0
			}
		}
		if ready {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fault(CodeNoCreate, fmt.Sprintf("topics %v were created but do not become ready", topics), err,
				"look at the brokers' logs")
		}
	}
}

// checkPatterns refuses a pattern that reads what the pipeline itself writes.
func (a *admin) checkPatterns() error {
	for _, s := range a.opt.Sources {
		if s.Kafka.Pattern == "" {
			continue
		}
		re, err := regexp.Compile(s.Kafka.Pattern)
		if err != nil {
			return fault(CodeSettings, fmt.Sprintf("source %q: pattern", s.Name), err,
				"")
		}
		for _, k := range a.opt.Sinks {
			if re.MatchString(k.Kafka.Topic) {
				return fault(CodeSettings, fmt.Sprintf("source %q: pattern %q matches topic %q, which sink %q writes", s.Name, s.Kafka.Pattern, k.Kafka.Topic, k.Name), nil,
					"narrow the pattern, or the pipeline would read its own results")
			}
		}
	}
	return nil
}

// checkVersion refuses brokers that cannot do what a transaction needs and warns of weak ones.
func (a *admin) checkVersion(ctx context.Context) error {
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, a.cl)
	if err != nil {
		return fmt.Errorf("broker %s: read its versions: %w", a.where(), err)
	}
	maxOf := map[int16]int16{}
	for _, k := range resp.ApiKeys {
		maxOf[k.ApiKey] = k.MaxVersion
	}
	// TxnOffsetCommit 3 carries the generation (KIP-447), without which nothing fences an evicted member.
	if v, ok := maxOf[int16(kmsg.TxnOffsetCommit)]; !ok || v < 3 {
		return fault(CodeTooOld, "broker "+a.where()+" has no transactions that are bound to the consumer group (KIP-447)", nil,
			"use Apache Kafka 2.5 or later, or another broker that has them")
	}
	level := int16(0)
	for _, f := range resp.FinalizedFeatures {
		if f.Name == "transaction.version" {
			level = f.MaxVersionLevel
		}
	}
	if level < 2 {
		a.opt.Log.Warn("the broker's transactions are of the old kind: a commit that is delayed for long can hit the next transaction",
			"broker", a.where(), "transaction_version", level, "next", "upgrade to Kafka 4 and set the feature transaction.version to 2")
	}
	return nil
}
