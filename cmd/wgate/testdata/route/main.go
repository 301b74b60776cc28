// Command route is a plugin for scripts: it sends events to side outputs and changes their keys, times and headers.
package main

import (
	wgate "github.com/wgate/wgate/plugins/sdk-go"
)

// The side outputs, in the order of Tags.
const (
	small wgate.Tag = iota + 1
	large
	copies
)

func init() {
	wgate.Plugin("route", "1.0.0")
	wgate.DoFn("route", route, wgate.Tags("small", "large", "copies"))
}

func main() {}

// route reads {"t":...,"v":...}: v below 10 is small, from 100 on large, and both go to copies under another key, an hour
// later and with headers; what is in between passes. Negative v fails, after it was sent.
func route(e *wgate.Element, out *wgate.Emitter) {
	var t, v int64
	s := e.Scan()
	for s.Next() {
		switch string(s.Name()) {
		case "t":
			t, _ = s.Int()
		case "v":
			v, _ = s.Int()
		}
	}
	switch {
	case v < 0:
		out.EmitSame().To(small)
		out.Keep()
		out.Fail("negative", "v is below 0")
		return
	case v < 10:
		out.EmitSame().To(small)
	case v >= 100:
		o := out.Object()
		o.Int("t", t).Int("hundreds", v/100)
		o.Emit().To(large).Time(t + 1)
	default:
		out.Keep()
		return
	}
	out.EmitSame().To(copies).Key([]byte("copy")).Time(t+3_600_000).Header("from", []byte("route")).Header("none", nil)
}
