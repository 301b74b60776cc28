package wasm

import (
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
