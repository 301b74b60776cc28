package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// The codes of faults. A code is stable: users look it up and match on it.
const (
	CodeRecreated    = "WG-212" // a topic was deleted and made anew: its id changed
	CodeVanished     = "WG-213" // a topic or a partition that was read is gone
	CodeSecondMember = "WG-214" // another live instance is in the group
	CodeUnreachable  = "WG-301" // no address answers
	CodeTLS          = "WG-302" // TLS on one side only, or a certificate that is not trusted
	CodeCredentials  = "WG-303" // the broker refused the user, or asks for one
	CodeForbidden    = "WG-304" // the user may not do it
	CodeTooOld       = "WG-305" // the broker lacks something that is needed
	CodeTxnTimeout   = "WG-306" // the broker does not allow the transaction timeout
	CodeSettings     = "WG-307" // the options contradict each other
	CodeNoTopic      = "WG-311" // a topic does not exist
	CodeNoCreate     = "WG-312" // a topic could not be created
	CodeNoMatch      = "WG-313" // no topic matches a source's pattern
	CodeOutOfRange   = "WG-321" // the broker deleted records before they were read
	CodeUnreadable   = "WG-322" // a batch of records cannot be decoded
	CodeStaleRecord  = "WG-323" // a record from before the position that was set
	CodeGroup        = "WG-324" // the group cannot be joined
	CodeRefused      = "WG-325" // the broker refused a record
)

// Fault is an error that stops a pipeline: a stable code, what went wrong and where, and what to do next. It holds no
// value of any record.
type Fault struct {
	Code  string
	Cause string
	Next  string
	Err   error // the error underneath; may be nil
}

// Error returns "CODE: cause: error; next".
func (f *Fault) Error() string {
	var b strings.Builder
	b.WriteString(f.Code + ": " + f.Cause)
	if f.Err != nil {
		b.WriteString(": " + f.Err.Error())
	}
	if f.Next != "" {
		b.WriteString("; " + f.Next)
	}
	return b.String()
}

// Unwrap returns the error underneath.
func (f *Fault) Unwrap() error { return f.Err }

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
		return &Fault{
			Code: CodeOutOfRange, Cause: where + ": the broker has deleted records that were not yet read", Err: err,
			Next: "raise the topic's retention; to go on behind the gap, reset the group's offsets and the pipeline's state",
		}
	case errors.As(err, &loss):
		return &Fault{
			Code: CodeOutOfRange, Cause: where + ": the log was cut back below what was read (unclean leader election)", Err: err,
			Next: "results may rest on records that no longer exist: rebuild the pipeline's state from the topic",
		}
	case errors.Is(err, kerr.UnknownTopicID), errors.Is(err, kerr.InconsistentTopicID):
		return recreated(topic)
	case errors.Is(err, kerr.TopicAuthorizationFailed):
		return &Fault{Code: CodeForbidden, Cause: where + ": reading is not allowed", Next: "give the user READ on the topic", Err: err}
	case errors.Is(err, kgo.ErrClientClosed), kerr.IsRetriable(err), kgo.IsRetryableBrokerErr(err):
		return nil
	}
	return &Fault{
		Code: CodeUnreadable, Cause: where + ": a batch of records cannot be read", Err: err,
		Next: "look at the partition with a consumer of its own; if the batch is damaged, move the group's offset past it",
	}
}

// groupFault says what an error of the group session means. nil means that the client joins again by itself.
func groupFault(err error) error {
	switch {
	case errors.Is(err, kerr.FencedInstanceID):
		return &Fault{
			Code: CodeSecondMember, Cause: "another process runs with this instance's identity", Err: err,
			Next: "stop one of the two; a copied state folder must not run beside its original",
		}
	case errors.Is(err, kerr.GroupAuthorizationFailed), errors.Is(err, kerr.TopicAuthorizationFailed):
		return &Fault{Code: CodeForbidden, Cause: "joining the group is not allowed", Next: "give the user READ on the group and on the topics", Err: err}
	case errors.Is(err, kerr.GroupMaxSizeReached), errors.Is(err, kerr.InconsistentGroupProtocol), errors.Is(err, kerr.InvalidSessionTimeout):
		return &Fault{Code: CodeGroup, Cause: "the group cannot be joined", Next: "look at the group's members with a Kafka tool; nothing else may use this group", Err: err}
	}
	return nil
}

// recreated is the fault of a topic whose id changed.
func recreated(topic string) error {
	return &Fault{
		Code: CodeRecreated, Cause: fmt.Sprintf("topic %q was deleted and created anew", topic),
		Next: "its offsets mean other records now: reset the pipeline's state and offsets to read it from the start",
	}
}
