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

// score processes one event, such as {"user":"u17","team":"red","points":7,"ts":1767225600000,"kind":"goal"}. It allocates
// nothing: the slices are parts of the value.
func score(e *wgate.Element, out *wgate.Emitter) {
	var user, team []byte // as JSON text
	var points, ts int64
	var ping, double bool
	s, whole := e.Scan(), true
	for s.Next() {
		ok := true
		switch string(s.Name()) {
		case "user":
			user = s.Raw()
		case "team":
			team = s.Raw()
		case "kind":
			kind, _ := s.Text() // good until Next only: it may hold escapes
			ping, double = string(kind) == "ping", string(kind) == "bonus"
		case "points":
			points, ok = s.Int()
		case "ts":
			ts, ok = s.Int()
		}
		whole = whole && ok
	}
	switch {
	case s.Err() != nil:
		out.Fail("bad_json", s.Err().Error())
	case ping:
		// Not kept and nothing emitted: the event is dropped.
	case !whole:
		out.Fail("bad_number", "points and ts must be whole numbers")
	case points < 0:
		out.Fail("negative_points", "points must not be negative")
	default:
		if double {
			points *= bonus
		}
		o := out.Object()
		o.Raw("team", team).Int("points", points).Raw("user", user).Int("ts", ts)
		o.Emit()
	}
}
