package wasm

import (
	"encoding/json"
	"log/slog"

	"github.com/wgate/wgate/event"
)

// The guards: how a plugin is kept from running for ever.
const (
	Metered = "metered" // the code is rewritten so that it gives way every few thousand steps and can be stopped
	Trusted = "trusted" // the code runs as it is: an endless loop in it freezes the process
)

// Options are the terms under which a plugin file is loaded. The zero value of a limit means its default.
type Options struct {
	Name    string         // the plugin block's label, for messages
	SHA256  string         // the digest that the file must have, in hex; empty: any
	Guard   string         // Metered (default) or Trusted
	Memory  int64          // bytes, default 64 MiB
	Time    event.Duration // for one call, default 1 s; Trusted code cannot be held to it
	Output  int64          // bytes of one call's output, default 16 MiB
	Config  []byte         // JSON, empty for none
	Granted []string       // capabilities

	// Log takes lines that the plugin writes, Metric its counters and gauges. Either may be nil. They are called by the
	// goroutines that run instances, several at a time.
	Log    func(level slog.Level, text string)
	Metric func(name string, gauge bool, v int64)
}

const (
	pageBytes     = 64 << 10
	defaultMemory = 64 << 20
	defaultOutput = 16 << 20
	maxOutput     = 1 << 30
	maxMemory     = 4 << 30
)

// complete fills in the defaults and checks the rest.
func (o *Options) complete() error {
	if o.Guard == "" {
		o.Guard = Metered
	}
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	if o.Time == 0 {
		o.Time = event.Second
	}
	if o.Output == 0 {
		o.Output = defaultOutput
	}
	switch {
	case o.Guard != Metered && o.Guard != Trusted:
		return o.refuse("", "guard "+o.Guard+" is not known", "write metered or trusted")
	case o.Memory < pageBytes || o.Memory > maxMemory:
		return o.refuse("", "the limit of memory must be from 64 KiB to 4 GiB", "change limits.memory")
	case o.Time < 0:
		return o.refuse("", "the limit of time is negative", "change limits.time")
	case o.Output < 0 || o.Output > maxOutput:
		return o.refuse("", "the limit of output must be at most 1 GiB", "change limits.output")
	case len(o.Config) > 0 && !json.Valid(o.Config):
		return o.refuse("", "its config is not JSON", "change config")
	}
	return nil
}

func (o *Options) pages() uint32 { return uint32(o.Memory / pageBytes) }
