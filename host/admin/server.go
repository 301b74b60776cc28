package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Options are what a server needs beside its node.
type Options struct {
	Listen     string   // the address it listens on, for the check of Host
	AllowHosts []string // further names under which it may be asked
	Metrics    http.Handler
	Log        *slog.Logger
}

// Server answers the API.
type Server struct {
	node   Node
	opts   Options
	http   *http.Server
	cancel context.CancelFunc // ends requests that follow a log
}

// NewServer returns a server for n that does not listen yet.
func NewServer(n Node, o Options) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{node: n, opts: o, cancel: cancel}
	s.http = &http.Server{
		Handler:           s.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug),
	}
	return s
}

// Serve answers requests on l until Shutdown. It closes l.
func (s *Server) Serve(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin API: %w", err)
	}
	return nil
}

// Shutdown ends followed logs, waits for other requests until ctx ends, and closes what is left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		return errors.Join(err, s.http.Close())
	}
	return nil
}

// route is one method and path of the API.
type route struct {
	method, path string
	handle       func(s *Server, w http.ResponseWriter, r *http.Request) error
}

var routes = []route{
	{"GET", "/healthz", (*Server).health},
	{"GET", "/metrics", (*Server).metrics},
	{"GET", "/v1/node", (*Server).about},
	{"GET", "/v1/pipelines", (*Server).list},
	{"GET", "/v1/pipelines/{name}", (*Server).status},
	{"PUT", "/v1/pipelines/{name}", (*Server).deploy},
	{"DELETE", "/v1/pipelines/{name}", (*Server).delete},
	{"POST", "/v1/pipelines/{name}/plan", (*Server).compare},
	{"POST", "/v1/pipelines/{name}/start", (*Server).start},
	{"POST", "/v1/pipelines/{name}/stop", (*Server).stop},
	{"PUT", "/v1/pipelines/{name}/plugins/{plugin}", (*Server).reload},
	{"GET", "/v1/pipelines/{name}/logs", (*Server).logs},
	{"HEAD", "/v1/modules/{digest}", (*Server).hasModule},
	{"PUT", "/v1/modules/{digest}", (*Server).putModule},
}

// Handler returns the API with its guard.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, rt := range routes {
		mux.HandleFunc(rt.method+" "+rt.path, func(w http.ResponseWriter, r *http.Request) {
			// An answer may have to wait for a pipeline to stop; what is read may not trickle for ever.
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout))
			if err := rt.handle(s, w, r); err != nil {
				s.fail(w, r, err)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, fmt.Errorf("%w: the API has no %s %s", ErrNotFound, r.Method, clip(r.URL.Path)))
	})
	return newGuard(s.opts.Listen, s.opts.AllowHosts).wrap(mux)
}

// readTimeout is how long a request's body may take.
const readTimeout = 10 * time.Minute

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	f := FailureOf(err)
	var tooLarge *http.MaxBytesError
	switch {
	case f.status != 0:
	case errors.As(err, &tooLarge):
		f.status, f.Text = http.StatusRequestEntityTooLarge, fmt.Sprintf("the request is larger than %d bytes", tooLarge.Limit)
	case errors.Is(err, ErrTooLarge):
		f.status = http.StatusRequestEntityTooLarge
	case errors.Is(err, ErrNotFound):
		f.status = http.StatusNotFound
	case errors.Is(err, ErrInvalid):
		f.status = http.StatusUnprocessableEntity
	case errors.Is(err, ErrConflict):
		f.status = http.StatusConflict
	default:
		f.status = http.StatusInternalServerError
	}
	if f.status >= 500 {
		s.opts.Log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", f.Text)
	}
	writeFailure(w, f)
}

// FailureOf returns err as a Failure: the one in its chain, with the text of the whole, or a new one.
func FailureOf(err error) *Failure {
	f := &Failure{}
	var in *Failure
	if errors.As(err, &in) {
		*f = *in
	}
	f.Text = err.Error()
	return f
}

// WithStatus sets the HTTP status that the failure is answered with, and returns f.
func (f *Failure) WithStatus(code int) *Failure {
	f.status = code
	return f
}

func writeFailure(w http.ResponseWriter, f *Failure) {
	status := f.status
	if status == 0 {
		status = http.StatusInternalServerError
	}
	writeJSON(w, status, f)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	// If the client is gone there is nobody to tell.
	_ = enc.Encode(v)
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	s.opts.Metrics.ServeHTTP(w, r)
	return nil
}

func (s *Server) about(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.node.About())
	return nil
}

// readBundle reads and checks the body of a deployment.
func readBundle(w http.ResponseWriter, r *http.Request) (*Bundle, error) {
	b := &Bundle{}
	if err := readJSON(w, r, "a bundle", b); err != nil {
		return nil, err
	}
	return b, b.Check()
}

// readJSON reads the body of a request, which is one JSON value: what.
func readJSON(w http.ResponseWriter, r *http.Request, what string, to any) error {
	if ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || ct != "application/json" {
		return (&Failure{Text: "the body is not said to be JSON", Next: "send Content-Type: application/json"}).WithStatus(http.StatusUnsupportedMediaType)
	}
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxBundleBytes))
	dec.DisallowUnknownFields()
	if err := dec.Decode(to); err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return err
		}
		// The decoder's words may have a piece of the body in them.
		return (&Failure{Text: "the body is not " + what + ": see docs/openapi.yaml"}).WithStatus(http.StatusBadRequest)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return (&Failure{Text: "something follows " + what + " in the body"}).WithStatus(http.StatusBadRequest)
	}
	return nil
}

// truth reads a yes-or-no parameter.
func truth(r *http.Request, name string) (bool, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return false, nil
	}
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, fmt.Errorf("%w: parameter %s: want true or false", ErrInvalid, name)
	}
	return v, nil
}
