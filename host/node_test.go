package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/kafka"
	"github.com/wgate/wgate/host/plan"
)

// fakeJob runs until it is told to stop, or as its world says.
type fakeJob struct {
	world *world
	plan  *plan.Plan
	stats *engine.Stats
	opts  Options
}

func (j *fakeJob) Plan() *plan.Plan        { return j.plan }
func (j *fakeJob) Stats() *engine.Stats    { return j.stats }
func (j *fakeJob) Plugins() []PluginStatus { return nil }

func (j *fakeJob) Reload(context.Context, []*config.Plugin, func(error)) (bool, error) {
	return false, errNotRunning
}

func (j *fakeJob) Run(ctx context.Context) error {
	j.world.log("start " + j.plan.Pipeline.Epoch.String())
	fate := j.world.fate(j.plan.Pipeline)
	if fate.never {
		<-ctx.Done()
		return ctx.Err()
	}
	if fate.unready != nil {
		return fate.unready
	}
	j.opts.OnReady()
	if fate.panics {
		panic("a bug")
	}
	if fate.dies != nil {
		return fate.dies
	}
	<-ctx.Done()
	time.Sleep(fate.commit)
	j.world.log("stop " + j.plan.Pipeline.Epoch.String())
	return nil
}

// fate is what becomes of a job.
type fate struct {
	refused, unready, dies error
	kept                   error // why its offsets cannot be deleted
	never, panics          bool
	commit                 time.Duration // of the last epoch
}

// world makes fake jobs and remembers what they did. Jobs are told apart by the epoch of their pipeline.
type world struct {
	mu    sync.Mutex
	fates map[string]fate // by epoch
	lines []string
}

func (w *world) fate(p *config.Pipeline) fate {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fates[p.Epoch.String()]
}

func (w *world) doom(epoch string, f fate) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fates[epoch] = f
}

func (w *world) log(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

func (w *world) did() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}

func (w *world) newJob(p *config.Pipeline, o Options) (Runner, error) {
	if f := w.fate(p); f.refused != nil {
		return nil, f.refused
	}
	pl, err := plan.Build(p)
	if err != nil {
		return nil, err
	}
	return &fakeJob{world: w, plan: pl, stats: engine.NewStats(pl), opts: o}, nil
}

func newWorld() *world { return &world{fates: map[string]fate{}} }

