package gbkw

import (
	"strings"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/windowing"
)

// CanRetract reports whether a machine of cfg can take rows back that its input takes back (Config.Retracted), and if not
// why, and what to do. Nothing but the accumulators is kept of an element, so that all functions must be able to forget
// one.
//
// A row that is taken back is something new for the trigger, as a row that comes is. A key whose rows in a window were all
// taken back has no more panes there: with retracting panes what was sent is taken back; with accumulating panes one last
// pane says so, if there was one before it.
func CanRetract(cfg Config) (ok bool, why string) {
	for _, fn := range cfg.Funcs {
		if !fn.Uncombine(nil, &combine.Batch{}) {
			return false, fn.Name() + " cannot forget one of its rows, and the rows themselves are not kept: use one of " +
				strings.Join(combine.InvertibleNames(), ", ") + ", or other panes in the input"
		}
	}
	switch {
	case cfg.Mode == Discarding:
		return false, `what is new since the last pane can be less than nothing: use panes = "accumulating" or "retracting"`
	case cfg.Window.Kind.Merging():
		return false, "a window that has merged does not split: use windows that do not merge, or other panes in the input"
	case cfg.Window.Kind == windowing.Cumulative:
		return false, "a cumulative window cannot do that in this version: use another window, or other panes in the input"
	case cfg.Separate:
		return false, `a late pane would have to take back rows of the on-time pane: leave out late = "separate"`
	}
	return true, ""
}
