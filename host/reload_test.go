package host

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/broker"
	"github.com/wgate/wgate/host/wasm"
)

// versions are modules of one plugin that differ, by what is replaced in them.
type versions struct {
	t     *testing.T
	plain []byte
	made  map[string][]byte
	cache string // of compiled ones
}

// buildVersions builds the plugin of testdata/versions.
func buildVersions(t *testing.T) *versions {
	t.Helper()
	out := filepath.Join(t.TempDir(), "versions.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-ldflags=-s -w", "-o", out, ".")
	cmd.Dir = "testdata/versions"
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off", "GOFLAGS=-mod=mod")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return &versions{t, b, map[string][]byte{}, t.TempDir()}
}

// module is the plugin with some words replaced, packed.
func (v *versions) module(replace ...string) []byte {
	v.t.Helper()
	name := strings.Join(replace, " ")
	if b, ok := v.made[name]; ok {
		return b
	}
	b := v.plain
	for i := 0; i < len(replace); i += 2 {
		if !bytes.Contains(b, []byte(replace[i])) || len(replace[i]) != len(replace[i+1]) {
			v.t.Fatalf("%q cannot be replaced by %q", replace[i], replace[i+1])
		}
		b = bytes.ReplaceAll(b, []byte(replace[i]), []byte(replace[i+1]))
	}
	path := filepath.Join(v.t.TempDir(), "packed.wasm")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		v.t.Fatal(err)
	}
	if err := wasm.Pack(path); err != nil {
		v.t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		v.t.Fatal(err)
	}
	v.made[name] = b
	return b
}

// reloadLab is a node with an embedded broker on which a pipeline runs that stamps records.
type reloadLab struct {
	t    *testing.T
	v    *versions
	dir  string
	addr string
	node *Node
	cl   *kgo.Client
	read *kgo.Client // of what is committed
	seen []stamped
}

// stamped is a record of the output.
type stamped struct {
	ID, Generation int
	By             string
}

