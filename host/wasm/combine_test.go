package wasm

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/expr"
)

func ints(vs ...int64) (col []event.Value, rows []int32) {
	for i, v := range vs {
		col, rows = append(col, event.IntValue(v)), append(rows, int32(i))
	}
	return col, rows
}

// TestCheckFindsRows: whatever a row does to the guest, it alone is refused.
func TestCheckFindsRows(t *testing.T) {
	in := instance(t, hostileFile, Options{Name: "hostile", Time: 300})
	h := &event.Heap{}
	col, rows := ints(1, -1, 2, -2, 3, -3, 4, 1000, 5, -2)
	col = append(col, event.HeapValue(event.String, h.PutString("x")))
	rows = append(rows, int32(len(rows)))
	for range 2 { // what was thrown away must not show
		failed, err := in.Check(context.Background(), "hurt", [][]event.Value{col}, rows, h, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range failed {
			got = append(got, fmt.Sprint(f.Row, " ", f.Code))
			if f.Digest == "" || f.Text == "" {
				t.Errorf("%+v", f)
			}
		}
		want := []string{"1 guest_trap", "3 guest_trap", "5 guest_deadline", "9 guest_trap", "10 no_int"}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	}
}

func TestFoldFails(t *testing.T) {
	in := instance(t, hostileFile, Options{Name: "hostile", Output: 2 << 20})
	ctx, h := context.Background(), &event.Heap{}
	for _, c := range []struct {
		fn   string
		vs   []int64
		want string // in the error; "": none
	}{
		{"hurt", []int64{1, 2, 3}, ""},
		{"hurt", []int64{1, 1000}, "no single record is to blame: full: it does not fit"},
		{"hurt", []int64{1, 2, 3, 2000, 4}, "guest_trap: the plugin exited with code 8"},
		{"grow", []int64{1}, ""},
		{"grow", []int64{1, 2}, "accumulator 0 has grown to 1433601 bytes"},
		{"keep", []int64{1}, "is a dofn, not a combiner"},
		{"none", []int64{1}, `has no function "none"`},
	} {
		col, rows := ints(c.vs...)
		accs := make([][]byte, 1)
		p := combine.Batch{Groups: make([]int32, len(rows)), Rows: rows, Heap: h}
		err := in.Fold(ctx, c.fn, accs, [][]event.Value{col}, &p, false)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: got %v, want %q", c.fn, c.vs, err, c.want)
		}
	}
	// Two accumulators that are too large for one output are not when they come one after the other.
	col, rows := ints(1, 2, 3)
	accs := make([][]byte, 3)
	p := combine.Batch{Groups: []int32{0, 1, 2}, Rows: rows, Heap: h}
	if err := in.Fold(ctx, "grow", accs, [][]event.Value{col}, &p, false); err != nil || len(accs[2]) != 700<<10+1 {
		t.Errorf("%v, %d bytes", err, len(accs[2]))
	}
}

func TestExtractFails(t *testing.T) {
	in := instance(t, hostileFile, Options{Name: "hostile"})
	ctx, h := context.Background(), &event.Heap{}
	acc := func(v byte) []byte { return []byte{v, 0, 0, 0, 0, 0, 0, 0} }
	vals, err := in.Extract(ctx, "hurt", [][]byte{acc(1), acc(13), nil, acc(14), acc(15), {1, 2}, acc(2)}, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range vals {
		if v.Kind == event.Error {
			code, _ := expr.ErrorText(h, v)
			got = append(got, code)
			continue
		}
		got = append(got, fmt.Sprint(v.Int()))
	}
	if d := cmp.Diff([]string{"1", "guest_trap", "0", "no_result", "bad_frame", "guest_fail", "2"}, got); d != "" {
		t.Error(d)
	}
	if _, err := in.Merge(ctx, "hurt", acc(13), acc(1)); err == nil || !strings.Contains(err.Error(), "an unlucky merge") {
		t.Error(err)
	}
	if m, err := in.Merge(ctx, "hurt", acc(12), acc(1)); err != nil || m[0] != 13 {
		t.Error(m, err)
	}
	if m, err := in.Merge(ctx, "hurt", nil, acc(1)); err != nil || m[0] != 1 {
		t.Error(m, err)
	}
}
