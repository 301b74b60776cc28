// Command versions is a plugin for tests of reloads. It is built once; a test makes versions of it by replacing words in
// the file: "version-1" by another, "mode-plain" by "mode-traps" or "mode-loops", "stamp_record" by another name.
package main

import (
	"strconv"

	wgate "github.com/wgate/wgate/plugins/sdk-go"
)

var (
	version    = "version-1"
	mode       = "mode-plain"
	generation int64
)

func init() {
	wgate.Plugin("versions", "1.0.0")
	wgate.OnOpen(func(c *wgate.Config) error {
		generation = c.Int("generation", 0)
		return nil
	})
	wgate.DoFn("stamp_record", stamp, wgate.Pure())
}

func main() {}

// stamp says who has seen the record.
func stamp(e *wgate.Element, out *wgate.Emitter) {
	switch mode[5:] {
	case "traps":
		panic("this version is broken")
	case "loops":
		for i := 0; ; i++ {
			generation += int64(i)
		}
	}
	b := append([]byte(nil), `{"id":`...)
	b = append(b, e.Value()...)
	b = strconv.AppendInt(append(b, `,"generation":`...), generation, 10)
	b = append(b, `,"by":"`+version+`"}`...)
	out.Emit(b)
}