func newReloadLab(t *testing.T, v *versions) *reloadLab {
	t.Helper()
	b, err := broker.Start(broker.Options{Topics: []broker.Topic{{Name: "in", Partitions: 1}, {Name: "out", Partitions: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	l := &reloadLab{t: t, v: v, dir: t.TempDir(), addr: b.Addr()}
	if l.cl, err = kgo.NewClient(kgo.SeedBrokers(l.addr), kgo.RecordPartitioner(kgo.ManualPartitioner())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.cl.Close)
	l.read, err = kgo.NewClient(kgo.SeedBrokers(l.addr), kgo.ConsumeTopics("out"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.read.Close)
	l.open()
	t.Cleanup(func() { closeNode(t, l.node) })
	return l
}

func (l *reloadLab) open() {
	l.t.Helper()
	n, err := OpenNode(NodeOptions{
		DataDir: l.dir, Version: "test", Embedded: l.addr, Log: slog.New(slog.DiscardHandler), Job: Options{PluginCache: l.v.cache},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.node = n
	n.StartAll()
}

// put uploads a module.
func (l *reloadLab) put(module []byte) string {
	l.t.Helper()
	sum := sha256.Sum256(module)
	digest := hex.EncodeToString(sum[:])
	if err := l.node.PutModule(digest, bytes.NewReader(module)); err != nil {
		l.t.Fatal(err)
	}
	return digest
}

func stampBundle(digest string, generation int) *admin.Bundle {
	return &admin.Bundle{Modules: map[string]string{"p": digest}, Files: []admin.File{{Name: "main.hcl", Text: fmt.Sprintf(`
pipeline "stamps" { epoch = "30ms" }
source "in" {
  kafka { topic = "in" }
}
plugin "p" {
  path   = "p.wasm"
  config = { generation = %d }
}
transform "t" {
  input = source.in
  do    = plugin.p.stamp_record
}
sink "out" {
  input = transform.t
  kafka { topic = "out" }
}
`, generation)}}}
}

// deploy deploys a generation of the pipeline, which must work.
func (l *reloadLab) deploy(digest string, generation int) *admin.Status {
	l.t.Helper()
	st, err := l.node.Deploy(context.Background(), "stamps", stampBundle(digest, generation), false)
	if err != nil {
		l.t.Fatal(err)
	}
	return st
}

// produce writes the numbers from from to below to.
func (l *reloadLab) produce(from, to int) error {
	var recs []*kgo.Record
	for i := from; i < to; i++ {
		recs = append(recs, &kgo.Record{Topic: "in", Value: fmt.Append(nil, i)})
	}
	return l.cl.ProduceSync(context.Background(), recs...).FirstErr()
}

// await reads until n records have been committed: every number once, in order, by generations that never fall.
func (l *reloadLab) await(n int) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for len(l.seen) < n {
		fs := l.read.PollFetches(ctx)
		if ctx.Err() != nil {
			st, _ := l.node.Status("stamps")
			l.t.Fatalf("%d records came, not %d: %+v", len(l.seen), n, st)
		}
		fs.EachRecord(func(r *kgo.Record) {
			var s stamped
			if err := json.Unmarshal(r.Value, &s); err != nil {
				l.t.Fatalf("%s: %v", r.Value, err)
			}
			l.seen = append(l.seen, s)
		})
	}
	for i, s := range l.seen {
		if s.ID != i {
			l.t.Fatalf("record %d of the output is number %d", i, s.ID)
		}
		if i > 0 && s.Generation < l.seen[i-1].Generation {
			l.t.Fatalf("record %d is of generation %d, the one before of %d", i, s.Generation, l.seen[i-1].Generation)
		}
	}
}

func (l *reloadLab) last() stamped { return l.seen[len(l.seen)-1] }

func (l *reloadLab) status() *admin.Status {
	l.t.Helper()
	return wantState(l.t, l.node, "stamps", admin.Running)
}

// TestReload replaces plugins of running pipelines. Making modules takes most of the time, so that all share them.
func TestReload(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: compiles plugins, which takes minutes under the race detector")
	}
	v := buildVersions(t)
	t.Run("load", func(t *testing.T) { reloadUnderLoad(t, v) })
	t.Run("bad", func(t *testing.T) { reloadBad(t, v) })
	t.Run("idle", func(t *testing.T) { reloadIdle(t, v) })
}

// reloadUnderLoad swaps two versions with new configurations under load. Nothing is lost, doubled or out of order, and
// nothing of what is replaced stays.
func reloadUnderLoad(t *testing.T, v *versions) {
	l := newReloadLab(t, v)
	digests := [2]string{l.put(v.module()), l.put(v.module("version-1", "version-2"))}
	l.deploy(digests[0], 0)
	_, _, _, first := l.node.entries["stamps"].look()

	stop, fed := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		defer func() { fed <- n }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := l.produce(n, n+50); err != nil {
				t.Error(err)
				return
			}
			n += 50
			time.Sleep(2 * time.Millisecond)
		}
	}()
	const rounds = 100
	var goroutines, size int
	for i := 1; i <= rounds; i++ {
		st := l.deploy(digests[i%2], i)
		if st.Plugins[0].Digest != digests[i%2] || st.Revision != i+1 || st.Plugins[0].Trial {
			t.Fatalf("after reload %d: %+v", i, st)
		}
		if i == 10 {
			goroutines, size = footprint()
		}
	}
	g, s := footprint()
	if g > goroutines+5 {
		t.Errorf("%d goroutines after %d reloads, %d after 10", g, rounds, goroutines)
	}
	// An instance that is not closed keeps 64 MiB of addresses, a module that is not its code.
	if s > size+400<<20 {
		t.Errorf("%d MiB of addresses after %d reloads, %d after 10", s>>20, rounds, size>>20)
	}
	close(stop)
	n := <-fed
	l.await(n)
	generations := map[int]bool{}
	for _, s := range l.seen {
		generations[s.Generation] = true
		if want := fmt.Sprint("version-", s.Generation%2+1); s.By != want {
			t.Fatalf("number %d of generation %d is by %s, not %s", s.ID, s.Generation, s.By, want)
		}
	}
	if len(generations) < rounds {
		t.Errorf("records of %d generations, not %d", len(generations), rounds)
	}
	if _, _, _, now := l.node.entries["stamps"].look(); now != first {
		t.Error("the pipeline was started again")
	}
	if n := len(first.job.(*Job).all); n != 1 {
		t.Errorf("%d modules are open", n)
	}
}

// footprint returns the number of goroutines, and the size of the address space where that is known.
func footprint() (goroutines, size int) {
	time.Sleep(200 * time.Millisecond) // what is being closed
	runtime.GC()
	runtime.GC()
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if _, err := fmt.Sscan(string(text), &size); err == nil {
			size *= os.Getpagesize()
		}
	}
	return runtime.NumGoroutine(), size
}

// refused deploys a generation that must not be taken.
func (l *reloadLab) refused(digest string, generation int, words ...string) {
	l.t.Helper()
	before := l.status()
	st, err := l.node.Deploy(context.Background(), "stamps", stampBundle(digest, generation), false)
	if err == nil {
		l.t.Fatalf("it was taken: %+v", st)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			l.t.Errorf("the error does not say %q: %v", w, err)
		}
	}
	if st := l.status(); st.Plugins[0].Digest != before.Plugins[0].Digest || st.Revision != before.Revision || st.Plugins[0].Trial {
		l.t.Errorf("before %+v, after %+v", before, st)
	}
}

// reloadBad offers versions that are no good: the one that works goes on, and nothing of them is seen.
func reloadBad(t *testing.T, v *versions) {
	l := newReloadLab(t, v)
	good := l.put(v.module())
	traps, loops := l.put(v.module("mode-plain", "mode-traps")), l.put(v.module("mode-plain", "mode-loops"))
	l.deploy(good, 1)
	n := 0
	more := func() {
		t.Helper()
		if err := l.produce(n, n+100); err != nil {
			t.Error(err)
		}
		n += 100
	}
	more()
	l.await(n)

	l.refused(l.put([]byte("This is not WebAssembly.")), 2, "not a WebAssembly module", "the one before goes on")
	l.refused(l.put(v.module("stamp_record", "other_record")), 2, `no function "stamp_record"; it has other_record`)
	for digest, words := range map[string][]string{traps: {"guest_trap", "this version is broken"}, loops: {"guest_deadline"}} { // either first
		stop, fed := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(fed)
			for {
				select {
				case <-stop:
					return
				case <-time.After(20 * time.Millisecond):
					more()
				}
			}
		}()
		l.refused(digest, 2, words...)
		close(stop)
		<-fed
		more()
		l.await(n)
		if s := l.last(); s.Generation != 1 {
			t.Fatalf("%+v", s)
		}
	}
	if st := l.status(); st.DeadLetters != 0 {
		t.Errorf("%d dead letters", st.DeadLetters)
	}
	// A later good one is not held against the bad ones.
	l.deploy(good, 3)
	more()
	l.await(n)
	if s := l.last(); s.Generation != 3 {
		t.Errorf("%+v", s)
	}
	st := l.settled(func(st *admin.Status) bool { return !st.Plugins[0].Trial })
	if st.Error != nil {
		t.Errorf("%+v", st)
	}
}

