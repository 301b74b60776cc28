package commit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wgate/wgate/statestore"
)

// Stop is an error with which a pipeline stops and waits for its operator: a stable code, what happened, and what to do
// next.
type Stop struct {
	Code  string
	Cause string // what happened, with the values at hand
	Next  string // the next command, or what to do
	Err   error  // what it came from; may be nil
}

// Error returns code, cause and next command in one line.
func (s *Stop) Error() string { return fmt.Sprintf("%s: %s; %s", s.Code, s.Cause, s.Next) }

// Unwrap returns the error that the Stop came from.
func (s *Stop) Unwrap() error { return s.Err }

// The codes of the commit protocol. A code never changes its meaning.
const (
	CodeMode      = "WG-200"
	CodeNotHere   = "WG-211"
	CodeRecreated = "WG-212"
	CodeVanished  = "WG-213"
	CodeSecond    = "WG-214"
	CodeNewer     = "WG-215"
	CodeOther     = "WG-216"
	CodeInUse     = "WG-217"
	CodePlan      = "WG-218"
	CodeExpired   = "WG-219"
	CodeMissing   = "WG-221"
	CodeMoved     = "WG-222"
	CodeCut       = "WG-223"
	CodeCorrupt   = "WG-226"
	CodeDisk      = "WG-228"
	CodeUnstable  = "WG-231"
	CodeNoAnchor  = "WG-232"
	CodeBroker    = "WG-301"
	CodeRefused   = "WG-302"
)

// CodeInfo explains a code.
type CodeInfo struct {
	Code    string
	Meaning string
	Next    string // %s is the pipeline's name
}

var codes = []CodeInfo{
	{CodeMode, "the changelog mode is not available in this version", `set state = "local" for pipeline %s`},
	{
		CodeNotHere, "the last committed epoch is not in this state folder: the folder is old, empty or of another node",
		"start pipeline %s with the state folder that it ran with last, or delete its state and its group to begin anew",
	},
	{CodeRecreated, "an input topic was deleted and made anew", "delete the state of pipeline %s to begin anew on the new topic"},
	{CodeVanished, "an input topic or partition is gone", "bring the topic back, or delete the state of pipeline %s to begin anew"},
	{
		CodeSecond, "a second member is in the group of a pipeline whose state is local",
		"stop the other instance of pipeline %s, then start this one again",
	},
	{CodeNewer, "the state was written by a newer version of wgate", "run pipeline %s with that version or a later one"},
	{
		CodeOther, "the state belongs to another cluster, group or pipeline",
		"give pipeline %s the state folder that belongs to it, or an empty one",
	},
	{CodeInUse, "the state folder is in use", "stop the process that runs pipeline %s, or give this one a folder of its own"},
	{
		CodePlan, "the state belongs to another version of the pipeline's plan",
		"deploy the version of pipeline %s that wrote it, or delete its state to begin anew",
	},
	{
		CodeExpired, "records that were not read yet have been deleted from an input topic",
		"lengthen the topic's retention, then delete the state of pipeline %s to begin anew",
	},
	{
		CodeMissing, "the group's offsets are gone though state is there: they expired, or the group was deleted",
		"start pipeline %s once with restored offsets, or delete its state to begin anew",
	},
	{
		CodeMoved, "someone moved the group's offsets",
		"start pipeline %s once with restored offsets, or delete its state and its group to begin anew",
	},
	{
		CodeCut, "an input topic ends before the offset up to which it was read: it was cut or made anew",
		"delete the state of pipeline %s to begin anew",
	},
	{CodeCorrupt, "the state on disk is damaged", "restore the state folder of pipeline %s from a backup, or delete it and its group to begin anew"},
	{CodeDisk, "the state cannot be read or written", "free or repair the disk, then start pipeline %s again: nothing was half applied"},
	{
		CodeUnstable, "a transaction on the group's offsets does not end",
		"find the transaction with kafka-transactions.sh list, abort it, then start pipeline %s again",
	},
	{CodeNoAnchor, "an epoch has no partition whose offset could carry its token", "this is a fault of wgate: report it with the plan of pipeline %s"},
	{CodeBroker, "the broker does not answer", "look at the broker's log and the network, then start pipeline %s again"},
	{
		CodeRefused, "the broker refuses one commit after the other",
		"look at the broker's log and at the quota and access of pipeline %s, then start it again",
	},
}

// Codes returns all codes of the commit protocol in order.
func Codes() []CodeInfo { return slices.Clone(codes) }

// NewStop returns a Stop of a known code. The cause is the code's meaning and what detail adds to it.
func NewStop(code, pipeline, detail string, err error) *Stop {
	i := slices.IndexFunc(codes, func(c CodeInfo) bool { return c.Code == code })
	if i < 0 {
		return &Stop{Code: code, Cause: detail, Next: "look up the code in docs/errors", Err: err}
	}
	cause := codes[i].Meaning
	if detail != "" {
		cause += ": " + detail
	}
	return &Stop{Code: code, Cause: cause, Next: strings.ReplaceAll(codes[i].Next, "%s", pipeline), Err: err}
}

// StoreStop turns an error of the state store, also of opening it, into a Stop.
func StoreStop(pipeline string, err error) *Stop {
	if s, ok := errors.AsType[*Stop](err); ok {
		return s
	}
	code := ""
	switch {
	case errors.Is(err, statestore.ErrInUse):
		code = CodeInUse
	case errors.Is(err, statestore.ErrNewer):
		code = CodeNewer
	case errors.Is(err, statestore.ErrCorrupt), errors.Is(err, statestore.ErrBatch):
		code = CodeCorrupt
	default:
		return NewStop(CodeDisk, pipeline, err.Error(), err)
	}
	s := NewStop(code, pipeline, "", err)
	s.Cause = err.Error() // which says what the code means
	return s
}
