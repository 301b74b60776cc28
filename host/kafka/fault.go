package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/host/commit"
)

// The codes of the Stops that this package returns, beside those of the commit protocol that fit: commit.CodeRecreated,
// CodeVanished, CodeSecond, CodeExpired and CodeBroker. A code never changes its meaning.
const (
	CodeCredentials = "WG-303" // the broker refused the user, or asks for one
	CodeForbidden   = "WG-304" // the user may not do it
	CodeTooOld      = "WG-305" // the broker lacks something that is needed
	CodeTxnTimeout  = "WG-306" // the broker does not allow the transaction timeout
	CodeSettings    = "WG-307" // the options contradict each other
	CodeTLS         = "WG-308" // TLS on one side only, or a certificate that is not trusted
	CodeNoTopic     = "WG-311" // a topic does not exist
	CodeNoCreate    = "WG-312" // a topic could not be created
	CodeNoMatch     = "WG-313" // no topic matches a source's pattern
	CodeUnreadable  = "WG-322" // a batch of records cannot be decoded
	CodeStaleRecord = "WG-323" // a record from before the position that was set
	CodeGroup       = "WG-324" // the group cannot be joined
	CodeNotTaken    = "WG-325" // the broker refused a record
)

// CodeUnreachable is the code of a broker of which no address answers: commit.CodeBroker.
const CodeUnreachable = commit.CodeBroker

// Fault is the error with which a pipeline stops and waits for its operator: a commit.Stop, so that the committer knows
// what not to try again.
type Fault = commit.Stop

// fault is the error of something that passes only when the user does something. err may be nil.
func fault(code, cause string, err error, next string) *Fault {
	if err != nil {
		cause += ": " + err.Error()
	}
	return &Fault{Code: code, Cause: cause, Next: next, Err: err}
}

// fetchFault says what the error of a fetched partition means. nil means that the client goes on by itself.
func fetchFault(topic string, partition int32, err error) error {
	where := fmt.Sprintf("topic %q partition %d", topic, partition)
	var session *kgo.ErrGroupSession
	var loss *kgo.ErrDataLoss
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil
	case errors.As(err, &session):
		return groupFault(session.Err)
	case errors.Is(err, kerr.OffsetOutOfRange):
		return fault(commit.CodeExpired, where+": the broker has deleted records that were not yet read", err,
			"raise the topic's retention; to go on behind the gap, reset the group's offsets and the pipeline's state")
	case errors.As(err, &loss):
		return fault(commit.CodeExpired, where+": the log was cut back below what was read (unclean leader election)", err,
			"results may rest on records that no longer exist: rebuild the pipeline's state from the topic")
	case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.InconsistentTopicID):
		return recreated(topic)
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return fault(CodeForbidden, where+": reading is not allowed", err,
			"give the user READ on the topic")
	case errors.Is(err, kgo.ErrClientClosed), kerr.IsRetriable(err), kgo.IsRetryableBrokerErr(err):
		return nil
	}
	return fault(CodeUnreadable, where+": a batch of records cannot be read", err,
		"look at the partition with a consumer of its own; if the batch is damaged, move the group's offset past it")
}

// groupFault says what an error of the group session means. nil means that the client joins again by itself.
func groupFault(err error) error {
	switch {
	case errors.Is(err, kerr.FencedInstanceID):
		return fault(commit.CodeSecond, "another process runs with this instance's identity", err,
			"stop one of the two; a copied state folder must not run beside its original")
	case errors.Is(err, kerr.GroupAuthorizationFailed), errors.Is(err, kerr.TopicAuthorizationFailed):
		return fault(CodeForbidden, "joining the group is not allowed", err,
			"give the user READ on the group and on the topics")
	case errors.Is(err, kerr.GroupMaxSizeReached), errors.Is(err, kerr.InconsistentGroupProtocol), errors.Is(err, kerr.InvalidSessionTimeout):
		return fault(CodeGroup, "the group cannot be joined", err,
			"look at the group's members with a Kafka tool; nothing else may use this group")
	}
	return nil
}

// recreated is the fault of a topic whose id changed.
func recreated(topic string) error {
	return fault(commit.CodeRecreated, fmt.Sprintf("topic %q was deleted and created anew", topic), nil,
		"its offsets mean other records now: reset the pipeline's state and offsets to read it from the start")
}
