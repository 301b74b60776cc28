package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

var (
	binaries   sync.Map // build tags -> path
	binaryDir  string
	binaryOnce sync.Mutex
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "wgate-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binaryDir = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// binary builds cmd/wgate, once per set of build tags, and returns its path.
func binary(t testing.TB, tags string) string {
	t.Helper()
	binaryOnce.Lock()
	defer binaryOnce.Unlock()
	if p, ok := binaries.Load(tags); ok {
		return p.(string)
	}
	out := filepath.Join(binaryDir, "wgate-"+strings.ReplaceAll(tags, ",", "-"))
	cmd := exec.Command("go", "build", "-tags", tags, "-o", out, "github.com/wgate/wgate/cmd/wgate")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, msg)
	}
	binaries.Store(tags, out)
	return out
}

// process is a running wgate. Its output is kept for messages.
type process struct {
	cmd  *exec.Cmd
	mu   sync.Mutex
	out  bytes.Buffer
	done chan struct{}
	err  error
}

// start runs the binary. Extra environment is given as "NAME=value".
func start(t testing.TB, bin string, env []string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(bin, args...), done: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(p.kill)
	return p
}

// Write keeps what the process prints.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.out.Len() > 1<<20 {
		p.out.Reset()
	}
	return p.out.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// kill is kill -9: the process gets no chance to say anything.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop asks the process to end in good order and waits for it.
func (p *process) stop(t testing.TB) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		if p.err != nil {
			t.Errorf("%s ended with %v after SIGTERM\n%s", p.cmd.Args[1], p.err, p.output())
		}
	case <-time.After(60 * time.Second):
		t.Errorf("%s did not end within a minute of SIGTERM\n%s", p.cmd.Args[1], p.output())
		p.kill()
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// waitFor waits until the process has printed text.
func (p *process) waitFor(t testing.TB, text string) {
	t.Helper()
	until(t, 60*time.Second, "output "+text, func() bool {
		if strings.Contains(p.output(), text) {
			return true
		}
		if p.ended() {
			t.Fatalf("%v ended (%v) before it printed %q:\n%s", p.cmd.Args[1:], p.err, text, p.output())
		}
		return false
	})
}

// until waits for cond, which must come true within limit: a bound for liveness, not a speed.
func until(t testing.TB, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("gave up after %v: %s", limit, what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// startBroker runs the embedded broker as a process of its own and returns its address.
func startBroker(t testing.TB) string {
	t.Helper()
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary(t, ""), "broker", "--data", t.TempDir(), "--listen", "127.0.0.1:0")
	cmd.Stdout = pw
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = pw.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(pr).ReadString('\n')
	if err != nil {
		t.Fatalf("the broker printed no address: %v", err)
	}
	go func() { _, _ = io.Copy(io.Discard, pr) }()
	i := strings.Index(line, "127.0.0.1:")
	if i < 0 {
		t.Fatalf("no address in %q", line)
	}
	return strings.TrimRight(strings.Fields(line[i:])[0], ",.;")
}