// settled waits until the status is as it must become.
func (l *reloadLab) settled(is func(*admin.Status) bool) *admin.Status {
	l.t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		st := l.status()
		switch {
		case is(st):
			return st
		case time.Now().After(deadline):
			l.t.Fatalf("%+v", st)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// reloadIdle swaps in a version that fails at its first record, which comes long after, and opens the node again.
func reloadIdle(t *testing.T, v *versions) {
	l := newReloadLab(t, v)
	good, second, traps := l.put(v.module()), l.put(v.module("version-1", "version-2")), l.put(v.module("mode-plain", "mode-traps"))
	l.deploy(good, 1)
	st, err := l.node.Reload(context.Background(), "stamps", "p", traps)
	if err != nil || !st.Plugins[0].Trial || st.Plugins[0].Digest != traps || st.Revision != 2 {
		t.Fatalf("%+v, %v", st, err)
	}
	if err := l.produce(0, 100); err != nil {
		t.Fatal(err)
	}
	l.await(100)
	if s := l.last(); s.By != "version-1" {
		t.Errorf("%+v", s)
	}
	st = l.settled(func(st *admin.Status) bool { return st.Revision == 3 })
	if st.Plugins[0].Digest != good || st.Error == nil || !strings.Contains(st.Error.Text, "this version is broken") {
		t.Errorf("%+v", st)
	}
	// The same again is nothing to do; another one, with records, stays over a restart.
	if st, err = l.node.Reload(context.Background(), "stamps", "p", good); err != nil || st.Revision != 3 {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := l.node.Reload(context.Background(), "stamps", "absent", good); err == nil || !strings.Contains(err.Error(), "it has p") {
		t.Errorf("a plugin that is not there: %v", err)
	}
	if st, err = l.node.Reload(context.Background(), "stamps", "p", second); err != nil || st.Plugins[0].Digest != second {
		t.Fatalf("%+v, %v", st, err)
	}
	closeNode(t, l.node)
	l.open()
	if err := l.produce(100, 200); err != nil {
		t.Fatal(err)
	}
	l.await(200)
	if s := l.last(); s.By != "version-2" {
		t.Errorf("after a restart: %+v", s)
	}
	if _, err := l.node.Stop(context.Background(), "stamps"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.node.Reload(context.Background(), "stamps", "p", good); err == nil || !strings.Contains(err.Error(), "stopped") {
		t.Errorf("reload of a stopped pipeline: %v", err)
	}
	if _, err := l.node.Start(context.Background(), "stamps"); err != nil {
		t.Fatal(err)
	}
}
