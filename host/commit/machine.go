package commit

import (
	"errors"
	"fmt"
	"time"

	"github.com/wgate/wgate/statestore"
)

// Delivery says what carries the decision that an epoch is committed.
type Delivery uint8

// The deliveries.
const (
	// ExactlyOnce: a transaction on the broker carries outputs and offsets.
	ExactlyOnce Delivery = iota
	// AtLeastOnce: outputs are flushed, the store commits, the group's offsets follow. The store decides.
	AtLeastOnce
	// StoreOnly: there is no broker; outputs are flushed and the store commits.
	StoreOnly
)

// Mode says where the state can be rebuilt from.
type Mode uint8

// The modes of recovery.md.
const (
	Local     Mode = iota // from the state folder alone
	Changelog             // from a topic: not available in this version
)

// Repair is what the operator wants done with offsets that do not fit the state.
type Repair uint8

// The repairs.
const (
	// NoRepair stops.
	NoRepair Repair = iota
	// RestoreOffsets puts the group's offsets back to those of the state.
	RestoreOffsets
)

// Config is what a machine knows from the start.
type Config struct {
	Delivery Delivery
	Mode     Mode
	Repair   Repair
	// Meta is the world as it is now; the state is checked against it. Instance may be empty if the store has one.
	Meta statestore.Meta
	// InGroup reports whether the offsets of a source are kept in the group; nil means all. Those of files are not.
	InGroup func(source int) bool
	// Anchor is the partition that carries the token if no source is in the group: any partition that the group may commit,
	// such as one of an output topic. It is committed with offset 0. Without a topic it is not used.
	Anchor Partition
	// UnstableLimit is how long to wait for a foreign transaction on the group's offsets to end: the transaction timeout and
	// 30 s. 0 is 40 s. Only the time between tries counts.
	UnstableLimit time.Duration
	// BrokerLimit is how long to try to reach the broker before stopping; 0 is 5 minutes. Only the time between tries counts.
	BrokerLimit time.Duration
	// MaxRecoveries is how many recoveries in a row, without a commit in between, are too many; 0 is 20.
	MaxRecoveries int
	// Unguarded switches guards off. Only tests set it.
	Unguarded Guards
}

// ErrCall is returned for a call that the protocol does not allow at this point: a fault of the caller.
var ErrCall = errors.New("commit: call out of order")

// ErrGivenUp marks the errors of calls that the caller itself has ended: there is no use in trying again.
var ErrGivenUp = errors.New("commit: given up by the caller")

// ErrRevoked is the cause of an abort that was due to a lost partition or a changed member.
var ErrRevoked = errors.New("commit: a partition was revoked, or the membership has changed")

// State is what a start, or a new start after an abort, goes on from.
type State struct {
	Offsets  []Offset // of all partitions; empty at the first start
	Progress []byte
	First    bool // nothing was ever committed: sources begin where their start attribute says
	Epoch    uint64
	Token    Token
}

// phase is what the machine waits for.
type phase uint8

const (
	closed phase = iota
	loading
	writingMeta
	fencing
	fetching
	waitingStable
	repairing
	redoing
	dropping
	bounding
	seeking
	ready
	beginning
	open
	flushing
	writingPending
	ending
	applying
	publishing
	aborting
	droppingAborted
	reseeking
	waitingBroker
	rebuilding
)

var phaseNames = [...]string{
	"closed", "loading", "writing meta", "fencing", "fetching", "waiting for stable offsets", "repairing", "redoing",
	"dropping pending", "asking for bounds", "seeking", "ready", "beginning", "open", "flushing", "writing pending", "ending",
	"applying", "publishing offsets", "aborting", "dropping the aborted pending", "seeking back", "waiting for the broker",
	"rebuilding",
}

// String returns what the machine waits for.
func (p phase) String() string { return phaseNames[p] }

// Machine is the protocol. It is used by one goroutine. The zero Machine is not usable.
type Machine struct {
	cfg   Config
	phase phase

	// What is known of the store.
	meta        statestore.Meta
	committed   Committed // zero before the first epoch
	pending     *Committed
	pendingErr  error // the Pending row cannot be read
	pendingSeen bool
	hasRows     bool

	// What a recovery keeps.
	result     Result // of the call that led to it
	waited     time.Duration
	tries      int
	recoveries int      // without a commit since
	failures   int      // of outputs, without a commit since
	fresh      bool     // a recovery or an abort has just ended here
	used       bool     // the client has been used: a new start needs a new one
	found      []Offset // what the group holds

	// The running epoch.
	member Member
	dead   bool // a send or a begin failed: it can only be aborted
	rejoin bool // a recovery follows the abort: a partition was lost, or no one knows whether a transaction is open
	next   Committed
	wrote  bool  // its Pending row is in the store
	cause  error // why it failed
}

// New returns a machine that waits for Recover.
func New(cfg Config) *Machine {
	if cfg.UnstableLimit == 0 {
		cfg.UnstableLimit = 40 * time.Second
	}
	if cfg.BrokerLimit == 0 {
		cfg.BrokerLimit = 5 * time.Minute
	}
	if cfg.MaxRecoveries == 0 {
		cfg.MaxRecoveries = 20
	}
	cfg.Unguarded = cfg.Unguarded.built()
	return &Machine{cfg: cfg, meta: cfg.Meta}
}

// State returns what to go on from. Its slices belong to the machine.
func (m *Machine) State() State {
	c := m.committed
	return State{Offsets: c.Offsets, Progress: c.Progress, First: c.Epoch == 0, Epoch: c.Epoch, Token: c.Token}
}

// Cause returns why the last epoch was aborted or its outcome was not known; nil if the caller asked for it.
func (m *Machine) Cause() error { return m.cause }

// Meta returns the META row as it is in the store after Recover.
func (m *Machine) Meta() statestore.Meta { return m.meta }

// Step takes an event and returns what to do.
func (m *Machine) Step(ev Event) []Action {
	switch ev := ev.(type) {
	case Recover:
		return m.start(ev)
	case BeginEpoch, Sent, CommitEpoch, AbortEpoch:
		return m.call(ev)
	case Began, Flushed, PendingWritten, Ended, AbortEnded:
		return m.epochAnswer(ev)
	case Applied:
		return m.applied(ev)
	case OffsetsCommitted:
		return m.offsetsCommitted(ev)
	default:
		return m.recoveryAnswer(ev)
	}
}

// misuse answers an event that does not fit the phase.
func (m *Machine) misuse(ev Event) []Action {
	return []Action{Return{Err: fmt.Errorf("%w: %T while %s", ErrCall, ev, m.phase)}}
}

// stop ends the run with a Stop.
func (m *Machine) stop(code, format string, args ...any) []Action {
	return m.stopped(NewStop(code, m.cfg.Meta.Pipeline, fmt.Sprintf(format, args...), nil))
}

func (m *Machine) stopped(s *Stop) []Action {
	m.phase = closed
	return []Action{Return{Err: s}}
}

// storeFailed ends the run: what the store holds after a failed write is known only after opening it again.
func (m *Machine) storeFailed(err error) []Action {
	return m.stopped(StoreStop(m.cfg.Meta.Pipeline, err))
}

func (m *Machine) inGroup(p Partition) bool {
	return m.cfg.Delivery != StoreOnly && (m.cfg.InGroup == nil || m.cfg.InGroup(p.Source))
}
