package admin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var digestA = strings.Repeat("ab", 32)

// concrete fills the wildcards of a route.
func concrete(path string) string {
	return strings.NewReplacer("{name}", "scores", "{digest}", digestA).Replace(path)
}

func send(t *testing.T, method, url, kind string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestServer_badNames(t *testing.T) {
	f, srv, _ := newFake(t)
	for _, name := range []string{
		"..%2f..%2fetc", "..", "%2e%2e", ".hidden", "a%2fb", "a b", "a%00b", "-x", "1x", strings.Repeat("a", 65), "caf%C3%A9", "x;y", "a%5cb",
	} {
		for _, rt := range routes {
			if !strings.Contains(rt.path, "{name}") {
				continue
			}
			code, text := send(t, rt.method, srv.URL+strings.ReplaceAll(rt.path, "{name}", name), "application/json", strings.NewReader("{}"))
			if code < 300 || code >= 500 {
				t.Errorf("%s %s with name %s: %d %s", rt.method, rt.path, name, code, text)
			}
		}
	}
	for _, digest := range []string{"..%2f..%2fx", strings.Repeat("AB", 32), strings.Repeat("ab", 31), strings.Repeat("zz", 32), digestA + "00"} {
		for _, method := range []string{"HEAD", "PUT"} {
			if code, text := send(t, method, srv.URL+"/v1/modules/"+digest, "", strings.NewReader("x")); code < 400 || code >= 500 {
				t.Errorf("%s module %s: %d %s", method, digest, code, text)
			}
		}
	}
	if f.deployed != nil || f.deleted != "" || len(f.modules) > 0 {
		t.Errorf("the node was asked: %+v", f)
	}
}

func TestServer_badBundles(t *testing.T) {
	f, srv, _ := newFake(t)
	many, err := json.Marshal(Bundle{Files: make([]File, maxFiles+1)})
	if err != nil {
		t.Fatal(err)
	}
	file := func(name string) string {
		text, _ := json.Marshal(Bundle{Files: []File{{Name: name}}})
		return string(text)
	}
	for _, tc := range []struct {
		name, kind, body string
		code             int
	}{
		{"not said to be JSON", "text/plain", file("a.hcl"), 415},
		{"as a form", "application/x-www-form-urlencoded", file("a.hcl"), 415},
		{"no JSON", "application/json", "SECRET", 400},
		{"a field that is not known", "application/json", `{"files":[],"path":"/etc/passwd"}`, 400},
		{"something behind it", "application/json", file("a.hcl") + "{}", 400},
		{"empty", "application/json", "{}", 422},
		{"many files", "application/json", string(many), 422},
		{"a path upwards", "application/json", file("../a.hcl"), 422},
		{"a path upwards inside", "application/json", file("a/../../b.hcl"), 422},
		{"not clean", "application/json", file("a//b.hcl"), 422},
		{"absolute", "application/json", file("/etc/a.hcl"), 422},
		{"a drive", "application/json", file("C:a.hcl"), 422},
		{"a backslash", "application/json", file(`..\a.hcl`), 422},
		{"a control character", "application/json", file("a\x00.hcl"), 422},
		{"long", "application/json", file(strings.Repeat("a", 300) + ".hcl"), 422},
		{"another kind of file", "application/json", file("a.txt"), 422},
		{"twice", "application/json", `{"files":[{"name":"a.hcl"},{"name":"a.hcl"}]}`, 422},
		{"a plugin's name", "application/json", `{"files":[{"name":"a.hcl"}],"modules":{"../x":"` + digestA + `"}}`, 422},
		{"a digest", "application/json", `{"files":[{"name":"a.hcl"}],"modules":{"x":"../../x"}}`, 422},
		{"too large", "application/json", `{"files":[{"name":"a.hcl","text":"` + strings.Repeat("x", MaxBundleBytes) + `"}]}`, 413},
	} {
		for _, to := range []string{"PUT /v1/pipelines/scores", "POST /v1/pipelines/scores/plan"} {
			method, path, _ := strings.Cut(to, " ")
			code, text := send(t, method, srv.URL+path, tc.kind, strings.NewReader(tc.body))
			if code != tc.code || !strings.Contains(text, `"error"`) {
				t.Errorf("%s to %s: %d %.200s, want %d", tc.name, to, code, text, tc.code)
			}
			if strings.Contains(text, "SECRET") {
				t.Errorf("%s: the answer repeats the body: %s", tc.name, text)
			}
		}
	}
	if f.deployed != nil {
		t.Error("the node was asked to deploy")
	}
}

func TestServer_moduleCap(t *testing.T) {
	f, srv, _ := newFake(t)
	req, err := http.NewRequest("PUT", srv.URL+"/v1/modules/"+digestA, io.LimitReader(zeros{}, MaxModuleBytes+1))
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = MaxModuleBytes + 1
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Skipf("the connection was cut before the answer could be read: %v", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge || len(f.modules) > 0 {
		t.Errorf("%s, %d modules", resp.Status, len(f.modules))
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestClient goes through the API with its own client.
func TestClient(t *testing.T) {
	f, srv, c := newFake(t)
	ctx := t.Context()
	if a, err := c.About(ctx); err != nil || a.Pipelines != 1 {
		t.Errorf("about: %+v, %v", a, err)
	}
	if l, err := c.List(ctx); err != nil || len(l) != 1 || l[0].Name != "scores" {
		t.Errorf("list: %+v, %v", l, err)
	}
	b := &Bundle{Files: []File{{"a/b.hcl", "x"}}, Vars: map[string]string{"k": "v"}, Modules: map[string]string{"p": digestA}}
	if _, err := c.Deploy(ctx, "scores", b, true); err != nil {
		t.Error(err)
	}
	if !f.reset {
		t.Error("not reset")
	}
	if d := cmp.Diff(b, f.deployed); d != "" {
		t.Errorf("deployed (-sent +got):\n%s", d)
	}
	if ch, err := c.Compare(ctx, "scores", b); err != nil || ch.Action != "create" {
		t.Errorf("plan: %+v, %v", ch, err)
	}
	if st, err := c.Reload(ctx, "scores", "p", digestA); err != nil || st.Name != "scores" || f.reloaded != "p "+digestA {
		t.Errorf("reload: %+v, %v; the node was asked for %q", st, err, f.reloaded)
	}
	if _, err := c.Reload(ctx, "scores", "p", "ABC"); err == nil {
		t.Error("reload by what is no digest")
	}
	for want, move := range map[State]func(context.Context, string) (*Status, error){Stopped: c.Stop, Running: c.Start} { // each sets its state
		if st, err := move(ctx, "scores"); err != nil || st.State != want {
			t.Errorf("%+v, %v; want %s", st, err, want)
		}
	}
	module := []byte("a module")
	sum := sha256.Sum256(module)
	digest := hex.EncodeToString(sum[:])
	if has, err := c.HasModule(ctx, digest); has || err != nil {
		t.Errorf("has module: %v, %v", has, err)
	}
	if err := c.PutModule(ctx, digest, bytes.NewReader(module), int64(len(module))); err != nil {
		t.Error(err)
	}
	if has, err := c.HasModule(ctx, digest); !has || err != nil {
		t.Errorf("has module: %v, %v", has, err)
	}
	if err := c.Delete(ctx, "scores", true); err != nil || f.deleted != "scores" || !f.withState {
		t.Errorf("delete: %v, %+v", err, f)
	}
	if code, text := send(t, "GET", srv.URL+"/metrics", "", nil); code != 200 || text != "metrics" {
		t.Errorf("metrics: %d %s", code, text)
	}
	if code, text := send(t, "GET", srv.URL+"/healthz", "", nil); code != 200 || text != "{\"status\":\"ok\"}\n" {
		t.Errorf("health: %d %s", code, text)
	}
	if code, text := send(t, "GET", srv.URL+"/v2/x", "", nil); code != 404 || !strings.Contains(text, "/v2/x") {
		t.Errorf("another path: %d %s", code, text)
	}
}

func TestClient_failures(t *testing.T) {
	f, _, c := newFake(t)
	_, err := c.Pipeline(t.Context(), "other")
	var got *Failure
	if !errors.As(err, &got) || got.Status() != 404 {
		t.Errorf("another pipeline: %v", err)
	}
	f.refuse = fmt.Errorf("pipeline: %w", (&Failure{Text: "x", Code: "WG-1", Next: "do this"}).WithStatus(409))
	_, err = c.Deploy(t.Context(), "scores", &Bundle{Files: []File{{"a.hcl", ""}}}, false)
	want := &Failure{Text: "pipeline: x", Code: "WG-1", Next: "do this"}
	if !errors.As(err, &got) || got.Status() != 409 || got.Text != want.Text || got.Code != want.Code || got.Next != want.Next {
		t.Errorf("refused: %+v", got)
	}
}

func TestClient_unreachable(t *testing.T) {
	_, srv, c := newFake(t)
	srv.Close()
	_, err := c.List(t.Context())
	var u *UnreachableError
	if !errors.As(err, &u) || !strings.Contains(err.Error(), srv.URL) || !strings.Contains(err.Error(), "wgate serve") {
		t.Errorf("got %v", err)
	}
	for _, bad := range []string{"", "ftp://x", "http://", "http://a:b@c", "http://x/path", "http://x?y=1", "http://[::1"} {
		if _, err := NewClient(bad); !errors.Is(err, ErrInvalid) {
			t.Errorf("address %q: %v", bad, err)
		}
	}
}

func TestLogs(t *testing.T) {
	f, srv, c := newFake(t)
	f.logged = []LogLine{{Time: 1, Level: "INFO", Text: "one"}, {Time: 2, Level: "WARN", Text: "two", Attrs: map[string]string{"a": "b"}}}
	var got []LogLine
	if err := c.Logs(t.Context(), "scores", 1, false, func(l LogLine) error { got = append(got, l); return nil }); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(f.logged[1:], got); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	n := 0
	err := c.Logs(ctx, "scores", 100, true, func(LogLine) error {
		if n++; n == 2 {
			cancel()
		}
		return nil
	})
	if err != nil || n != 2 {
		t.Errorf("followed %d lines, %v", n, err)
	}
	for _, query := range []string{"lines=-1", "lines=x", "lines=10001", "follow=perhaps"} {
		if code, text := send(t, "GET", srv.URL+"/v1/pipelines/scores/logs?"+query, "", nil); code != 422 {
			t.Errorf("%s: %d %s", query, code, text)
		}
	}
}
