package file

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string) *Source {
	t.Helper()
	s, err := Open(Options{Index: 3, Name: "events", Path: path, Raw: event.JSON})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// read polls to the end and returns "line:text" of each record.
func read(t testing.TB, s *Source) []string {
	t.Helper()
	var got []string
	for {
		b := &event.Bundle{Heap: new(event.Heap)}
		ok, err := s.Poll(t.Context(), time.Minute, b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return got
		}
		if len(b.Keys) != b.Len() || len(b.Values) != b.Len() || len(b.Marks) != b.Len() || len(b.Ops) != b.Len() || b.Len() > event.BundleRows {
			t.Fatal("arrays of different lengths, or too long")
		}
		for i, o := range b.Origins {
			if o.Source != 3 || b.Keys[i].Kind != event.Null || b.Values[i].Kind != event.JSON {
				t.Fatalf("row %+v", o)
			}
			got = append(got, fmt.Sprintf("%d:%s", o.Offset, b.Values[i].Bytes(b.Heap)))
		}
	}
}

func TestSource(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
		end  int64
	}{
		"lines":            {"{\"a\":1}\n[2]\n", []string{`1:{"a":1}`, "2:[2]"}, 3},
		"no last line end": {"1\n2", []string{"1:1", "2:2"}, 3},
		"blank lines":      {"\n1\n \n\n2\n\n", []string{"2:1", "5:2"}, 7},
		"windows":          {"\xef\xbb\xbf1\r\n2\r\n", []string{"1:1", "2:2"}, 3},
		"empty":            {"", nil, 1},
		"not json":         {"{\n", []string{"1:{"}, 2}, // that is the decoder's business
		"long":             {strings.Repeat("x", 300<<10) + "\n1\n", []string{"1:" + strings.Repeat("x", 300<<10), "2:1"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, write(t, tc.text))
			if st := s.Partitions(nil)[0]; st.Ended || st.Position != 1 {
				t.Errorf("at first: %+v", st)
			}
			if d := cmp.Diff(tc.want, read(t, s)); d != "" {
				t.Error(d)
			}
			st := s.Partitions(nil)[0]
			if !st.Ended || !st.CaughtUp || st.Position != tc.end || st.End != tc.end || st.Source != 3 {
				t.Errorf("at the end: %+v", st)
			}
		})
	}
}

// A file of many lines comes in full bundles; the timestamp is the file's.
func TestSource_bundles(t *testing.T) {
	path := write(t, strings.Repeat("{\"n\":1}\n", 10000))
	stamp := time.UnixMilli(1_700_000_000_000)
	if err := os.Chtimes(path, stamp, stamp); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	var sizes []int
	for {
		b := &event.Bundle{Heap: new(event.Heap)}
		ok, err := s.Poll(t.Context(), 0, b)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		sizes = append(sizes, b.Len())
		if b.Origins[0].Timestamp != event.TimeOf(stamp) {
			t.Errorf("timestamp %v", b.Origins[0].Timestamp)
		}
	}
	if d := cmp.Diff([]int{4096, 4096, 1808}, sizes); d != "" {
		t.Error(d)
	}
}

func TestSource_tooLong(t *testing.T) {
	s := open(t, write(t, "1\n"+strings.Repeat("x", MaxLine+10)+"\n"))
	b := &event.Bundle{Heap: new(event.Heap)}
	_, err := s.Poll(t.Context(), 0, b)
	if err == nil || !strings.Contains(err.Error(), "line 2 is longer than") || !strings.Contains(err.Error(), `source "events"`) {
		t.Error(err)
	}
}

// A source goes on at any position: what comes after it is what the whole file has after it.
func TestSource_seek(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"1", "", "{}", "  ", "[1,2]"}), 0, 20).Draw(r, "lines")
		path := write(t, strings.Join(lines, "\n"))
		s := open(t, path)
		all := read(t, s)
		end := s.Partitions(nil)[0].Position
		at := rapid.Int64Range(1, end).Draw(r, "at")
		if err := s.Seek(t.Context(), []engine.Offset{{Partition: s.partition(), Offset: at}}); err != nil {
			r.Fatal(err)
		}
		var want []string
		for _, rec := range all {
			var n int64
			_, _ = fmt.Sscanf(rec, "%d:", &n)
			if n >= at {
				want = append(want, rec)
			}
		}
		if d := cmp.Diff(want, read(t, s)); d != "" {
			r.Fatal(d)
		}
		if err := s.Seek(t.Context(), []engine.Offset{{Partition: s.partition(), Offset: end + 1}}); err == nil {
			r.Fatal("a position after the end")
		}
	})
}

func TestSource_pause(t *testing.T) {
	s := open(t, write(t, "1\n"))
	s.Pause(s.partition(), true)
	if got := read(t, s); len(got) != 0 || s.Partitions(nil)[0].Ended {
		t.Errorf("held back and got %v", got)
	}
	s.Pause(s.partition(), false)
	if got := read(t, s); len(got) != 1 {
		t.Error(got)
	}
}

func TestOpen_errors(t *testing.T) {
	for path, want := range map[string]string{
		"nowhere.jsonl": "nowhere.jsonl does not exist",
		".":             "is a folder",
	} {
		_, err := Open(Options{Name: "events", Path: path})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `source "events"`) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := Create("out", filepath.Join(t.TempDir(), "no", "file"), Values); err == nil || !strings.Contains(err.Error(), `sink "out"`) {
		t.Error(err)
	}
}

func TestSink(t *testing.T) {
	recs := []engine.Record{
		{Key: []byte("a"), Value: []byte(`{"n":12345678901234567890.5}`), Timestamp: 7, Headers: []engine.RecordHeader{{Key: "x", Value: []byte("1")}, {Key: "x"}, {Key: "y", Value: []byte{}}}},
		{Value: nil, Timestamp: event.MaxTime},
		{Key: []byte{}, Value: []byte("plain text"), Timestamp: -1},
		{Key: []byte{0xff}, Value: []byte("[1,\n 2]"), Timestamp: math.MinInt64},
		{Key: []byte(`["a",1,2]`), Value: []byte{0xff, 0}, Timestamp: 0},
	}
	for form, want := range map[Form]string{
		Values: `{"n":12345678901234567890.5}
null
"plain text"
[1, 2]
{"base64":"/wA="}
`,
		Records: `{"key":"a","value":{"n":12345678901234567890.5},"timestamp":7,"headers":[["x","1"],["x",null],["y",""]]}
{"key":null,"value":null}
{"key":"","value":"plain text","timestamp":-1}
{"key":{"base64":"/w=="},"value":[1, 2]}
{"key":["a",1,2],"value":{"base64":"/wA="},"timestamp":0}
`,
		Texts: `{"n":12345678901234567890.5}

plain text
"[1,\n 2]"
{"base64":"/wA="}
`,
	} {
		var out bytes.Buffer
		s := NewSink(&out, form)
		if err := s.Write(t.Context(), recs); err != nil {
			t.Fatal(err)
		}
		if out.Len() != 0 {
			t.Error("written before the flush")
		}
		if err := s.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, out.String()); d != "" {
			t.Error(d)
		}
	}
}

// A file is appended to, and what Flush has seen is in it; a source reads it again.
func TestSink_file(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	for i := range 2 {
		s, err := Create("out", path, Values)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(t.Context(), []engine.Record{{Value: fmt.Appendf(nil, "%d", i)}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"1:0", "2:1"}, read(t, open(t, path))); d != "" {
		t.Error(d)
	}
	s, err := Create("out", os.DevNull, Values) // cannot be synced
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
