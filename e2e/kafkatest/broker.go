package kafkatest

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Options is what a broker is started with.
type Options struct {
	Secure bool              // listeners with TLS and SASL, too
	Dir    string            // of data and log; empty: a temporary one
	Port   int               // 0: a free one
	Config map[string]string // more lines for server.properties
}

// The user of a secure broker.
const (
	User     = "wgate"
	Password = "secret"
)

// Broker is a running Apache Kafka node.
type Broker struct {
	Addr          string // plaintext
	SASLTLS       string // the other listeners, of a secure broker
	TLS           string
	SASLPlaintext string
	CA            string // PEM file to trust

	t   testing.TB
	opt Options
	dir string // of the scripts
}

// Required reports whether the optional part name ("java") must not be missing: the variable WGATE_REQUIRE lists such
// parts, separated by commas, or says "all".
func Required(name string) bool {
	required := strings.Split(os.Getenv("WGATE_REQUIRE"), ",")
	return slices.Contains(required, name) || slices.Contains(required, "all")
}

// Start starts a broker that ends with the test. Without Java, or in a short run, it skips the test, unless Java is
// required.
func Start(t testing.TB, o Options) *Broker {
	t.Helper()
	if !Required("java") {
		if testing.Short() {
			t.Skip("skipped: starts Apache Kafka, which a short run does not")
		}
		for _, tool := range []string{"java", "mvn", "bash"} {
			if _, err := exec.LookPath(tool); err != nil {
				t.Skip("skipped: needs Java (" + tool + " is not there)")
			}
		}
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Port == 0 {
		o.Port = freePorts(t)
	}
	b := &Broker{t: t, opt: o, dir: scripts(t), CA: filepath.Join(o.Dir, "ca.pem")}
	at := func(i int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port+i)) }
	b.Addr, b.SASLTLS, b.TLS, b.SASLPlaintext = at(0), at(2), at(3), at(4)
	t.Cleanup(b.Stop)
	b.Restart()
	return b
}

// Restart starts the broker again on its data, after Stop or Kill.
func (b *Broker) Restart() {
	b.t.Helper()
	cmd := b.script("start-kafka.sh", b.opt.Dir, strconv.Itoa(b.opt.Port))
	var conf strings.Builder
	for k, v := range b.opt.Config {
		fmt.Fprintf(&conf, "%s=%s\n", k, v)
	}
	cmd.Env = append(os.Environ(), "KAFKA_CONF="+conf.String(), "KAFKA_TIER=1", "KAFKA_USER="+User, "KAFKA_PASSWORD="+Password)
	if b.opt.Secure {
		cmd.Env = append(cmd.Env, "KAFKA_SECURE=1")
	}
	b.run(cmd)
}

// Stop ends the broker in good order. It may be called when none runs.
func (b *Broker) Stop() {
	b.t.Helper()
	b.run(b.script("stop-kafka.sh", b.opt.Dir))
}

// Kill ends the broker at once, as kill -9 does.
func (b *Broker) Kill() {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.opt.Dir, "pid"))
	if err != nil {
		b.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	for range 100 { // until its port is free
		conn, err := net.DialTimeout("tcp", b.Addr, time.Second)
		if err != nil {
			return
		}
		_ = conn.Close()
		time.Sleep(50 * time.Millisecond)
	}
	b.t.Fatal("the broker was killed and still answers")
}

// LostMarkers reports whether the broker has left out the end of transactions that it had said to be committed. Kafka does
// so, up to 4.4 at least, when it stops or starts while a transaction ends: for the moment its partitions have no leader,
// and the transaction coordinator takes them for deleted. With one node there is no other leader, so what was committed
// there may be gone for readers, and nothing that a client does helps.
func (b *Broker) LostMarkers() bool {
	b.t.Helper()
	for _, name := range []string{"broker.log", "earlier.log"} {
		text, err := os.ReadFile(filepath.Join(b.opt.Dir, name))
		if err != nil && !os.IsNotExist(err) {
			b.t.Fatal(err)
		}
		if bytes.Contains(text, []byte("Couldn't find leader endpoint for partitions")) {
			return true
		}
	}
	return false
}

// Forget makes LostMarkers forget what happened up to now.
func (b *Broker) Forget() {
	b.t.Helper()
	for _, name := range []string{"broker.log", "earlier.log"} {
		if err := os.Truncate(filepath.Join(b.opt.Dir, name), 0); err != nil && !os.IsNotExist(err) {
			b.t.Fatal(err)
		}
	}
}

func (b *Broker) script(name string, args ...string) *exec.Cmd {
	return exec.Command(filepath.Join(b.dir, name), args...)
}

// run runs a script. Its output goes to files and not to pipes: the broker inherits them and would keep them open.
func (b *Broker) run(cmd *exec.Cmd) {
	b.t.Helper()
	out, err := os.CreateTemp(b.t.TempDir(), "script")
	if err != nil {
		b.t.Fatal(err)
	}
	defer out.Close() //nolint:errcheck // only read below
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		b.t.Fatalf("%s: %v\n%s", filepath.Base(cmd.Path), err, bytes.TrimSpace(text))
	}
}

// scripts returns the folder of the scripts: e2e/kafka under the module that the test belongs to.
func scripts(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		at := filepath.Join(dir, "e2e", "kafka")
		if _, err := os.Stat(filepath.Join(at, "start-kafka.sh")); err == nil {
			return at
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("e2e/kafka/start-kafka.sh is in no folder above the test's")
		}
		dir = up
	}
}

// freePorts returns the first of five ports in a row that nobody listens on. They lie below those that the system gives to
// outgoing connections: such a one must not take a port while the broker is away.
func freePorts(t testing.TB) int {
	t.Helper()
	for base := 10000 + os.Getpid()%1000*20; base < 32000; base += 5 {
		free := true
		for p := base; p < base+5 && free; p++ {
			ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p)))
			if free = err == nil; free {
				_ = ln.Close()
			}
		}
		if free {
			return base
		}
	}
	t.Fatal("no five free ports in a row")
	return 0
}
