// Command scores is a wgate plugin with one function, score: it reads the events of a game, drops pings, multiplies the
// points of bonus events, and refuses negative points.
package main

import (
	wgate "github.com/wgate/wgate/plugins/sdk-go"
)

// bonus is what points of kind "bonus" are multiplied by; it comes from the configuration.
var bonus int64

func init() {
	wgate.Plugin("scores", "1.0.0")
	wgate.OnOpen(func(c *wgate.Config) error {
		bonus = c.Int("bonus", 2)
		return nil
	})
	wgate.DoFn("score", score, wgate.Pure())
}

func main() {}

// event is what score reads of {"user":"u17","team":"red","points":7,"ts":1767225600000,"kind":"goal"}. The slices are
// parts of the value.
type event struct {
	user, team, kind []byte // team and user as JSON text
	points, ts       int64
	whole            bool // points and ts are ints
}

// score processes one event. It allocates nothing.
func score(e *wgate.Element, out *wgate.Emitter) {
	s := wgate.Scan(e.Value())
	ev := event{whole: true}
	for s.Next() {
		ok := true
		switch string(s.Name()) {
		case "user":
			ev.user = s.Raw()
		case "team":
			ev.team = s.Raw()
		case "kind":
			ev.kind, _ = s.Text()
		case "points":
			ev.points, ok = s.Int()
		case "ts":
			ev.ts, ok = s.Int()
		}
		ev.whole = ev.whole && ok
	}
	switch {
	case s.Err() != nil:
		out.Fail("bad_json", s.Err().Error())
	case string(ev.kind) == "ping":
		// Not kept and nothing emitted: the event is dropped.
	case !ev.whole:
		out.Fail("bad_number", "points and ts must be whole numbers")
	case ev.points < 0:
		out.Fail("negative_points", "points must not be negative")
	default:
		if string(ev.kind) == "bonus" {
			ev.points *= bonus
		}
		o := out.Object()
		o.Raw("team", ev.team).Int("points", ev.points).Raw("user", ev.user).Int("ts", ev.ts)
		o.Emit()
	}
}
