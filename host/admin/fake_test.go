package admin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// fakeNode knows one pipeline, "scores", and remembers what it was told.
type fakeNode struct {
	state     State
	deployed  *Bundle
	deleted   string
	withState bool
	reset     bool
	reloaded  string
	modules   map[string][]byte
	refuse    error
	logged    []LogLine
}

func (f *fakeNode) known(name string) error {
	if name != "scores" {
		return fmt.Errorf("pipeline %q: %w", name, ErrNotFound)
	}
	return f.refuse
}

func (f *fakeNode) About() About    { return About{Version: "1", Pipelines: 1} }
func (f *fakeNode) List() []Summary { return []Summary{{Name: "scores", State: f.state}} }

func (f *fakeNode) Status(name string) (*Status, error) {
	return &Status{Summary: Summary{Name: name, State: f.state}}, f.known(name)
}

func (f *fakeNode) Compare(_ context.Context, name string, _ *Bundle) (*Change, error) {
	return &Change{Pipeline: name, Action: "create"}, f.refuse
}

func (f *fakeNode) Deploy(_ context.Context, name string, b *Bundle, reset bool) (*Status, error) {
	f.deployed, f.reset = b, reset
	return &Status{Summary: Summary{Name: name, State: f.state}}, f.refuse
}

func (f *fakeNode) Reload(_ context.Context, name, plugin, digest string) (*Status, error) {
	f.reloaded = plugin + " " + digest
	return f.Status(name)
}

func (f *fakeNode) Start(_ context.Context, name string) (*Status, error) {
	f.state = Running
	return f.Status(name)
}

func (f *fakeNode) Stop(_ context.Context, name string) (*Status, error) {
	f.state = Stopped
	return f.Status(name)
}

func (f *fakeNode) Delete(_ context.Context, name string, state bool) error {
	f.deleted, f.withState = name, state
	return f.known(name)
}

func (f *fakeNode) Logs(ctx context.Context, _ string, n int, follow bool, emit func(LogLine) error) error {
	for _, l := range f.logged[max(0, len(f.logged)-n):] {
		if err := emit(l); err != nil {
			return err
		}
	}
	if follow {
		<-ctx.Done()
	}
	return nil
}

func (f *fakeNode) HasModule(digest string) (bool, error) {
	_, ok := f.modules[digest]
	return ok, nil
}

func (f *fakeNode) PutModule(digest string, r io.Reader) error {
	text, err := io.ReadAll(r)
	if err == nil {
		f.modules[digest] = text
	}
	return err
}

// newFake returns a fake node, an API in front of it, and a client of that.
func newFake(t *testing.T) (*fakeNode, *httptest.Server, *Client) {
	t.Helper()
	f := &fakeNode{state: Running, modules: map[string][]byte{}}
	s := NewServer(f, Options{
		Listen: "127.0.0.1:7420", AllowHosts: []string{"node.example"}, Log: slog.New(slog.DiscardHandler),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "metrics") }),
	})
	srv := httptest.NewServer(s.Handler())
	t.Cleanup(srv.Close)
	c, err := NewClient(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return f, srv, c
}
