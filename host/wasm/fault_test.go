package wasm

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

// TestBadAnswers: a guest that answers nonsense fails its rows one by one, and never more than that.
func TestBadAnswers(t *testing.T) {
	short := make([]byte, 40)
	for _, c := range []struct {
		name string
		h    handmade
		code string
		text string
	}{
		{"short frame", handmade{frame: short}, codeFrame, "40 bytes"},
		{"outside of memory", handmade{ptr: 0xfffffff0, len: 64}, "", ""}, // out says so, and the guest does not care
		{"span wraps", handmade{ptr: 0xffffffff, len: 0xffffffff}, "", ""},
		{"unknown status", handmade{ptr: 1, status: 77}, codeFrame, "returned 77"},
		{"negative status", handmade{ptr: 1, status: -1}, codeFrame, "returned -1"},
		{"wants state", handmade{ptr: 1, status: 5}, codeFrame, "not available"},
		{"batch error", handmade{ptr: 1, status: 2}, codeFail, "whole bundle"},
		{"retries for ever", handmade{ptr: 1, status: 1}, codeFail, "too often"},
		{"partial of nothing", handmade{ptr: 1, len: 1 << 20, status: 4}, codeOutput, "larger"},
		{"unreachable", handmade{body: []byte{0}}, codeTrap, "unreachable"},
		{"loop", handmade{body: []byte{0x03, 0x40, 0x0c, 0, 0x0b, 0}}, codeDeadline, "limits.time"},
		// if (1) call wgate_call: calls without a loop.
		{"recursion", handmade{body: concat(constI32(0), constI32(0), constI32(0), []byte{0x10, 5})}, codeTrap, "stack overflow"},
		{"arena outside", handmade{arena: 0xfffffff8}, codeFrame, "wgate_arena"},
		{"arena not aligned", handmade{arena: 1028}, codeFrame, "wgate_arena"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := context.Background()
			o := Options{Time: 30_000}
			if c.code == codeDeadline {
				o.Time = 50
			}
			m, err := registry(t).LoadBytes(ctx, "h.wasm", c.h.build(), o)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close(ctx)
			in, err := m.NewInstance(ctx)
			if err != nil {
				if c.h.arena != 0 && strings.Contains(err.Error(), c.text) {
					return // found when the plugin was opened
				}
				t.Fatal(err)
			}
			defer in.Close(ctx)
			out := process(t, in, "f", bundle(`1`, `2`, `3`))
			if len(out.Rows) != 0 {
				t.Errorf("rows came out: %v", out.Rows)
			}
			if c.code == "" {
				if len(out.Failed) != 0 {
					t.Errorf("rows failed: %v", out.Failed)
				}
				return
			}
			if len(out.Failed) != 3 {
				t.Fatalf("%d rows failed, want 3", len(out.Failed))
			}
			for _, f := range out.Failed {
				if f.Code != c.code || !strings.Contains(f.Text, c.text) || f.Digest != m.Digest() {
					t.Errorf("%+v; want %s, %q", f, c.code, c.text)
				}
			}
		})
	}
}

// TestWords: a trap comes with the guest's stack and standard error, cut to size.
func TestWords(t *testing.T) {
	in := instance(t, hostileFile, Options{Time: 30_000})
	out := process(t, in, "act", bundle(`"deadlock"`, `"oom"`, `"panic"`))
	want := [][]string{
		{"all goroutines are asleep", "main.act"},
		{"limits.memory = 67108864", "out of memory"},
		{"panic: ", "index out of range", "main.act"},
	}
	if len(out.Failed) != len(want) {
		t.Fatalf("%+v", out.Failed)
	}
	for _, f := range out.Failed {
		if len(f.Text) > messageBytes {
			t.Errorf("%s: %d bytes", f.Code, len(f.Text))
		}
		for _, w := range want[f.Row] {
			if !strings.Contains(f.Text, w) {
				t.Errorf("row %d: no %q in\n%s", f.Row, w, f.Text)
			}
		}
	}
}

