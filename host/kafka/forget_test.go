package kafka

import (
	"errors"
	"testing"

	"github.com/wgate/wgate/host/commit"
)

// TestForget commits, ends, and deletes the group: the next session finds no offsets.
func TestForget(t *testing.T) {
	bubble(t, func(e *env) {
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		s := e.ready(e.options())
		e.drain(s)
		if _, err := e.epoch(s, "token"); err != nil {
			t.Fatal(err)
		}
		other := e.options()
		other.Instance = ""
		var stop *commit.Stop
		if err := Forget(e.ctx, other); !errors.As(err, &stop) || stop.Code != commit.CodeSecond {
			t.Errorf("while it runs: %v", err)
		}
		s.Close()
		for range 2 { // a group that is not there is no error
			if err := Forget(e.ctx, e.options()); err != nil {
				t.Fatal(err)
			}
		}
		if offs := e.recover(e.open(e.options())); len(offs) > 0 {
			t.Errorf("offsets are left: %v", offs)
		}
	})
}
