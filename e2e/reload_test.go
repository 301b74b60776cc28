package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// stamper builds the plugin of host/testdata/versions as the version that name says, "version-1" or another of that length.
func stamper(t *testing.T, plain []byte, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name+".wasm")
	if err := os.WriteFile(path, bytes.ReplaceAll(plain, []byte("version-1"), []byte(name)), 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(binary(t, ""), "plugin", "pack", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	return path
}

func plainStamper(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plain.wasm")
	build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", path, ".")
	build.Dir = "../host/testdata/versions"
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=-mod=mod")
	if msg, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// serve starts a node on the lab's data folder and returns it with its address.
func (l *lab) serve(env ...string) (*process, string) {
	l.t.Helper()
	env = append(env, "WGATE_PLUGIN_CACHE="+filepath.Join(binaryDir, "plugins"))
	p := start(l.t, binary(l.t, ""), env, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(l.dir, "node"))
	p.waitFor(l.t, "node runs")
	address := regexp.MustCompile(`address=(127\.0\.0\.1:\d+)`).FindStringSubmatch(p.output())
	if address == nil {
		l.t.Fatal(p.output())
	}
	return p, address[1]
}

// wgate runs a command and returns what it printed.
func (l *lab) wgate(args ...string) (string, error) {
	l.t.Helper()
	cmd := exec.Command(binary(l.t, ""), args...)
	cmd.Env = append(os.Environ(), "WGATE_PLUGIN_CACHE="+filepath.Join(binaryDir, "plugins"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestReload_kill kills the node at the points that a reload passes. Every record comes once, and the version that a
// restart begins with is the new one if, and only if, that was written down.
func TestReload_kill(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: needs a minute")
	}
	plain := plainStamper(t)
	one, two := stamper(t, plain, "version-1"), stamper(t, plain, "version-2")
	for _, c := range []struct{ point, after string }{
		{"reload_swapped", "version-1"}, {"reload_committed", "version-1"}, {"reload_recorded", "version-2"},
	} {
		t.Run(c.point, func(t *testing.T) {
			l := newLab(t)
			l.topic("in", 1, nil)
			l.topic("out", 1, nil)
			file := l.file("stamps.hcl", `
pipeline "stamps" { epoch = "40ms" }
broker "b" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.b
    topic  = "in"
  }
}
plugin "p" { path = "`+one+`" }
transform "t" {
  input = source.in
  do    = plugin.p.stamp_record
}
sink "out" {
  input = transform.t
  kafka {
    broker = broker.b
    topic  = "out"
  }
}
`)
			node, address := l.serve("WGATE_CRASH=" + c.point)
			if out, err := l.wgate("deploy", "--yes", "--node", address, file); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			n := 0
			put := func(count int) {
				var recs []*kgo.Record
				for range count {
					recs = append(recs, &kgo.Record{Topic: "in", Value: []byte(strconv.Itoa(n))})
					n++
				}
				l.produce(recs...)
			}
			put(30)
			stop, fed := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(fed)
				for {
					select {
					case <-stop:
						return
					case <-time.After(10 * time.Millisecond):
						put(1)
					}
				}
			}()
			out, err := l.wgate("reload", "stamps", "p", "--path", two, "--node", address)
			if err == nil {
				t.Fatalf("it was taken by a node that was to die: %s", out)
			}
			<-node.done
			close(stop)
			<-fed
			node, address = l.serve()
			before := n
			l.read("out", before)
			put(20)
			recs := l.read("out", n)
			if len(recs) != n {
				t.Fatalf("%d records came of %d", len(recs), n)
			}
			for i, r := range recs {
				var s struct {
					ID int
					By string
				}
				if err := json.Unmarshal(r.Value, &s); err != nil {
					t.Fatal(err)
				}
				if s.ID != i {
					t.Errorf("record %d is number %d", i, s.ID)
				}
				if i >= before && s.By != c.after {
					t.Errorf("record %d, after the restart, is by %s, not %s", i, s.By, c.after)
				}
			}
			if out, err := l.wgate("reload", "stamps", "p", "--path", two, "--node", address); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			node.stop(t)
		})
	}
}
