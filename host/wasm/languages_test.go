package wasm

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wgate/wgate/combine"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/event/jsontext"
	"github.com/wgate/wgate/host/engine"
)

// rustGuests are the Rust plugins that were built, by the folder's name.
var rustGuests struct {
	sync.Mutex
	built map[string]string
	skip  string
}

// rustGuest builds and packs the example dir of folder plugins/examples, or skips the test where there is no Rust that can.
func rustGuest(t testing.TB, dir string) string {
	t.Helper()
	g := &rustGuests
	g.Lock()
	defer g.Unlock()
	need := func() {
		want := strings.Split(os.Getenv("WGATE_REQUIRE"), ",")
		if slices.Contains(want, "rust") || slices.Contains(want, "all") {
			t.Fatalf("WGATE_REQUIRE asks for Rust: %s", g.skip)
		}
		t.Skip(g.skip)
	}
	if g.skip != "" {
		need()
	}
	if path := g.built[dir]; path != "" {
		return path
	}
	out := filepath.Join(filepath.Dir(scoresFile), dir+".wasm")
	text, err := exec.Command("../../tools/rust-guest.sh", "../../plugins/examples/"+dir, out).CombinedOutput()
	if x := (*exec.ExitError)(nil); err != nil {
		if asExit(err, &x) && x.ExitCode() == 3 {
			g.skip = strings.TrimSpace(string(text))
			need()
		}
		t.Fatalf("building %s: %v\n%s", dir, err, text)
	}
	if err := Pack(out); err != nil {
		t.Fatal(err)
	}
	if g.built == nil {
		g.built = map[string]string{}
	}
	g.built[dir] = out
	return out
}

func asExit(err error, x **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*x = e
	return ok
}

// games makes n values as the scores plugins read them, a part of them wrong in some way.
func games(r *rand.Rand, n int) []string {
	pick := func(s ...string) string { return s[r.IntN(len(s))] }
	var vals []string
	for i := range n {
		user := pick(`"u1"`, `"u2 "`, `"\u00fc\"x"`, `null`, `7`, `{"a":[1,"}"]}`, `"a long name of a user that has more than sixteen bytes"`)
		team := pick(`"red"`, `"blue"`, `"grün"`, `""`)
		points := pick("0", "7", "-3", "12345678901", "1.5", "1e2", `"7"`, "9223372036854775807", "9223372036854775808", "01")
		kind := pick(`"goal"`, `"bonus"`, `"ping"`, `"p\u0069ng"`, `null`)
		fields := []string{
			`"user":` + user, `"team":` + team, `"points":` + points, fmt.Sprintf(`"ts":%d`, 1767225600000+i), `"kind":` + kind,
			pick(`"x":[1,2,{"y":"]"}]`, `"a\u0062":1`, ` "sp" : true `),
		}
		r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
		v := "{" + strings.Join(fields[:1+r.IntN(len(fields))], pick(",", ", ")) + "}"
		if r.IntN(20) == 0 {
			v = v[:r.IntN(len(v))]
		}
		vals = append(vals, v)
	}
	return vals
}

// TestSameBytes runs scores in Go and in Rust over the same input: every output must have the same bytes, and every
// failure the same words.
func TestSameBytes(t *testing.T) {
	rust := rustGuest(t, "scores-rust")
	o := Options{Name: "scores", Config: []byte(`{"bonus": 3}`)}
	a, b := instance(t, scoresFile, o), instance(t, rust, o)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		bd := bundle(games(r, 500)...)
		words := func(in *Instance) []string {
			out := process(t, in, "score", bd)
			got := show(bd, out)
			for _, f := range out.Failed {
				got = append(got, f.Text)
			}
			return got
		}
		want := words(a)
		if len(want) < 100 {
			t.Fatalf("only %d rows came out", len(want))
		}
		if d := cmp.Diff(want, words(b)); d != "" {
			t.Fatalf("Go (-) and Rust (+) differ:\n%s", d)
		}
	}
}

// trades makes n rows of (value, weight), a part of them of other kinds.
func trades(r *rand.Rand, h *event.Heap, n int) (cols [][]event.Value, rows []int32) {
	cols = make([][]event.Value, 2)
	value := func() event.Value {
		switch r.IntN(8) {
		case 0:
			return event.IntValue(r.Int64N(1000))
		case 1:
			return event.NullValue()
		case 2:
			return event.FloatValue(r.Float64() * 1e3)
		case 3:
			return event.Value{}
		case 4:
			return event.HeapValue(event.String, h.PutString("text"))
		}
		d, _ := event.ParseDecimal(fmt.Sprintf("%d.%02d", r.IntN(1000), r.IntN(100)))
		return event.DecimalValue(d)
	}
	for i := range n {
		for c := range cols {
			cols[c] = append(cols[c], value())
		}
		rows = append(rows, int32(i))
	}
	return cols, rows
}

