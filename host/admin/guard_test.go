package admin

import (
	"net/http"
	"testing"
)

// TestGuard asks every route with names and origins that a web page could have made a browser send.
func TestGuard(t *testing.T) {
	_, srv, _ := newFake(t)
	for _, tc := range []struct {
		name, host, origin, site string
		refused                  bool
	}{
		{name: "loopback"},
		{name: "localhost", host: "localhost:7420"},
		{name: "LOCALHOST", host: "LocalHost"},
		{name: "127.1.2.3", host: "127.1.2.3:80"},
		{name: "IPv6", host: "[::1]:7420"},
		{name: "allowed host", host: "node.example:7420"},
		{name: "same origin", host: "localhost:7420", origin: "http://localhost:7420"},
		{name: "rebound name", host: "evil.example:7420", refused: true},
		{name: "rebound name and its origin", host: "evil.example", origin: "http://evil.example", refused: true},
		{name: "name that ends in localhost", host: "evil.localhost.example", refused: true},
		{name: "name that begins with an address", host: "127.0.0.1.evil.example", refused: true},
		{name: "any address", host: "0.0.0.0:7420", refused: true},
		{name: "address of the net", host: "192.168.1.7:7420", refused: true},
		{name: "foreign origin", origin: "https://evil.example", refused: true},
		{name: "another port is another origin", host: "localhost:7420", origin: "http://localhost:3000", refused: true},
		{name: "opaque origin", origin: "null", refused: true},
		{name: "origin of a file", origin: "file://", refused: true},
		{name: "cross-site without origin", site: "cross-site", refused: true},
		{name: "same-site", site: "same-site", refused: true},
		{name: "typed address", site: "none"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, rt := range routes {
				req, err := http.NewRequest(rt.method, srv.URL+concrete(rt.path), nil)
				if err != nil {
					t.Fatal(err)
				}
				if tc.host != "" {
					req.Host = tc.host
				}
				for name, v := range map[string]string{"Origin": tc.origin, "Sec-Fetch-Site": tc.site} {
					if v != "" {
						req.Header.Set(name, v)
					}
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if (resp.StatusCode == http.StatusForbidden) != tc.refused {
					t.Errorf("%s %s: %s", rt.method, rt.path, resp.Status)
				}
				if resp.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("%s %s: allows other origins", rt.method, rt.path)
				}
			}
		})
	}
}

func TestGuard_listenAddress(t *testing.T) {
	g := newGuard("10.1.2.3:7420", []string{"0.0.0.0:7420", ""})
	for host, want := range map[string]bool{ // order does not matter
		"10.1.2.3:7420": true, "10.1.2.3": true, "10.1.2.4": false, "0.0.0.0": false, "": false, "[::]": false, "localhost": true,
	} {
		if got := g.allowed(host); got != want {
			t.Errorf("host %q: allowed %v, want %v", host, got, want)
		}
	}
}
