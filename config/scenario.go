package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

// Scenario is a test of a pipeline's behaviour in time: a script of what arrives and of what must come of it.
type Scenario struct {
	Name      string
	Pos       expr.Pos
	Start     event.Time // where the clock begins: the scenario's date, 00:00 UTC
	Leftover  bool       // leftover = "ignore": rows that no step expects are no failure
	Generated bool       // watermarks = "pipeline": the sources make their watermarks themselves
	Error     string     // the pipeline is to be refused with a diagnostic that has this text; empty: it is to run
	Steps     []Step

	configs []*topBlock // what is changed in the pipeline
	diags   hcl.Diagnostics
}

// Problems returns what is wrong with the script itself. One that has an error cannot be run.
func (s *Scenario) Problems() hcl.Diagnostics { return s.diags }

// StepKind says what a step of a scenario does.
type StepKind uint8

// The kinds of steps.
const (
	Arrive     StepKind = iota // records arrive at source Name
	Mark                       // the watermark of source Name moves to At
	Idle                       // partitions of source Name are idle
	MoveClock                  // processing time moves to At
	Expect                     // collection Name gave Rows
	ExpectNone                 // collection Name gave nothing
	Commit                     // the epoch ends
	Restart                    // the task stops in good order and starts again
	Crash                      // what is not committed is lost, and the task starts again
	Finish                     // every source ends
)

// Step is one step of a script.
type Step struct {
	Kind      StepKind
	Block     string // as written: event "events"
	Name      string // of the source or collection; empty where there is none
	Pos       expr.Pos
	At        event.Time
	Partition int32 // Mark, Idle: AllPartitions, or one
	Records   []Arrival
	Rows      []ExpectedRow
}

// AllPartitions stands for all partitions of a source.
const AllPartitions int32 = -1

// Arrival is a record that arrives.
type Arrival struct {
	Pos       expr.Pos
	Time      *event.Time // its timestamp, which is also its event time; nil: the clock, and the source's event_time counts
	Partition int32
	Key       []byte // nil: null
	Value     []byte // as JSON; nil: null
	Raw       []byte // instead of Value: the bytes to decode
	Headers   []ArrivalHeader
}

// ArrivalHeader is a header of an Arrival; a nil Value is null.
type ArrivalHeader struct {
	Name  string
	Value []byte
}

// ExpectedRow is a row that a collection is to give. What is nil is not compared.
type ExpectedRow struct {
	Pos     expr.Pos
	Key     []byte // as JSON
	Value   []byte // as JSON
	Window  *event.Window
	Time    *event.Time
	Pane    *ExpectedPane
	Retract *bool
}

// ExpectedPane is what is expected of a row's pane. What is nil is not compared.
type ExpectedPane struct {
	Index  *int64
	Timing *string // early | on_time | late
	First  *bool
	Last   *bool
}

// Tests is a file of scenarios, with the pipeline that they are about.
type Tests struct {
	Path      string
	Scenarios []*Scenario

	opts   Options
	bodies []*hclsyntax.Body
	files  []Text
	texts  map[string][]byte
}

// Pipeline returns the pipeline of a scenario, with what the scenario changes in it. It is nil if any diagnostic is an
// error: of the pipeline, or of a step that names what the pipeline has not.
func (t *Tests) Pipeline(s *Scenario) (*Pipeline, hcl.Diagnostics) {
	ld := newLoader(t.opts)
	for name, src := range t.texts { // order does not matter: a map is copied
		ld.texts[name] = src
	}
	ld.bodies, ld.p.files, ld.scenario = t.bodies, t.files, s
	return ld.finish()
}
