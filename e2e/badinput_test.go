package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kgo"
)

const pluginPipeline = `
pipeline "plugins" {}
source "in" {
  file { path = "in.jsonl" }
  event_time = arrival()
}
plugin "p" {
  path = "p.wasm"
  PIN
}
transform "t" {
  input = source.in
  do    = plugin.p.keep
}
sink "out" {
  input = transform.t
  stdout {}
}
`

// TestBadPlugins: a plugin that cannot be used is refused before anything runs, with the file and what to do.
func TestBadPlugins(t *testing.T) {
	const manifest = `{"abi":1,"name":"p","version":"1","functions":[{"id":0,"name":"keep","kind":"dofn"}]}`
	good := module("", nil, manifest)
	for _, c := range []struct {
		name  string
		file  []byte // nil: none
		pin   string
		parts []string
	}{
		{"absent", nil, "", []string{"there is no such file", "build the plugin, or correct path"}},
		{"another digest", good, strings.Repeat("0", 64), []string{fmt.Sprintf("its sha256 is %x, the pipeline pins 000", sha256.Sum256(good)), "put its digest into the plugin block"}},
		{"not Wasm", []byte("#!/bin/sh\n"), "", []string{"it is not a WebAssembly module"}},
		{"empty", []byte{}, "", []string{"it is not a WebAssembly module"}},
		{"a component", []byte("\x00asm\x0d\x00\x01\x00"), "", []string{"it is a WebAssembly component", "wasm32-wasip1"}},
		{"cut", good[:60], "", []string{"build the plugin again"}},
		{"an export is missing", module("wgate_call", nil, manifest), "", []string{"it lacks the export wgate_call", "build it with a wgate SDK"}},
		{"no manifest", module("", nil, ""), "", []string{"it lacks a manifest", "run wgate plugin pack "}},
		{"a broken manifest", module("", nil, `{"abi":1,`), "", []string{"bad manifest", "run wgate plugin pack "}},
		{"another ABI", module("", nil, strings.Replace(manifest, `"abi":1`, `"abi":9`, 1)), "", []string{"it is for ABI 9, this wgate speaks 1"}},
		{"an import not granted", module("", [][2]string{{"env", "system"}}, manifest), "", []string{"it imports env.system, which was not granted", "remove what needs it"}},
		{"a capability not granted", module("", [][2]string{{"wgate1_http", "fetch"}}, manifest), "", []string{"it imports wgate1_http.fetch: the capability http was not granted"}},
		{"sockets", module("", [][2]string{{"wasi_snapshot_preview1", "sock_accept"}}, manifest), "", []string{"it imports wasi_snapshot_preview1.sock_accept, which was not granted"}},
		{"no such function", module("", nil, strings.Replace(manifest, "keep", "kept", 1)), "", []string{`has no function "keep"`, "kept"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			put := func(name string, b []byte) {
				if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			pin := ""
			if c.pin != "" {
				pin = fmt.Sprintf("sha256 = %q", c.pin)
			}
			put("p.hcl", []byte(strings.Replace(pluginPipeline, "PIN", pin, 1)))
			put("in.jsonl", []byte("{}\n"))
			if c.file != nil {
				put("p.wasm", c.file)
			}
			refused(t, 2, []string{"run", filepath.Join(dir, "p.hcl")}, append(c.parts, `plugin "p"`, "p.wasm")...)
		})
	}
}

const topicPipeline = `
pipeline "topics" {}
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "absent-in"
  }
}
sink "out" {
  input = source.in
  kafka {
    broker = broker.main
    topic  = "absent-out"
  }
}
`

// TestMissingTopics: both are named at once, each with what to do about it.
func TestMissingTopics(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	file := l.file("topics.hcl", topicPipeline)
	refused(t, 1, []string{"run", file, "--data", filepath.Join(l.dir, "data")},
		`source "in": topic "absent-in" does not exist on broker `+l.addr, "create the topic, or correct its name",
		`sink "out": topic "absent-out" does not exist`, "add a create block")
	l.topic("absent-in", 1, nil)
	told := refused(t, 1, []string{"run", file, "--data", filepath.Join(l.dir, "data")}, `sink "out": topic "absent-out" does not exist`)
	if strings.Contains(told, "absent-in") {
		t.Errorf("the topic that is there is named:\n%s", told)
	}
	l.topic("absent-out", 1, nil)
	l.produce(values("absent-in", "1")...)
	p := l.run(file)
	same(t, "after the topics were made", []string{"null 1"}, lines(l.read("absent-out", 1)))
	p.stop(t)
}

// TestUnreachableBroker: nobody listens there. The command gives up, and says where it tried.
func TestUnreachableBroker(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.hcl")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(topicPipeline, "ADDR", freeAddress(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	refused(t, 1, []string{"run", file, "--data", filepath.Join(dir, "data")}, "127.0.0.1:", "connection refused")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v to say so", took)
	}
}

