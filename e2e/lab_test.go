package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// lab is a broker with clients, and a folder of pipelines and their state.
type lab struct {
	t    testing.TB
	addr string
	dir  string
	cl   *kgo.Client
	adm  *kadm.Client
}

func newLab(t testing.TB) *lab {
	t.Helper()
	l := &lab{t: t, addr: startBroker(t), dir: t.TempDir()}
	cl, err := kgo.NewClient(kgo.SeedBrokers(l.addr), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchMaxBytes(8<<20), kgo.AllowAutoTopicCreation())
	if err != nil {
		t.Fatal(err)
	}
	l.cl, l.adm = cl, kadm.NewClient(cl)
	t.Cleanup(cl.Close)
	return l
}

func (l *lab) topic(name string, partitions int32, configs map[string]string) {
	l.t.Helper()
	text := map[string]*string{}
	for k, v := range configs { // a map again: order does not matter
		text[k] = &v
	}
	if _, err := l.adm.CreateTopic(context.Background(), partitions, 1, text, name); err != nil {
		l.t.Fatal(err)
	}
}

// produce writes records to partition 0 of their topics, in order.
func (l *lab) produce(recs ...*kgo.Record) {
	l.t.Helper()
	for _, r := range recs {
		if err := l.cl.ProduceSync(context.Background(), r).FirstErr(); err != nil {
			l.t.Fatal(err)
		}
	}
}

// values are records of a topic that have only a value.
func values(topic string, texts ...string) []*kgo.Record {
	var recs []*kgo.Record
	for _, text := range texts {
		recs = append(recs, &kgo.Record{Topic: topic, Value: []byte(text)})
	}
	return recs
}

// read returns the first n committed records of a topic, and waits a little for records that must not come. Fewer come
// back only when the time is up.
func (l *lab) read(topic string, n int) []*kgo.Record {
	l.t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(l.addr), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		l.t.Fatal(err)
	}
	defer cl.Close()
	var recs []*kgo.Record
	deadline, quiet := time.Now().Add(60*time.Second), time.Now()
	for time.Now().Before(deadline) && (len(recs) < n || time.Since(quiet) < 600*time.Millisecond) {
		ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
		fs := cl.PollFetches(ctx)
		stop()
		if fs.NumRecords() > 0 {
			quiet = time.Now()
		}
		recs = append(recs, fs.Records()...)
	}
	return recs
}

// lines are records as text: key, value, and the headers that wgate has not set.
func lines(recs []*kgo.Record) []string {
	var out []string
	for _, r := range recs {
		s := text(r.Key) + " " + text(r.Value)
		for _, h := range r.Headers {
			if !strings.HasPrefix(h.Key, "wgate-") {
				s += " " + h.Key + "=" + text(h.Value)
			}
		}
		out = append(out, s)
	}
	return out
}

// text tells null from empty.
func text(b []byte) string {
	switch {
	case b == nil:
		return "null"
	case len(b) == 0:
		return "empty"
	}
	return string(b)
}

func header(r *kgo.Record, name string) string {
	for _, h := range r.Headers {
		if h.Key == name {
			return text(h.Value)
		}
	}
	return "none"
}

// committed returns the offset that a pipeline's group has committed for partition 0 of a topic, -1 if there is none.
func (l *lab) committed(pipeline, topic string) int64 {
	l.t.Helper()
	offs, err := l.adm.FetchOffsets(context.Background(), "wgate."+pipeline)
	if err != nil {
		l.t.Fatal(err)
	}
	if o, ok := offs.Lookup(topic, 0); ok {
		return o.At
	}
	return -1
}

// file writes a file of the lab's folder and returns its path. ADDR in it stands for the broker's address.
func (l *lab) file(name, text string) string {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "ADDR", l.addr)), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// run runs a pipeline file of the lab in the lab's data folder.
func (l *lab) run(path string, env ...string) *process {
	l.t.Helper()
	env = append(env, "WGATE_PLUGIN_CACHE="+filepath.Join(binaryDir, "plugins"))
	return start(l.t, binary(l.t, ""), env, "run", path, "--data", filepath.Join(l.dir, "data"))
}

// crash runs a pipeline file until it kills itself at a point of its commit.
func (l *lab) crash(path, point string) {
	l.t.Helper()
	p := l.run(path, "WGATE_CRASH="+point)
	select {
	case <-p.done:
	case <-time.After(60 * time.Second):
		l.t.Fatalf("wgate did not come to %s\n%s", point, p.output())
	}
	if p.cmd.ProcessState.ExitCode() != -1 {
		l.t.Fatalf("wgate ended with %v instead of being killed at %s\n%s", p.err, point, p.output())
	}
}

// refused runs a command that must end by itself with an exit code, and its standard error must hold every one of parts.
// It returns the standard error.
func refused(t testing.TB, code int, args []string, parts ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t, ""), args...)
	cmd.Env = append(os.Environ(), "WGATE_PLUGIN_CACHE="+filepath.Join(binaryDir, "plugins"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != code {
		t.Fatalf("wgate %s: %v, want exit code %d\n%s%s", strings.Join(args, " "), err, code, out.String(), errs.String())
	}
	told := errs.String()
	for _, p := range parts {
		if !strings.Contains(told, p) {
			t.Errorf("wgate %s: standard error does not say %q:\n%s", strings.Join(args, " "), p, told)
		}
	}
	for _, p := range []string{"goroutine ", "panic:", "runtime error"} {
		if strings.Contains(told, p) {
			t.Errorf("wgate %s: %q on standard error:\n%s", strings.Join(args, " "), p, told)
		}
	}
	return told
}

// succeeds runs a command that must end well, and returns what it printed.
func succeeds(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary(t, ""), args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("wgate %s: %v\n%s%s", strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}

var (
	echoOnce sync.Once
	echoPath string
	errEcho  error
)

// echo builds and packs the plugin of testdata/echo, once, and returns its path.
func echo(t testing.TB) string {
	t.Helper()
	bin := binary(t, "")
	echoOnce.Do(func() {
		echoPath = filepath.Join(binaryDir, "echo.wasm")
		build := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", echoPath, ".")
		build.Dir = "testdata/echo"
		build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=-mod=mod")
		for _, cmd := range []*exec.Cmd{build, exec.Command(bin, "plugin", "pack", echoPath)} {
			if msg, err := cmd.CombinedOutput(); err != nil {
				errEcho = fmt.Errorf("%v: %w\n%s", cmd.Args, err, msg)
				return
			}
		}
	})
	if errEcho != nil {
		t.Fatal(errEcho)
	}
	return echoPath
}

func sorted(lines []string) []string {
	out := slices.Clone(lines)
	slices.Sort(out)
	return out
}