func openNode(t *testing.T, dir string, w *world) *Node {
	t.Helper()
	n, err := OpenNode(NodeOptions{
		DataDir: dir, Version: "test", Log: slog.New(slog.DiscardHandler), NewJob: w.newJob,
		Forget: func(_ context.Context, p *config.Pipeline, b *config.Broker, _ string) error {
			w.log("forget " + p.Epoch.String() + " on " + b.Addresses[0])
			return w.fate(p).kept
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func closeNode(t *testing.T, n *Node) {
	t.Helper()
	if err := n.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// bundleOf is a pipeline that copies a topic; extra is put into its broker block.
func bundleOf(name, epoch, extra string) *admin.Bundle {
	return &admin.Bundle{Files: []admin.File{{Name: "main.hcl", Text: fmt.Sprintf(`
pipeline %q { epoch = %q }
broker "b" {
  addresses = ["127.0.0.1:9092"]
  %s
}
source "in" {
  kafka {
    broker = broker.b
    topic  = "in"
  }
}
sink "out" {
  input = source.in
  kafka {
    broker = broker.b
    topic  = "out"
  }
}
`, name, epoch, extra)}}}
}

func deploy(t *testing.T, n *Node, name, epoch string) *admin.Status {
	t.Helper()
	st, err := n.Deploy(t.Context(), name, bundleOf(name, epoch, ""), false)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func wantState(t *testing.T, n *Node, name string, want admin.State) *admin.Status {
	t.Helper()
	st, err := n.Status(name)
	if err != nil {
		t.Fatal(err)
	}
	if st.State != want {
		t.Errorf("%s is %s (%v), want %s", name, st.State, st.Error, want)
	}
	return st
}

func wantDid(t *testing.T, w *world, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, w.did()); d != "" {
		t.Errorf("jobs (-want +got):\n%s", d)
	}
}

// TestNode_restart deploys, stops one of two pipelines, and opens the folder again.
func TestNode_restart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, w := t.TempDir(), newWorld()
		n := openNode(t, dir, w)
		for _, name := range []string{"b", "a"} {
			if st := deploy(t, n, name, "1s"); st.State != admin.Running || st.Revision != 1 {
				t.Errorf("deployed: %+v", st)
			}
		}
		if _, err := n.Stop(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		wantState(t, n, "b", admin.Stopped)
		closeNode(t, n)

		n = openNode(t, dir, w)
		n.StartAll()
		synctest.Wait()
		wantState(t, n, "a", admin.Running)
		wantState(t, n, "b", admin.Stopped)
		if l := n.List(); len(l) != 2 || l[0].Name != "a" || l[1].Name != "b" {
			t.Errorf("list: %+v", l)
		}
		if _, err := n.Start(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		wantState(t, n, "b", admin.Running)
		closeNode(t, n)
		wantDid(t, w, "start 1s", "start 1s", "stop 1s", "stop 1s", "start 1s", "start 1s", "stop 1s", "stop 1s")
	})
}

func TestNode_redeploy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := openNode(t, t.TempDir(), w)
		defer closeNode(t, n)
		deploy(t, n, "p", "1s")
		// The same again changes nothing.
		if st := deploy(t, n, "p", "1s"); st.Revision != 1 {
			t.Errorf("revision %d", st.Revision)
		}
		wantDid(t, w, "start 1s")
		// What is refused before it starts leaves the old one alone.
		w.doom("2s", fate{refused: &commit.Stop{Code: "WG-1", Cause: "a plugin is bad", Next: "mend it"}})
		_, err := n.Deploy(t.Context(), "p", bundleOf("p", "2s", ""), false)
		var f *admin.Failure
		if !errors.As(err, &f) || f.Code != "WG-1" || f.Next != "mend it" || f.Text != "WG-1: a plugin is bad" {
			t.Errorf("refused: %+v", f)
		}
		wantDid(t, w, "start 1s")
		wantState(t, n, "p", admin.Running)
		// What fails before it is ready is taken back.
		w.doom("3s", fate{unready: &commit.Stop{Code: kafka.CodeNoTopic, Cause: "no topic", Next: "make it"}})
		_, err = n.Deploy(t.Context(), "p", bundleOf("p", "3s", ""), false)
		if !errors.As(err, &f) || f.Code != kafka.CodeNoTopic || !strings.Contains(f.Text, "revision 1, which ran before, runs again") {
			t.Errorf("taken back: %v", err)
		}
		synctest.Wait()
		st := wantState(t, n, "p", admin.Running)
		if st.Revision != 1 || st.Error == nil || st.Error.Code != kafka.CodeNoTopic {
			t.Errorf("status: %+v", st.Summary)
		}
		wantDid(t, w, "start 1s", "stop 1s", "start 3s", "start 1s")
		// With reset the state goes, and so does the way back.
		w.doom("1s", fate{})
		if st, err := n.Deploy(t.Context(), "p", bundleOf("p", "1s", ""), true); err != nil || st.State != admin.Running || st.Error != nil {
			t.Errorf("reset: %+v, %v", st, err)
		}
		if did := w.did(); did[len(did)-2] != "forget 1s on 127.0.0.1:9092" {
			t.Errorf("reset: %v", did)
		}
		// And a good one replaces it.
		if st := deploy(t, n, "p", "4s"); st.State != admin.Running || st.Error != nil || st.Revision != 3 {
			t.Errorf("status: %+v", st.Summary)
		}
	})
}

func TestNode_failure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, w := t.TempDir(), newWorld()
		n := openNode(t, dir, w)
		w.doom("2s", fate{dies: &commit.Stop{Code: "WG-2", Cause: "offsets moved", Next: "do this"}})
		w.doom("3s", fate{unready: errors.New("cannot open")})
		w.doom("4s", fate{panics: true})
		deploy(t, n, "good", "1s")
		deploy(t, n, "dies", "2s")
		if _, err := n.Deploy(t.Context(), "unready", bundleOf("unready", "3s", ""), false); err == nil {
			t.Error("no error")
		}
		deploy(t, n, "panics", "4s")
		synctest.Wait()
		wantState(t, n, "good", admin.Running)
		for name, want := range map[string]admin.Failure{ // order does not matter
			"dies":    {Text: "WG-2: offsets moved", Code: "WG-2", Next: "do this"},
			"unready": {Text: "cannot open", Next: "mend the cause, then: wgate start unready"},
			"panics":  {Text: "internal error: a bug", Next: "this is a bug of wgate: report it with the log"},
		} {
			st := wantState(t, n, name, admin.Failed)
			if st.Error == nil || st.Error.Text != want.Text || st.Error.Code != want.Code || st.Error.Next != want.Next {
				t.Errorf("%s: %+v, want %+v", name, st.Error, want)
			}
		}
		// It starts again when the cause is mended, and it is tried again when the node restarts.
		w.doom("2s", fate{})
		if st, err := n.Start(t.Context(), "dies"); err != nil || st.State != admin.Running {
			t.Errorf("%+v, %v", st, err)
		}
		closeNode(t, n)
		w.doom("3s", fate{})
		n = openNode(t, dir, w)
		n.StartAll()
		synctest.Wait()
		wantState(t, n, "unready", admin.Running)
		closeNode(t, n)
	})
}

