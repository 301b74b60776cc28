package config

import (
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// Pipeline is a checked pipeline: every reference is resolved, every expression has a type, every default is filled in.
// It is immutable. Blocks stand in the order in which they were written.
type Pipeline struct {
	Name       string
	Dir        string // folder that relative paths of plugins start from
	Epoch      event.Duration
	Delivery   string // exactly_once | at_least_once
	Durability string // local | changelog
	Brokers    []*Broker
	Sources    []*Source
	Plugins    []*Plugin
	Transforms []*Transform
	Aggregates []*Aggregate
	Sinks      []*Sink
	Taps       []Ref // collections that a scenario looks at; none outside of a test
	Pos        expr.Pos

	files []Text
	texts map[string][]byte // source text by file, for snippets; also of files of variables
}

// Ref names a collection: source.NAME, transform.NAME[.TAG], aggregate.NAME[.late].
type Ref struct {
	Kind string // source | transform | aggregate
	Name string
	Tag  string // side output, or "late"; empty for the main output
	Pos  expr.Pos
}

// ID returns the collection's name as users write it, such as "aggregate.sums.late".
func (r Ref) ID() string {
	id := r.Kind + "." + r.Name
	if r.Tag != "" {
		id += "." + r.Tag
	}
	return id
}

// OnError says what becomes of a record on which something failed.
type OnError string

// The policies for failed records.
const (
	DeadLetter OnError = "dead_letter"
	Skip       OnError = "skip"
	Fail       OnError = "fail"
)

// ErrorPolicy is a block's on_error and max_errors.
type ErrorPolicy struct {
	OnError   OnError
	MaxErrors float64 // share of the last 10,000 records past which the pipeline stops; 1 means never
}

// Secret is a text that is never printed back.
type Secret struct{ text string }

// NewSecret wraps text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text, for the one place that needs it.
func (s Secret) Reveal() string { return s.text }

// String hides the text.
func (s Secret) String() string { return "(secret)" }

// MarshalJSON hides the text.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(`"(secret)"`), nil }

// Broker is a Kafka-compatible cluster. A pipeline without a broker block uses the embedded one, where there is one.
type Broker struct {
	Name      string
	Addresses []string
	TLS       *TLS
	SASL      *SASL
	Pos       expr.Pos
}

// TLS is a broker's tls block. Paths are resolved against the pipeline's folder.
type TLS struct {
	CA, Cert, Key      string
	ServerName         string
	InsecureSkipVerify bool
}

// SASL is a broker's sasl block.
type SASL struct {
	Mechanism string // plain | scram-sha-256 | scram-sha-512
	User      Secret
	Password  Secret
}

// Kafka says which topics a source reads. Exactly one of Topics and Pattern is set.
type Kafka struct {
	Broker    *Broker // nil: the embedded broker
	Topics    []string
	Pattern   string
	Start     string     // earliest | latest | time
	StartTime event.Time // for Start "time"
	StopTime  event.Time // read up to here, then end; MaxTime: never ends
	Isolation string     // read_committed | read_uncommitted
	Pos       expr.Pos
}

// Source is a source block.
type Source struct {
	Name      string
	Kafka     *Kafka // exactly one of Kafka and File is set
	File      *File
	Decode    string
	EventTime *expr.Expr // nil: record.timestamp
	Arrival   bool       // event_time = arrival()
	TimeUnit  string     // s | ms | us | ns
	Watermark Watermark
	Schema    *event.Type // nil: not declared
	Type      event.Type  // of the value
	Errors    ErrorPolicy
	Pos       expr.Pos
}

// Watermark is a source's watermark block.
type Watermark struct {
	OutOfOrder event.Duration
	Idle       event.Duration
	MaxFuture  event.Duration
	MaxAhead   event.Duration // 0: no alignment
}

// File is a file to read (JSON lines; bounded) or to write.
type File struct {
	Path string
	Pos  expr.Pos
}

// Plugin is a plugin block.
type Plugin struct {
	Name   string
	Path   string // resolved against the pipeline's folder
	SHA256 string // pin, empty if none
	Guard  string // metered | trusted
	// GuardSet says that guard was written, so that a host that cannot meter refuses what was asked for.
	GuardSet bool
	Memory   int64          // bytes
	Time     event.Duration // per call
	Output   int64          // bytes per call
	Config   []byte         // JSON
	HTTP     []string
	Pos      expr.Pos
}

// Call is plugin.NAME.FUNCTION.
type Call struct {
	Plugin   *Plugin
	Function string
	Pos      expr.Pos
}

// Assign is NAME = EXPR of a set, value, headers or compute object.
type Assign struct {
	Name string
	Expr *expr.Expr
	Pos  expr.Pos
}

// Transform is a transform block. What is nil or empty is not done; the order is explode, where, set, drop or keep or
// value, event_time; or Do instead of all that.
type Transform struct {
	Name      string
	Inputs    []Ref
	Do        *Call
	Explode   *Assign
	Where     *expr.Expr
	Set       []Assign
	Drop      []string
	Keep      []string
	Value     *expr.Expr
	EventTime *expr.Expr
	Key       Key // of a keyed DoFn
	Errors    ErrorPolicy
	Type      event.Type // of the output's value
	Tags      []string   // side outputs that something reads
	Pos       expr.Pos
}

// KeyForm says how the parts of a key make one value.
type KeyForm uint8

// The forms of keys.
const (
	NoKey    KeyForm = iota // one group, its key null
	PlainKey                // one part, as it is
	ListKey                 // [a, b]
	NamedKey                // { a = ..., b = ... }
)

// Key is a block's key.
type Key struct {
	Form  KeyForm
	Parts []Assign // Name is empty but for NamedKey
	Null  string   // keep | skip | dead_letter
	Type  event.Type
}

// Agg is one call of an aggregate function inside compute.
type Agg struct {
	Func  string // as it is written: sum, plugin.stats.wmean
	Call  *Call  // of a plugin's combiner, else nil
	Args  []*expr.Expr
	Where *expr.Expr // filter, or nil
	Type  event.Type // of the result
	Pos   expr.Pos
}

// Aggregate is an aggregate block. Compute's expressions read the results of Aggs as OpSlot nodes.
type Aggregate struct {
	Name      string
	Input     Ref
	Key       Key
	Window    windowing.Spec
	Trigger   triggers.Spec
	Panes     string // discarding | accumulating | retracting
	Lateness  event.Duration
	Aggs      []Agg
	Compute   []Assign
	Value     *expr.Expr // of combiner: the whole value; Compute is empty then
	Timestamp string     // end | earliest | latest
	Unchanged string     // emit | suppress
	Late      string     // refine | separate | drop
	LateRead  bool       // something reads aggregate.NAME.late
	Retracted bool       // the input takes rows back: it stems from an aggregate with panes = "retracting"
	Errors    ErrorPolicy
	Type      event.Type
	Pos       expr.Pos
}

// Create says how a missing topic is made.
type Create struct {
	Partitions  int32  // -1: the broker's default
	Replication int16  // -1: the broker's default
	Cleanup     string // delete | compact
}

// KafkaSink is a sink's kafka block.
type KafkaSink struct {
	Broker *Broker // nil: the embedded broker
	Topic  string
	Create *Create // nil: a missing topic is an error
	Pos    expr.Pos
}

// Sink is a sink block. Exactly one of Kafka, File and Stdout is set.
type Sink struct {
	Name    string
	Input   Ref
	Kafka   *KafkaSink
	File    *File
	Stdout  bool
	Key     Key // Form NoKey with KeySet false: the default key of language.md, Results in Kafka
	KeySet  bool
	Value   *expr.Expr // nil: the value as it is
	Headers []Assign
	Encode  string
	Changes string // append | retract | upsert
	Errors  ErrorPolicy
	Pos     expr.Pos
}