// freeAddress is an address on which nobody listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

// TestBadRecords: what fails goes to the dead letters byte for byte and in order, with its headers and the place where it
// failed; all else goes on, and everything is committed.
func TestBadRecords(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, nil)
	inputs := []struct {
		value    string // "null" is null
		operator string // empty: it is good
		code     string
	}{
		{`{"ts":1000,"user":"ann","amount":1.5}`, "", ""},
		{`{"ts":1001,"user":"ann",`, "source.in", "not_json"},
		{"\xff\xfe", "source.in", "not_json"},
		{``, "source.in", "not_json"},
		{`{"user":"ann","amount":1}`, "source.in", "missing_field"},
		{`{"ts":1002,"amount":2}`, "source.in", "missing_field"},
		{`{"ts":1003,"user":7,"amount":2}`, "source.in", "wrong_type"},
		{`{"ts":1004,"user":"ann","amount":"2"}`, "source.in", "wrong_type"},
		{`{"ts":"1003","user":"ann","amount":2}`, "source.in", ""},
		{`{"ts":1005,  "user":"bob","amount":0}`, "transform.shares", "division_by_zero"},
		{`{"ts":1006,"user":"bob","amount":4}`, "", ""},
	}
	for i, in := range inputs {
		l.produce(&kgo.Record{
			Topic: "in", Key: fmt.Appendf(nil, "k%d", i), Value: []byte(in.value), Timestamp: time.UnixMilli(5000 + int64(i)),
			Headers: []kgo.RecordHeader{{Key: "h", Value: []byte{byte(i)}}, {Key: "h"}},
		})
	}
	p := l.run(l.file("bad.hcl", `
pipeline "bad" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = value.ts
  schema {
    ts     = int
    user   = string
    amount = decimal
  }
}
transform "shares" {
  input = source.in
  value = { user = value.user, share = 6 / value.amount }
}
sink "out" {
  input = transform.shares
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
`))
	same(t, "good records", []string{`k0 {"user":"ann","share":4} h=` + "\x00 h=null", `k10 {"user":"bob","share":1.5} h=` + "\x0a h=null"},
		lines(l.read("out", 2)))
	dead := map[string]*kgo.Record{}
	for _, d := range l.read("wgate.bad.dead_letters", len(inputs)-2) {
		dead[string(d.Key)] = d
	}
	for i, in := range inputs {
		d := dead[fmt.Sprint("k", i)]
		if (d == nil) != (in.operator == "") {
			t.Errorf("record %d: dead letter %v", i, d)
		}
		if d == nil {
			continue
		}
		if !bytes.Equal(d.Value, []byte(in.value)) || d.Value == nil {
			t.Errorf("record %d: the dead letter's value is %q", i, d.Value)
		}
		if len(d.Headers) < 2 || !bytes.Equal(d.Headers[0].Value, []byte{byte(i)}) || d.Headers[1].Value != nil {
			t.Errorf("record %d: headers %v", i, d.Headers)
		}
		if d.Timestamp.UnixMilli() != 5000+int64(i) {
			t.Errorf("record %d: timestamp %v", i, d.Timestamp)
		}
		code := header(d, "wgate-dl-code")
		if in.code == "" {
			in.code = code // any
		}
		same(t, fmt.Sprint("record ", i), []string{"in", "0", fmt.Sprint(i), in.operator, in.code},
			[]string{header(d, "wgate-dl-topic"), header(d, "wgate-dl-partition"), header(d, "wgate-dl-offset"), header(d, "wgate-dl-operator"), code})
		if reason := header(d, "wgate-dl-reason"); reason == "empty" || strings.Contains(reason, "ann") {
			t.Errorf("record %d: reason %q", i, reason)
		}
	}
	until(t, 30*time.Second, "all is committed", func() bool { return l.committed("bad", "in") == int64(len(inputs)) })
	p.stop(t)
}