// TestNode_brokerGone lets a pipeline lose its broker for a while.
func TestNode_brokerGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, w := t.TempDir(), newWorld()
		n := openNode(t, dir, w)
		gone := &commit.Stop{Code: commit.CodeBroker, Cause: "nothing answers"}
		w.doom("1s", fate{dies: gone})
		deploy(t, n, "p", "1s")
		synctest.Wait()
		w.doom("1s", fate{unready: gone})
		time.Sleep(15 * time.Second)
		if st := wantState(t, n, "p", admin.Failed); !strings.Contains(st.Error.Next, "tries again") {
			t.Errorf("status: %+v", st.Error)
		}
		w.doom("1s", fate{})
		time.Sleep(time.Minute)
		wantState(t, n, "p", admin.Running)
		closeNode(t, n)
		// The broker is still on its way when the node starts again.
		w.doom("1s", fate{unready: gone})
		n = openNode(t, dir, w)
		n.StartAll()
		time.Sleep(time.Minute)
		wantState(t, n, "p", admin.Failed)
		// Who stops it has the last word.
		if _, err := n.Stop(t.Context(), "p"); err != nil {
			t.Fatal(err)
		}
		w.doom("1s", fate{})
		time.Sleep(time.Minute)
		wantState(t, n, "p", admin.Stopped)
		closeNode(t, n)
	})
}

