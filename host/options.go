package host

import (
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/statestore/pebblestore"
)

// Options say where a job runs. The zero value keeps the state in memory, knows no embedded broker and logs nothing.
type Options struct {
	StateDir     string // folder of this pipeline's state; empty: in memory, gone with the job
	Embedded     string // address of the embedded broker, for kafka blocks without a broker; empty: there is none
	CreateTopics bool   // make topics that are missing, as `wgate dev` does
	PluginCache  string // folder of compiled plugins; empty: a folder of the user's cache
	Cache        *pebblestore.Cache
	Stdout       io.Writer    // of stdout sinks; nil: os.Stdout
	Log          *slog.Logger // nil: nothing is logged
	Clock        engine.Clock // nil: the machine's
	OnReady      func()       // called when recovery is through and records are read
}

func (o Options) withDefaults() Options {
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = wallClock{time.Now()}
	}
	return o
}

// wallClock is the machine's clock as it was when the job began, and from then on its monotonic clock: somebody who sets
// the clock neither fires nor holds up a timer.
type wallClock struct{ start time.Time }

func (c wallClock) Now() event.Time { return event.TimeOf(c.start.Add(time.Since(c.start))) }
