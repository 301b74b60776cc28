package gbkw

import (
	"errors"
	"fmt"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/triggers"
	"github.com/wgate/wgate/windowing"
)

// Mode says how the panes of one window relate to each other (section 2.3 of the paper).
type Mode uint8

// The modes.
const (
	Accumulating Mode = iota // a pane holds all of the window
	Discarding               // a pane holds what came since the last one
	Retracting               // as Accumulating, and what was sent before is taken back first
)

// Timestamp says what the event time of a result is.
type Timestamp uint8

// The choices of a result's event time. Earliest and Latest look at the elements that were not behind the watermark when
// they came; if there are none, they are as End.
const (
	End      Timestamp = iota // the window's last millisecond
	Earliest                  // of the pane's first element
	Latest                    // of the pane's last element
)

// Config says what a Machine does.
type Config struct {
	Task, Op  uint16 // whose rows of the state these are
	Window    windowing.Spec
	Trigger   triggers.Spec
	Lateness  event.Duration // allowed lateness, 0 or more
	Mode      Mode
	Timestamp Timestamp
	Suppress  bool // unchanged = "suppress"
	Separate  bool // late = "separate"
	Retracted bool // rows may be taken back: Ops of the input may be Retract; see CanRetract
	Funcs     []combine.Func
}

// errConfig is wrapped by what check returns.
var errConfig = errors.New("gbkw: the aggregate cannot run")

func (c *Config) check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", errConfig, fmt.Sprintf(format, args...))
	}
	if bad := c.Window.Validate(); len(bad) > 0 {
		return fail("window %s: %s", c.Window, bad[0].Summary)
	}
	if bad := c.Trigger.Validate(); len(bad) > 0 {
		return fail("trigger %s: %s", c.Trigger, bad[0].Summary)
	}
	if c.Window.Kind == windowing.Cumulative && c.Timestamp != End {
		return fail("the results of a cumulative window bear the time of the step's end; timestamp must be end")
	}
	if c.Lateness < 0 {
		return fail("allowed_lateness is negative")
	}
	if len(c.Funcs) > maxFuncs {
		return fail("%d aggregate functions; the limit is %d", len(c.Funcs), maxFuncs)
	}
	if ok, why := CanRetract(*c); c.Retracted && !ok {
		return fail("its input takes rows back, and %s", why)
	}
	if c.Separate {
		return c.checkSeparate(fail)
	}
	return nil
}

// checkSeparate: panes of late rows are sent one window size after the first of them, so there has to be a size, and
// nothing else may fire after the end.
func (c *Config) checkSeparate(fail func(string, ...any) error) error {
	switch c.Window.Kind {
	case windowing.Fixed, windowing.Sliding, windowing.Cumulative:
	default:
		return fail(`late = "separate" needs a window with a size, not %s`, c.Window)
	}
	t := c.Trigger
	if t.Equal(triggers.Default()) || t.Kind == triggers.AfterWatermark && len(t.Late) == 0 {
		return nil
	}
	return fail(`late = "separate" needs the trigger %s, or after_watermark with early alone, not %s`, triggers.Default(), t)
}

// separate returns the trigger that does what late = "separate" says.
func (c *Config) separate() triggers.Spec {
	t := triggers.Spec{Kind: triggers.AfterWatermark}
	if c.Trigger.Kind == triggers.AfterWatermark {
		t.Early = c.Trigger.Early
	}
	t.Late = []triggers.Spec{{Kind: triggers.AfterDelay, Delay: c.Window.Size}}
	return t
}

const maxFuncs = 1 << 10