// TestNode_slowStart deploys what does not become ready, and changes its mind.
func TestNode_slowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := openNode(t, t.TempDir(), w)
		defer closeNode(t, n)
		w.doom("1s", fate{never: true})
		if st := deploy(t, n, "p", "1s"); st.State != admin.Starting {
			t.Errorf("state %s", st.State)
		}
		if st, err := n.Stop(t.Context(), "p"); err != nil || st.State != admin.Stopped {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

func TestNode_slowStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		n := openNode(t, t.TempDir(), w)
		w.doom("1s", fate{commit: time.Hour})
		deploy(t, n, "p", "1s")
		if _, err := n.Stop(t.Context(), "p"); !errors.Is(err, admin.ErrConflict) {
			t.Errorf("got %v", err)
		}
		wantState(t, n, "p", admin.Stopping)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := n.Close(ctx); err == nil || !strings.Contains(err.Error(), "[p]") {
			t.Errorf("got %v", err)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestNode_delete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, w := t.TempDir(), newWorld()
		n := openNode(t, dir, w)
		defer closeNode(t, n)
		for _, state := range []bool{false, true} {
			deploy(t, n, "p", "1s")
			kept := filepath.Join(dir, "state", "p", "x")
			if err := errors.Join(os.MkdirAll(filepath.Dir(kept), 0o700), os.WriteFile(kept, []byte("x"), 0o600)); err != nil {
				t.Fatal(err)
			}
			if err := n.Delete(t.Context(), "p", state); err != nil {
				t.Fatal(err)
			}
			if _, err := n.Status("p"); !errors.Is(err, admin.ErrNotFound) {
				t.Errorf("status: %v", err)
			}
			if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) != state {
				t.Errorf("with state %v: %v", state, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "pipelines", "p")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("deployment: %v", err)
			}
		}
		wantDid(t, w, "start 1s", "stop 1s", "start 1s", "stop 1s", "forget 1s on 127.0.0.1:9092")
		// When the broker does not answer the pipeline stays, stopped.
		deploy(t, n, "q", "2s")
		w.doom("2s", fate{kept: errors.New("no broker answers")})
		if err := n.Delete(t.Context(), "q", true); err == nil || !strings.Contains(err.Error(), "no broker answers") {
			t.Errorf("got %v", err)
		}
		wantState(t, n, "q", admin.Stopped)
		if err := n.Delete(t.Context(), "p", false); !errors.Is(err, admin.ErrNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

// TestNode_secrets looks for a secret and a variable in everything that a node answers and logs.
func TestNode_secrets(t *testing.T) {
	const secret, variable = "s3cr3t-value", "v4riable-value"
	t.Setenv("WGATE_TEST_PASSWORD", secret)
	w := newWorld()
	var log strings.Builder
	n, err := OpenNode(NodeOptions{DataDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(&log, nil)), NewJob: w.newJob})
	if err != nil {
		t.Fatal(err)
	}
	b := bundleOf("p", "1s", "sasl {\n mechanism = \"plain\"\n user = env(\"WGATE_TEST_PASSWORD\")\n password = env(\"WGATE_TEST_PASSWORD\")\n }")
	b.Files[0].Text += "\nvariable \"v\" { default = \"x\" }\n"
	b.Vars = map[string]string{"v": variable}
	ch, err := n.Compare(t.Context(), "p", b)
	if err != nil {
		t.Fatal(err)
	}
	st, err := n.Deploy(t.Context(), "p", b, false)
	if err != nil {
		t.Fatal(err)
	}
	var answers strings.Builder
	if err := n.Logs(t.Context(), "p", 1000, false, func(l admin.LogLine) error {
		return json.NewEncoder(&answers).Encode(l)
	}); err != nil {
		t.Fatal(err)
	}
	closeNode(t, n)
	text, err := json.Marshal([]any{ch, st, n.List()})
	if err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]string{"answer": string(text), "log of the pipeline": answers.String(), "log": log.String()} {
		if s == "" || strings.Contains(s, secret) || strings.Contains(s, variable) {
			t.Errorf("%s: %s", what, s)
		}
	}
}

