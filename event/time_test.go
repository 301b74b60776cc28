package event

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTimeAddSaturates(t *testing.T) {
	for _, c := range []struct {
		t    Time
		d    Duration
		want Time
	}{
		{5, -7, -2}, {MaxTime, -1, MaxTime}, {MinTime, 1, MinTime}, {MaxTime - 1, 5, MaxTime}, {MinTime + 1, -5, MinTime}, {MaxTime - 5, 5, MaxTime},
	} {
		if got := c.t.Add(c.d); got != c.want {
			t.Errorf("%d + %d = %d, want %d", c.t, c.d, got, c.want)
		}
	}
	if MinTime.IsFinite() || MaxTime.IsFinite() || !Time(0).IsFinite() {
		t.Error("finite times")
	}
}

func TestTimeText(t *testing.T) {
	for at, want := range map[Time]string{
		MinTime: "-inf", MaxTime: "+inf", 0: "1970-01-01T00:00:00.000Z", -1: "1969-12-31T23:59:59.999Z", 1700000000123: "2023-11-14T22:13:20.123Z",
	} {
		if got := at.String(); got != want {
			t.Errorf("%d is written as %s, want %s", int64(at), got, want)
		}
	}
	if got := TimeOf(time.Unix(0, -1)); got != -1 {
		t.Errorf("a nanosecond before 1970 is %d: times are rounded down", got)
	}
	if d := Time(7).Sub(9); d != -2 {
		t.Errorf("7 - 9 = %v", d)
	}
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]Duration{
		"1.5h": 5400000, "90s": 90000, "1d": Day, "250ms": 250, "0s": 0, "-5s": -5000, "1h30m": 90 * Minute, "0.1s": 100, "0.001s": 1, "1.5d": 36 * Hour,
	} {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("%q = %d, %v; want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "-", "0", "600", "5 m", "5x", "s", ".5s", "5.s", "1.2.3s", "0.0001s", "1e3s", "99999999999999d", "5m-1s", "+5s", "5M"} {
		if got, err := ParseDuration(s); err == nil {
			t.Errorf("%q was read as %v", s, got)
		}
	}
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "d"))
		if got, err := ParseDuration(d.String()); err != nil || got != d {
			t.Fatalf("%d is written as %q, which is %d, %v", d, d.String(), got, err)
		}
	})
	if got := (90 * Minute).String(); got != "1h30m" {
		t.Errorf("90 minutes: %s", got)
	}
	if got := (3 * Second).Std(); got != 3*time.Second {
		t.Errorf("3 seconds: %v", got)
	}
}

func TestWindow(t *testing.T) {
	w := Window{10, 20}
	if !w.Contains(10) || w.Contains(20) || w.Contains(9) || !w.Contains(w.Last()) || w.Last() != 19 {
		t.Error("a window is half open")
	}
	if !Global.IsGlobal() || Global.Last() != MaxTime || Global.String() != "global" || w.IsGlobal() {
		t.Error("the global window")
	}
	if !(Window{5, 20}).Less(Window{0, 21}) || !(Window{0, 20}).Less(Window{1, 20}) || w.Less(w) {
		t.Error("windows are ordered by end, then start")
	}
}
