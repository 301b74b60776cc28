package crash

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// Env is the environment variable that arms a point.
const Env = "WGATE_CRASH"

// Points lists the names of all points of the commit, in the order in which an epoch passes them.
var Points = []string{
	"outputs_sent", "flushed", "pending_write", "pending_synced", "offsets_staged", "end_sent", "end_answered",
	"applying", "applied",
}

var (
	armed string
	left  atomic.Int64
)

func init() {
	name, n, err := parse(os.Getenv(Env))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	armed = name
	left.Store(n)
}

// parse reads the value of the environment variable.
func parse(s string) (name string, n int64, err error) {
	name, count, ok := strings.Cut(s, ":")
	if !ok {
		return name, 1, nil
	}
	if n, err = strconv.ParseInt(count, 10, 32); err != nil || n < 1 || name == "" {
		return "", 0, fmt.Errorf(`crash: %s=%q: want "point" or "point:n" with n from 1`, Env, s)
	}
	return name, n, nil
}

// Point kills the process with SIGKILL if it is the armed point and has been hit often enough. It may be called from any
// goroutine.
func Point(name string) {
	if armed == "" || armed != name || left.Add(-1) != 0 {
		return
	}
	fmt.Fprintf(os.Stderr, "crash: killed at %s\n", name)
	kill()
	select {}
}