func TestNode_refusals(t *testing.T) {
	w := newWorld()
	n := openNode(t, t.TempDir(), w)
	defer closeNode(t, n)
	plugin := func(pin string) *admin.Bundle {
		b := bundleOf("p", "1s", "")
		b.Files[0].Text += "\nplugin \"x\" {\n path = \"x.wasm\"\n" + pin + "}\n"
		return b
	}
	module := []byte("module")
	sum := sha256.Sum256(module)
	digest := hex.EncodeToString(sum[:])
	with := func(b *admin.Bundle, digest string) *admin.Bundle {
		b.Modules = map[string]string{"x": digest}
		return b
	}
	file := bundleOf("p", "1s", "")
	file.Files[0].Text = "pipeline \"p\" {}\nsource \"in\" {\n file { path = \"/etc/passwd\" }\n event_time = arrival()\n}\nsink \"out\" {\n input = source.in\n stdout {}\n}\n"
	for _, tc := range []struct {
		what string
		b    *admin.Bundle
		want string
	}{
		{"another name", bundleOf("q", "1s", ""), `pipeline "q", not "p"`},
		{"broken", &admin.Bundle{Files: []admin.File{{Name: "a.hcl", Text: "pipeline {"}}}, "not valid"},
		{"no module named", plugin(""), "names no module"},
		{"module not there", with(plugin(""), digest), "upload it first"},
		{"pin", with(plugin("sha256 = \""+strings.Repeat("0", 64)+"\"\n"), digest), "wants module 000"},
		{"file", file, "--files"},
		{"secret in a file", bundleOf("p", "1s", "sasl {\n mechanism = \"plain\"\n user = file(\"/etc/passwd\")\n password = file(\"/etc/passwd\")\n }"), "not valid"},
		{"key in a file", bundleOf("p", "1s", "tls { ca = \"/etc/passwd\" }"), "--files"},
	} {
		if _, err := n.Deploy(t.Context(), "p", tc.b, false); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.what, err)
		}
	}
	wantDid(t, w)
	if len(n.List()) > 0 {
		t.Error("something is deployed")
	}
	if err := n.PutModule(digest, strings.NewReader("another")); !errors.Is(err, admin.ErrInvalid) {
		t.Errorf("wrong digest: %v", err)
	}
	if has, err := n.HasModule(digest); has || err != nil {
		t.Errorf("after a wrong digest: %v, %v", has, err)
	}
	if err := n.PutModule(digest, strings.NewReader("module")); err != nil {
		t.Error(err)
	}
	if _, err := n.Deploy(t.Context(), "p", with(plugin(""), digest), false); err != nil {
		t.Errorf("with its module: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(n.opts.DataDir, "modules", ".new*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func TestNode_files(t *testing.T) {
	dir := t.TempDir()
	n := &Node{opts: NodeOptions{Files: dir}}
	for path, want := range map[string]string{ // order does not matter
		"in.jsonl": filepath.Join(dir, "in.jsonl"), filepath.Join(dir, "a", "b"): filepath.Join(dir, "a", "b"),
		"../x": "", "a/../../x": "", "/etc/passwd": "", dir + "x/y": "",
	} {
		got, err := n.local(path)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

func TestNode_folder(t *testing.T) {
	dir := t.TempDir()
	n := openNode(t, dir, newWorld())
	if _, err := OpenNode(NodeOptions{DataDir: dir, Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second node: %v", err)
	}
	closeNode(t, n)
	closeNode(t, openNode(t, dir, newWorld()))
	for text, want := range map[string]string{"2\n": "newer", "x": "damaged", "": "damaged"} { // each is a case of its own
		if err := os.WriteFile(filepath.Join(dir, "format"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenNode(NodeOptions{DataDir: dir, Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("format %q: %v", text, err)
		}
	}
}

func TestNode_compare(t *testing.T) {
	w := newWorld()
	n := openNode(t, t.TempDir(), w)
	defer closeNode(t, n)
	b := bundleOf("p", "1s", "")
	ch, err := n.Compare(t.Context(), "p", b)
	if err != nil || ch.Action != "create" || len(ch.Added) != 2 {
		t.Errorf("%+v, %v", ch, err)
	}
	deploy(t, n, "p", "1s")
	if ch, err = n.Compare(t.Context(), "p", b); err != nil || ch.Action != "none" {
		t.Errorf("%+v, %v", ch, err)
	}
	next := bundleOf("p", "1s", "")
	next.Files[0].Text = strings.Replace(next.Files[0].Text, `"out"`, `"other"`, 1)
	if ch, err = n.Compare(t.Context(), "p", next); err != nil || ch.Action != "update" {
		t.Fatalf("%+v, %v", ch, err)
	}
	if d := cmp.Diff([][]string{{"sink.other"}, {}, {"sink.out"}}, [][]string{ch.Added, ch.Changed, ch.Removed}); d != "" {
		t.Errorf("added, changed, removed (-want +got):\n%s", d)
	}
}
