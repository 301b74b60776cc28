package crash

import "os"

// kill ends the process so that nothing of it runs any more: no deferred call, no flush.
func kill() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Kill() // there is nobody left to tell if it fails: the caller waits for ever, and a test times out
	}
}