// combined runs fn over rows as the engine does: checks, adds in several calls, merges, extracts. It returns the refused
// rows, the accumulators and the results.
func combined(t testing.TB, in *Instance, fn string, cols [][]event.Value, rows []int32, h *event.Heap, cut int) (out []string) {
	t.Helper()
	ctx := context.Background()
	failed, err := in.Check(ctx, fn, cols, rows, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	bad := map[int32]bool{}
	for _, f := range failed {
		bad[f.Row] = true
		out = append(out, fmt.Sprint(f.Row, "! ", f.Code, " ", f.Text))
	}
	accs := make([][]byte, 7)
	p := combine.Batch{Heap: h}
	fold := func() {
		if err := in.Fold(ctx, fn, accs, cols, &p, false); err != nil {
			t.Fatal(err)
		}
		p.Groups, p.Rows = p.Groups[:0], p.Rows[:0]
	}
	for _, row := range rows {
		if bad[row] {
			continue
		}
		for _, g := range []int32{row % 7, row % 3} { // as in sliding windows
			p.Groups, p.Rows = append(p.Groups, g), append(p.Rows, row)
		}
		if len(p.Rows) >= cut {
			fold()
		}
	}
	fold()
	acc, err := in.Merge(ctx, fn, bytes.Clone(accs[0]), accs[1])
	if err != nil {
		t.Fatal(err)
	}
	accs = append(accs, acc, nil)
	vals, err := in.Extract(ctx, fn, accs, h, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range vals {
		out = append(out, fmt.Sprintf("%x %s", accs[i], jsontext.Append(nil, h, v)))
	}
	return out
}

// TestSameAccumulators runs the combiners of stats in Go and in Rust over the same input, cut into calls in different ways:
// accumulators, results and failures must have the same bytes.
func TestSameAccumulators(t *testing.T) {
	rust := rustGuest(t, "stats-rust")
	a, b := instance(t, statsFile, Options{Name: "stats"}), instance(t, rust, Options{Name: "stats"})
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 10, 500, 3000} {
		h := &event.Heap{}
		cols, rows := trades(r, h, n)
		for _, fn := range []string{"wmean", "spread"} {
			width := map[string]int{"wmean": 2, "spread": 1}[fn]
			want := combined(t, a, fn, cols[:width], rows, h, 1<<20)
			for _, cut := range []int{1, 100, 1 << 20} {
				if cut == 1 && n > 500 {
					continue
				}
				for lang, in := range map[string]*Instance{"go": a, "rust": b} {
					if d := cmp.Diff(want, combined(t, in, fn, cols[:width], rows, h, cut)); d != "" {
						t.Fatalf("%s, %s, %d rows in calls of %d:\n%s", fn, lang, n, cut, d)
					}
				}
			}
		}
	}
}

// BenchmarkCombiner measures wmean over 1,000 rows in 100 groups.
func BenchmarkCombiner(b *testing.B) {
	for _, lang := range []string{"go", "rust"} {
		for _, what := range []string{"check", "fold"} {
			b.Run(lang+"/"+what, func(b *testing.B) {
				path := statsFile
				if lang == "rust" {
					path = rustGuest(b, "stats-rust")
				}
				in := instance(b, path, Options{Name: "stats"})
				ctx, h := context.Background(), &event.Heap{}
				cols := make([][]event.Value, 2)
				p := combine.Batch{Heap: h}
				for i := range 1000 {
					cols[0], cols[1] = append(cols[0], event.FloatValue(float64(i))), append(cols[1], event.IntValue(int64(i)))
					p.Groups, p.Rows = append(p.Groups, int32(i%100)), append(p.Rows, int32(i))
				}
				accs := make([][]byte, 100)
				spent := cpuNanos(b)
				b.ResetTimer()
				for range b.N {
					var err error
					if what == "check" {
						_, err = in.Check(ctx, "wmean", cols, p.Rows, h, nil)
					} else {
						err = in.Fold(ctx, "wmean", accs, cols, &p, false)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(cpuNanos(b)-spent)/float64(b.N)/1000, "cpu-ns/record")
			})
		}
	}
}

// TestRustRefusesConfig sees that the words are those of the Go SDK.
func TestRustRefusesConfig(t *testing.T) {
	for _, path := range []string{scoresFile, rustGuest(t, "scores-rust")} {
		m, err := registry(t).Load(context.Background(), path, Options{Name: "scores", Config: []byte(`{"bonus": "x"}`)})
		if err == nil {
			if _, err = m.NewInstance(context.Background()); err == nil {
				t.Fatal("the configuration was taken")
			}
			_ = m.Close(context.Background())
		}
		if !strings.Contains(err.Error(), "config.bonus must be an int") {
			t.Error(err)
		}
	}
}

// BenchmarkLanguages measures the same function in Go and in Rust.
func BenchmarkLanguages(b *testing.B) {
	var vals []string
	for i := range 1000 {
		vals = append(vals, fmt.Sprintf(`{"user":"u%d","team":"red","points":%d,"ts":%d,"kind":"goal"}`, i%100, i%10, 1767225600000+i))
	}
	for _, lang := range []string{"go", "rust"} {
		for _, guard := range []string{Trusted, Metered} {
			b.Run(lang+"/"+guard, func(b *testing.B) {
				path := scoresFile
				if lang == "rust" {
					path = rustGuest(b, "scores-rust")
				}
				in := instance(b, path, Options{Name: "scores", Guard: guard})
				bd, out := bundle(vals...), &engine.Processed{}
				heap := bd.Heap.Len()
				spent := cpuNanos(b)
				b.ResetTimer()
				for range b.N {
					if bd.Heap.Len() > heap+8<<20 {
						bd = bundle(vals...)
					}
					if err := in.Process(context.Background(), "score", bd, out); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(cpuNanos(b)-spent)/float64(b.N)/1000, "cpu-ns/record")
			})
		}
	}
}