// TestPortInUse: whoever needs the port says which one it is and with what to choose another.
func TestPortInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	addr := ln.Addr().String()
	dir := t.TempDir()
	file := filepath.Join(dir, "p.hcl")
	if err := os.WriteFile(file, []byte(embeddedPipeline), 0o600); err != nil {
		t.Fatal(err)
	}
	data := func(name string) string { return filepath.Join(dir, name) }
	refused(t, 1, []string{"serve", "--listen", addr, "--data", data("a")}, addr, "in use", "--listen")
	refused(t, 1, []string{"serve", "--listen", "127.0.0.1:0", "--embedded-broker=" + addr, "--data", data("b")}, addr, "in use", "--embedded-broker")
	refused(t, 1, []string{"broker", "--listen", addr, "--data", data("c")}, addr, "in use", "--listen")
	refused(t, 1, []string{"run", file, "--embedded-broker=" + addr, "--data", data("d")}, addr, "in use", "--embedded-broker")
}

const embeddedPipeline = `
pipeline "embedded" { epoch = "20ms" }
source "in" {
  kafka { topic = "in" }
  event_time = arrival()
}
sink "out" {
  input = source.in
  kafka { topic = "out" }
}
`

// TestDataFolder: a folder that is in use or of a newer version is refused, names itself and its user, and whoever has it
// goes on.
func TestDataFolder(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.topic("in", 1, nil)
	l.topic("out", 1, nil)
	file := l.file("p.hcl", `
pipeline "p" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = arrival()
}
sink "out" {
  input = source.in
  kafka {
    broker = broker.main
    topic  = "out"
  }
}
`)
	data := filepath.Join(l.dir, "data")
	p := l.run(file)
	l.produce(values("in", "1")...)
	l.read("out", 1)
	refused(t, 1, []string{"run", file, "--data", data}, data, "in use by process "+fmt.Sprint(p.cmd.Process.Pid), "folder of its own")
	l.produce(values("in", "2")...)
	same(t, "the first goes on", []string{"null 1", "null 2"}, lines(l.read("out", 2)))
	p.stop(t)

	state := filepath.Join(data, "run", "p")
	newer(t, state)
	refused(t, 1, []string{"run", file, "--data", data}, state, "newer version of wgate", "run pipeline p with that version")

	node := filepath.Join(l.dir, "node")
	s := start(t, binary(t, ""), nil, "serve", "--listen", "127.0.0.1:0", "--data", node)
	s.waitFor(t, "node runs")
	refused(t, 1, []string{"serve", "--listen", "127.0.0.1:0", "--data", node}, node, "in use", fmt.Sprint(s.cmd.Process.Pid), "--data")
	s.stop(t)
	if err := os.WriteFile(filepath.Join(node, "format"), []byte("2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, 1, []string{"serve", "--listen", "127.0.0.1:0", "--data", node}, node, "newer wgate", "use that version or another folder")
}

// newer makes a state folder one of a newer version: its description, which is JSON, says another format.
func newer(t *testing.T, dir string) {
	t.Helper()
	db, err := pebble.Open(dir, &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Logger: silent{}})
	if err != nil {
		t.Fatal(err)
	}
	it, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var key, val []byte
	for it.First(); it.Valid(); it.Next() {
		if bytes.Contains(it.Value(), []byte(`{"format":1,`)) {
			key, val = bytes.Clone(it.Key()), bytes.Replace(it.Value(), []byte(`{"format":1,`), []byte(`{"format":99,`), 1)
		}
	}
	if err := it.Close(); err != nil || key == nil {
		t.Fatal("no description in the state folder: ", err)
	}
	if err := db.Set(key, val, pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRunningGoesOn: while a pipeline runs on a node, bad versions of it are brought there. Each is refused, and the one that
// runs goes on, is not even started again, and loses nothing.
func TestRunningGoesOn(t *testing.T) {
	l := newLab(t)
	l.topic("in", 1, nil)
	s := start(t, binary(t, ""), nil, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(l.dir, "node"), "--log-format", "json")
	s.waitFor(t, "node runs")
	node := "http://" + field(t, s.output(), "address")
	const good = `
pipeline "good" { epoch = "20ms" }
broker "main" { addresses = ["ADDR"] }
source "in" {
  kafka {
    broker = broker.main
    topic  = "in"
  }
  event_time = arrival()
}
sink "out" {
  input = source.in
  kafka {
    broker = broker.main
    topic  = "out"
    create { partitions = 1 }
  }
}
`
	deploy := func(path string) []string { return []string{"deploy", path, "--node", node, "--yes"} }
	succeeds(t, deploy(l.file("good.hcl", good))...)
	l.produce(values("in", "1")...)
	want := []string{"null 1"}
	same(t, "results", want, lines(l.read("out", 1)))
	running := func() (since string) {
		t.Helper()
		until(t, 30*time.Second, "revision 1 runs", func() bool {
			var st struct {
				State    string
				Revision int
				Since    json.Number
			}
			if err := json.Unmarshal([]byte(succeeds(t, "status", "good", "--node", node, "--json")), &st); err != nil {
				t.Fatal(err)
			}
			since = st.Since.String()
			return st.State == "running" && st.Revision == 1
		})
		return since
	}
	since := running()

	l.file("no.wasm", "not Wasm")
	for i, c := range []struct {
		name, text string
		code       int
		parts      []string
	}{
		{"not HCL", `pipeline "good" {`, 2, []string{"not HCL.hcl line 1"}},
		{"unknown field", strings.Replace(good, "event_time", "event_tim", 1), 2, []string{`Did you mean "event_time"`}},
		{"parentheses", strings.Repeat("(", 200_000), 2, []string{"Nested too deep"}},
		{"no topic", strings.Replace(good, `"in"
  }`, `"other"
  }`, 1), 1, []string{`topic "other" does not exist`, "create the topic", "revision 1 goes on"}},
		{"no broker", strings.Replace(good, "ADDR", freeAddress(t), 1), 1, []string{"127.0.0.1:"}},
		{"no plugin", strings.Replace(good, "sink", `
plugin "p" { path = "no.wasm" }
transform "t" {
  input = source.in
  do    = plugin.p.keep
}
sink "other" {
  input = transform.t
  stdout {}
}
sink`, 1), 2, []string{"no.wasm", "it is not a WebAssembly module"}},
	} {
		refused(t, c.code, deploy(l.file(c.name+".hcl", c.text)), c.parts...)
		if running() != since {
			t.Errorf("%s: the pipeline was started again", c.name)
		}
		text := fmt.Sprint(i + 2)
		l.produce(values("in", text)...)
		want = append(want, "null "+text)
		same(t, "results after "+c.name, want, lines(l.read("out", len(want))))
	}
	s.stop(t)
}

// field returns the value of a field of the first JSON line that has it.
func field(t testing.TB, text, name string) string {
	t.Helper()
	for line := range strings.Lines(text) {
		m := map[string]any{}
		if json.Unmarshal([]byte(line), &m) == nil && m[name] != nil {
			return fmt.Sprint(m[name])
		}
	}
	t.Fatalf("no field %s in\n%s", name, text)
	return ""
}

// silent is a logger for nobody.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}
