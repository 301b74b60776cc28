package plan

import (
	"fmt"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/windowing"
	"github.com/wgate/wgate/windowing/gbkw"
)

var modes = map[string]gbkw.Mode{"discarding": gbkw.Discarding, "accumulating": gbkw.Accumulating, "retracting": gbkw.Retracting}

var stamps = map[string]gbkw.Timestamp{"end": gbkw.End, "earliest": gbkw.Earliest, "latest": gbkw.Latest}

// Grouping returns what the machine of an aggregate is made of, but for its functions and the place of its state.
func Grouping(a *config.Aggregate) gbkw.Config {
	return gbkw.Config{
		Window: a.Window, Trigger: a.Trigger, Lateness: a.Lateness, Mode: modes[a.Panes], Timestamp: stamps[a.Timestamp],
		Suppress: a.Unchanged == "suppress", Separate: a.Late == "separate", Retracted: a.Retracted,
	}
}

// stateDetail says how an aggregate keeps its windows.
func stateDetail(a *config.Aggregate) string {
	w := a.Window
	switch {
	case gbkw.SharesSlices(Grouping(a)):
		return "state: windows share slices, an element touches one"
	case w.Kind == windowing.Sliding && w.Period > 0 && w.Size > w.Period:
		return fmt.Sprintf("state: one state per window, an element touches %d", (w.Size-1)/w.Period+1)
	}
	return "state: one state per window"
}
