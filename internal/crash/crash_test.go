package crash

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		name string
		n    int64
		ok   bool
	}{{"", "", 1, true}, {"applied", "applied", 1, true}, {"applied:3", "applied", 3, true}, {"applied:0", "", 0, false}, {"applied:x", "", 0, false}, {":3", "", 0, false}} {
		name, n, err := parse(c.in)
		if name != c.name || n != c.n || (err == nil) != c.ok {
			t.Errorf("parse(%q) = %q, %d, %v", c.in, name, n, err)
		}
	}
}

// TestMain is the killed process when it is started with CRASH_TEST set: it passes the point "here" three times.
func TestMain(m *testing.M) {
	if os.Getenv("CRASH_TEST") == "" {
		os.Exit(m.Run())
	}
	for range 3 {
		Point("there")
		os.Stdout.WriteString("pass ")
		Point("here")
	}
	os.Stdout.WriteString("end")
	os.Exit(0)
}

func TestPoint(t *testing.T) {
	for arm, want := range map[string]string{"": "pass pass pass end", "here:2": "pass pass ", "there": "", "here:4": "pass pass pass end"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "CRASH_TEST=1", Env+"="+arm)
		out, err := cmd.Output()
		killed := err != nil
		if string(out) != want || killed == strings.HasSuffix(want, "end") {
			t.Errorf("armed %q: output %q, error %v; want %q", arm, out, err, want)
		}
	}
}
