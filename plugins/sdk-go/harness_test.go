package wgate

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func init() {
	Plugin("test", "1.2.3")
	OnOpen(func(c *Config) error {
		c.Int("n", 1)
		if c.String("name", "") == "bad" {
			return errors.New("the name is bad")
		}
		return nil
	})
	DoFn("touch", touch, Tags("side"), Pure())
	DoFn("panics", func(e *Element, out *Emitter) {
		out.Emit(e.Value())
		var m map[string]int
		if string(e.Value()) == `"boom"` {
			m["x"] = 1
		}
		if string(e.Value()) == `"fail"` {
			out.Fail("late_failure", "after an emit")
		}
	})
	DoFn("large", func(_ *Element, out *Emitter) { out.Emit(make([]byte, flushAt)) })
}

// touch reads everything that there is of an element.
func touch(e *Element, out *Emitter) {
	n := len(e.Value()) + len(e.Key())
	for i := range e.Headers() {
		name, value := e.Header(i)
		n += len(name) + len(value)
	}
	e.Window()
	e.Origin()
	e.Pane()
	if n%2 == 0 {
		out.Keep()
	}
}

func functionID(name string) int {
	for i, f := range plugin.functions {
		if f.name == name {
			return i
		}
	}
	return -1
}

func harness(t *testing.T, config string) *Harness {
	t.Helper()
	h, err := NewHarness(config)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func rows(values ...string) []HarnessRow {
	var rs []HarnessRow
	for i, v := range values {
		rs = append(rs, HarnessRow{Key: fmt.Append(nil, "k", i), Value: []byte(v), Time: int64(i)})
	}
	return rs
}

func TestOpen(t *testing.T) {
	for config, want := range map[string]string{
		"":                    "",
		`{"n":5}`:             "",
		`{"n":null}`:          "",
		`{"n":"5"}`:           "config.n must be an int",
		`{"n":5.5}`:           "config.n must be an int",
		`{"name":"bad"}`:      "the name is bad",
		`{"n":1,"n":"x"}`:     "config.n must be an int",
		`{"name":"b\u0061d"}`: "the name is bad",
	} {
		got := ""
		if _, err := NewHarness(config); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("config %s: %q, want %q", config, got, want)
		}
	}
}

// TestPanic: what a row emitted before it panicked or failed must not come out; the others are untouched.
func TestPanic(t *testing.T) {
	res, err := harness(t, "").Process("panics", rows(`1`, `"boom"`, `"fail"`, `2`)...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range res.Rows {
		got = append(got, fmt.Sprint(r.From, " ", string(r.Value)))
	}
	for _, f := range res.Failed {
		got = append(got, fmt.Sprint(f.Row, "! ", f.Code))
	}
	if s := strings.Join(got, "; "); s != "0 1; 3 2; 1! guest_trap; 2! late_failure" {
		t.Error(s)
	}
	if text := res.Failed[0].Text; !strings.Contains(text, "nil map") || !strings.Contains(text, "harness_test.go") {
		t.Errorf("the text names neither the reason nor the place: %s", text)
	}
}

// TestLarge: much output is sent in several frames, in order.
func TestLarge(t *testing.T) {
	h := harness(t, "")
	res, err := h.Process("large", rows(`1`, `2`, `3`)...)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.frames) != 3 || len(res.Rows) != 3 || res.Rows[2].From != 2 {
		t.Errorf("%d frames, %d rows", len(h.frames), len(res.Rows))
	}
}

func TestManifest(t *testing.T) {
	want := `{"abi":1,"name":"test","version":"1.2.3","sdk":"go 0.1.0","functions":[` +
		`{"id":0,"name":"touch","kind":"dofn","tags":["side"],"pure":true},` +
		`{"id":1,"name":"panics","kind":"dofn"},{"id":2,"name":"large","kind":"dofn"},{"id":3,"name":"mean","kind":"combiner","args":1,"total":true,"uncombine":true},{"id":4,"name":"join","kind":"combiner","args":2}]}`
	if got := harness(t, "").Manifest(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestAllocations: passing rows on and writing objects must not allocate, once the buffers are there.
func TestAllocations(t *testing.T) {
	h := harness(t, "")
	frame := inputFrame(0, rows(`{"user":"u1","points":7}`, `{"user":"u2","points":8}`))
	each := func(e *Element, out *Emitter) {
		s := Scan(e.Value())
		o := out.Object()
		for s.Next() {
			if n, ok := s.Int(); ok {
				o.Int("points", n)
			} else {
				o.Raw("user", s.Raw())
			}
		}
		o.Emit()
		out.Keep()
	}
	n := h.load(frame)
	h.g.el.in = &h.g.in
	if a := testing.AllocsPerRun(100, func() {
		h.g.in.take(h.g.frame(n))
		h.g.out.reset(2)
		h.g.run(each, 0)
		h.g.out.build(2, 2)
	}); a > 0 {
		t.Errorf("%v allocations for a bundle", a)
	}
}

func TestSource(t *testing.T) {
	for _, name := range []string{"go.mod", "guest.go", "abi.gen.go", "host_wasip1.go"} {
		if b, err := Source.ReadFile(name); err != nil || len(b) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
