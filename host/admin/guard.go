package admin

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard refuses requests that a web page may have made a browser send. The API has no password: that it listens on the
// loopback interface is its protection, and a page can get around that by a name of its own that resolves to 127.0.0.1
// (DNS rebinding, which the Host header shows) or by a plain cross-site request (which the Origin header shows).
type guard struct {
	hosts map[string]bool // allowed beside the loopback ones; lower case, without port
}

func newGuard(listen string, allowed []string) *guard {
	g := &guard{hosts: map[string]bool{}}
	for _, h := range append([]string{listen}, allowed...) {
		name := hostName(h)
		// 0.0.0.0 is no name of anybody's, though browsers take it to this machine.
		if a, err := netip.ParseAddr(name); name != "" && (err != nil || !a.IsUnspecified()) {
			g.hosts[name] = true
		}
	}
	return g
}

// wrap returns a handler that answers 403 to what check refuses.
func (g *guard) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := g.check(r); f != nil {
			f.status = http.StatusForbidden
			writeFailure(w, f)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (g *guard) check(r *http.Request) *Failure {
	if !g.allowed(r.Host) {
		return &Failure{
			Text: fmt.Sprintf("host %q is not one of this node's names", clip(r.Host)),
			Next: "use the address that the node listens on, or start it with --allow-host NAME",
		}
	}
	if s := r.Header.Get("Sec-Fetch-Site"); s == "cross-site" || s == "same-site" {
		return &Failure{Text: "requests from web pages of another origin are refused"}
	}
	for _, o := range r.Header.Values("Origin") {
		u, err := url.Parse(o)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !strings.EqualFold(u.Host, r.Host) {
			return &Failure{Text: fmt.Sprintf("origin %q is not this node", clip(o)), Next: "requests from web pages of another origin are refused"}
		}
	}
	return nil
}

func (g *guard) allowed(host string) bool {
	name := hostName(host)
	if name == "localhost" || g.hosts[name] {
		return true
	}
	a, err := netip.ParseAddr(name)
	return err == nil && a.Unmap().IsLoopback()
}

// hostName returns the host of HOST or HOST:PORT in lower case, without the brackets of an IPv6 address.
func hostName(s string) string {
	if h, _, err := net.SplitHostPort(s); err == nil {
		s = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
}
