package main

import (
	"strings"
	"testing"

	wgate "github.com/wgate/wgate/plugins/sdk-go"
)

// TestScore runs score natively, through the frames of the real host.
func TestScore(t *testing.T) {
	h, err := wgate.NewHarness(`{"bonus": 3}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want string }{
		{`{"user":"u17","team":"red","points":7,"ts":1767225600000,"kind":"goal"}`, `{"team":"red","points":7,"user":"u17","ts":1767225600000}`},
		{`{"user":"u17","team":"red","points":7,"ts":1767225600000,"kind":"bonus"}`, `{"team":"red","points":21,"user":"u17","ts":1767225600000}`},
		{`{"user":"u17","kind":"ping"}`, ``},
		{`{"kind":"p\u0069ng","\u0075ser":"u17"}`, ``},
		{`{"user":"u17","team":"red","points":-7,"ts":1767225600000,"kind":"goal"}`, `! negative_points`},
		{`{"user":"u17","team":"red","points":1.5,"ts":1767225600000,"kind":"goal"}`, `! bad_number`},
		{`{"team":null,"points":0}`, `{"team":null,"points":0,"user":null,"ts":0}`},
		{`7`, `! bad_json`},
		{`{"user"`, `! bad_json`},
	} {
		res, err := h.Process("score", wgate.HarnessRow{Value: []byte(c.in)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range res.Rows {
			got = append(got, string(r.Value))
		}
		for _, f := range res.Failed {
			got = append(got, "! "+f.Code)
		}
		if s := strings.Join(got, "; "); s != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.in, s, c.want)
		}
	}
}

func TestConfig(t *testing.T) {
	if _, err := wgate.NewHarness(`{"bonus": "three"}`); err == nil || err.Error() != "config.bonus must be an int" {
		t.Error(err)
	}
}