// TestManyPoisoned: rows that trap between rows that do not, with a guest that notes the row it works on.
func TestManyPoisoned(t *testing.T) {
	in := instance(t, hostileFile, Options{Time: 30_000})
	var vals, want []string
	for i := range 200 {
		if i%50 == 7 {
			vals = append(vals, `"exit"`)
			continue
		}
		vals = append(vals, fmt.Sprint(i))
		want = append(want, fmt.Sprint(i, " ", i))
	}
	for i := 7; i < 200; i += 50 {
		want = append(want, fmt.Sprint(i, "! guest_trap"))
	}
	b := bundle(vals...)
	before := in.calls
	if d := cmp.Diff(want, show(b, process(t, in, "act", b))); d != "" {
		t.Error(d)
	}
	// Each poisoned row: a call that fails, the row alone, the rows before it, and the rest.
	if n := in.calls - before; n > 4*3+1 {
		t.Errorf("%d calls", n)
	}
}

// TestRefusedConfig: what OnOpen says is in the error.
func TestRefusedConfig(t *testing.T) {
	ctx := context.Background()
	m, err := registry(t).Load(ctx, hostileFile, Options{Config: []byte(`{"open":"refuse"}`)})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(ctx)
	if _, err := m.NewInstance(ctx); err == nil || !strings.Contains(err.Error(), "it refuses its configuration: this configuration is refused") {
		t.Error(err)
	}
}

// TestNewRows: what a guest gives and what it leaves out.
func TestNewRows(t *testing.T) {
	var logged []string
	counts := map[string]int64{}
	in := instance(t, hostileFile, Options{
		Log:    func(l slog.Level, text string) { logged = append(logged, l.String()+" "+text) },
		Metric: func(name string, _ bool, v int64) { counts[name] += v },
	})
	b := bundle(`"side"`, `"fields"`, `"text"`, `"null"`, `"log"`)
	name := b.Heap.PutString("old")
	for range b.Times {
		b.Heads = append(b.Heads, event.HeadSpan{Start: uint32(len(b.Headers)), End: uint32(len(b.Headers) + 1)})
		b.Headers = append(b.Headers, event.Header{Key: name, Value: event.NullRef})
	}
	out := process(t, in, "act", b)
	var got []string
	for _, m := range out.Rows {
		if m.New < 0 {
			got = append(got, fmt.Sprint(m.Row, " kept"))
			continue
		}
		n := &out.New
		line := fmt.Sprintf("%d>%d %s key %s value %s", m.Row, m.Tag, n.Times[m.New], n.Keys[m.New].Kind, n.Values[m.New].Kind)
		for _, h := range n.RowHeaders(int(m.New)) {
			line += fmt.Sprintf(" %s=%q", b.Heap.Get(h.Key), b.Heap.Get(h.Value))
		}
		got = append(got, line)
	}
	want := []string{
		`0>1 -inf key missing value missing old=""`,
		`1>0 1970-01-01T00:00:00.042Z key string value json h="v" n=""`,
		`2>0 -inf key null value string old=""`,
		`3>0 -inf key missing value null`,
		`4 kept`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"WARN to standard error", "WARN a line"}, logged); d != "" {
		t.Error(d)
	}
	if counts["things"] != 3 {
		t.Error(counts)
	}
}

// TestGuards: both guards give the same rows.
func TestGuards(t *testing.T) {
	b := bundle(`1`, `"side"`, `"drop"`, `"fields"`)
	var first []string
	for _, guard := range []string{Metered, Trusted} {
		in := instance(t, hostileFile, Options{Guard: guard})
		got := show(b, process(t, in, "act", b))
		if first == nil {
			first = got
		}
		if d := cmp.Diff(first, got); d != "" || len(got) != 3 {
			t.Error(guard, d)
		}
	}
}

// TestUnknownFunction: it is an error of the call, not of the rows.
func TestUnknownFunction(t *testing.T) {
	in := instance(t, hostileFile, Options{Name: "h"})
	err := in.Process(context.Background(), "nope", bundle(`1`), &engine.Processed{})
	if err == nil || !strings.Contains(err.Error(), `plugin "h": it has no function "nope"`) {
		t.Error(err)
	}
}

// TestAllocations: a bundle that passes must not cost memory in the host for each row.
func TestAllocations(t *testing.T) {
	in := instance(t, hostileFile, Options{})
	var vals []string
	for i := range 1000 {
		vals = append(vals, fmt.Sprint(i))
	}
	b := bundle(vals...)
	out := &engine.Processed{}
	in.m.mu.Lock()
	making := in.m.making
	in.m.mu.Unlock()
	if making != nil {
		<-making // the spare allocates too
	}
	if a := testing.AllocsPerRun(20, func() {
		if err := in.Process(context.Background(), "keep", b, out); err != nil {
			t.Fatal(err)
		}
	}); a > 20 {
		t.Errorf("%v allocations for 1,000 rows", a)
	}
}
