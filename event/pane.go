package event

// Timing says where a pane stands to the watermark's passing of its window's end.
type Timing uint8

// The timings of a pane.
const (
	Early Timing = iota
	OnTime
	Late
)

var timings = [...]string{"early", "on_time", "late"}

// String returns "early", "on_time" or "late".
func (t Timing) String() string { return timings[t] }

// Pane says which firing of its key and window a result belongs to.
type Pane struct {
	Index  uint32 // counts the panes sent for one key and window, from 0
	Timing Timing
	First  bool
	Last   bool   // sent when the window closed
	Cause  uint16 // which node of the trigger's tree fired, in the order in which it prints; 0 is the root
}

// Op says whether a row adds a datum or takes an earlier one back.
type Op uint8

// The ops of a row.
const (
	Insert Op = iota
	Retract
)

// String returns "insert" or "retract".
func (o Op) String() string {
	if o == Retract {
		return "retract"
	}
	return "insert"
}
