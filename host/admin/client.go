package admin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Client asks a node. It may be used by many goroutines.
type Client struct {
	base string
	http *http.Client
}

// UnreachableError says that no node answers at an address.
type UnreachableError struct {
	URL string
	Err error
}

// Error names the address and the command that starts a node.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf("no node answers at %s (%v); start one with: wgate serve", e.URL, e.Err)
}

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// NewClient returns a client of the node at an address, which is http://HOST:PORT, https://HOST:PORT or HOST:PORT.
func NewClient(node string) (*Client, error) {
	text := node
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
		return nil, fmt.Errorf("%w: %q is not the address of a node: want http://HOST:PORT", ErrInvalid, node)
	}
	tr := &http.Transport{
		DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		TLSHandshakeTimeout:   5 * time.Second,
		ExpectContinueTimeout: time.Second,
		IdleConnTimeout:       time.Minute,
	}
	return &Client{base: u.Scheme + "://" + u.Host, http: &http.Client{
		Transport: tr,
		// The API never redirects: whatever does is no node.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close closes connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// do sends a request and decodes the answer into out, if that is not nil. Failures of the node come back as *Failure.
func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	resp, err := c.send(ctx, method, path, body, -1, "application/json")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("%s: the answer is not that of a wgate node: %w", c.base, err)
	}
	return nil
}

// send returns an answer that is not an error; the caller closes it. A size below 0 is one that is not known.
func (c *Client) send(ctx context.Context, method, path string, body io.Reader, size int64, kind string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
		if size >= 0 {
			req.ContentLength = size
		}
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var in *url.Error
		if errors.As(err, &in) {
			err = in.Err
		}
		return nil, &UnreachableError{URL: c.base, Err: err}
	}
	if resp.StatusCode < 300 {
		return resp, nil
	}
	defer resp.Body.Close()
	f := &Failure{status: resp.StatusCode}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if json.Unmarshal(text, f) != nil || f.Text == "" {
		f.Text = fmt.Sprintf("%s answers %s to %s %s", c.base, resp.Status, method, path)
	}
	return nil, f
}

// Status returns the HTTP status that the failure came with; 0 if it came from elsewhere.
func (f *Failure) Status() int { return f.status }

// About describes the node.
func (c *Client) About(ctx context.Context) (*About, error) {
	out := &About{}
	return out, c.do(ctx, "GET", "/v1/node", nil, out)
}

// List returns the node's pipelines.
func (c *Client) List(ctx context.Context) ([]Summary, error) {
	var out struct {
		Pipelines []Summary `json:"pipelines"`
	}
	err := c.do(ctx, "GET", "/v1/pipelines", nil, &out)
	return out.Pipelines, err
}

// Pipeline returns the status of one pipeline.
func (c *Client) Pipeline(ctx context.Context, name string) (*Status, error) {
	out := &Status{}
	return out, c.do(ctx, "GET", pipelinePath(name, ""), nil, out)
}

// Compare asks what deploying b would change.
func (c *Client) Compare(ctx context.Context, name string, b *Bundle) (*Change, error) {
	out := &Change{}
	return out, c.do(ctx, "POST", pipelinePath(name, "/plan"), b, out)
}

// Deploy deploys b, with reset anew and without its state. The pipeline may still be starting when it returns.
func (c *Client) Deploy(ctx context.Context, name string, b *Bundle, reset bool) (*Status, error) {
	out := &Status{}
	return out, c.do(ctx, "PUT", pipelinePath(name, "")+"?reset="+strconv.FormatBool(reset), b, out)
}

// Reload replaces a plugin of a running pipeline by the module of the given digest, which the node has.
func (c *Client) Reload(ctx context.Context, name, plugin, digest string) (*Status, error) {
	out := &Status{}
	return out, c.do(ctx, "PUT", pipelinePath(name, "/plugins/")+url.PathEscape(plugin), ModuleRef{digest}, out)
}

// Start starts a pipeline.
func (c *Client) Start(ctx context.Context, name string) (*Status, error) {
	out := &Status{}
	return out, c.do(ctx, "POST", pipelinePath(name, "/start"), nil, out)
}

// Stop stops a pipeline.
func (c *Client) Stop(ctx context.Context, name string) (*Status, error) {
	out := &Status{}
	return out, c.do(ctx, "POST", pipelinePath(name, "/stop"), nil, out)
}

// Delete removes a pipeline from the node; with state, what it keeps on disk too.
func (c *Client) Delete(ctx context.Context, name string, state bool) error {
	return c.do(ctx, "DELETE", pipelinePath(name, "")+"?state="+strconv.FormatBool(state), nil, nil)
}

// Wait asks until the pipeline is neither starting nor stopping.
func (c *Client) Wait(ctx context.Context, name string) (*Status, error) {
	const every = 100 * time.Millisecond
	for {
		st, err := c.Pipeline(ctx, name)
		if err != nil || st.State != Starting && st.State != Stopping {
			return st, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(every):
		}
	}
}

// Logs calls emit for the last n lines of a pipeline's log and, with follow, for each new one until ctx or the node ends.
func (c *Client) Logs(ctx context.Context, name string, n int, follow bool, emit func(LogLine) error) error {
	path := fmt.Sprintf("%s?lines=%d&follow=%t", pipelinePath(name, "/logs"), n, follow)
	resp, err := c.send(ctx, "GET", path, nil, -1, "")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l LogLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("%s: the answer is not that of a wgate node: %w", c.base, err)
		}
		if err := emit(l); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // who follows a log ends it this way
	}
	return lines.Err()
}

// HasModule reports whether the node has a module.
func (c *Client) HasModule(ctx context.Context, digest string) (bool, error) {
	resp, err := c.send(ctx, "HEAD", "/v1/modules/"+url.PathEscape(digest), nil, -1, "")
	var f *Failure
	switch {
	case errors.As(err, &f) && f.status == http.StatusNotFound:
		return false, nil
	case err != nil:
		return false, err
	}
	return true, resp.Body.Close()
}

// PutModule uploads a module of known digest and size. It does not close r.
func (c *Client) PutModule(ctx context.Context, digest string, r io.Reader, size int64) error {
	resp, err := c.send(ctx, "PUT", "/v1/modules/"+url.PathEscape(digest), io.NopCloser(r), size, "application/wasm")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func pipelinePath(name, rest string) string {
	return "/v1/pipelines/" + url.PathEscape(name) + rest
}
