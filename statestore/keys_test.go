package statestore

import (
	"bytes"
	"cmp"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

var (
	anyKey  = rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'a', 0xFE, 0xFF}), 0, 5)
	anyTime = rapid.OneOf(rapid.Int64Range(-3, 3), rapid.SampledFrom([]int64{int64(event.MinTime), int64(event.MaxTime), int64(event.MaxTime) - 1}))
)

// drawRow draws the parts of a key of any kind.
func drawRow(t *rapid.T) Row {
	r := Row{Space: Space{Task: rapid.Uint16Range(0, 2).Draw(t, "task"), Op: rapid.Uint16Range(0, 2).Draw(t, "op")}}
	r.Kind = rapid.SampledFrom([]Kind{WindowRow, SessionRow, PlainRow, TimerRow}).Draw(t, "kind")
	r.Group = rapid.ByteRange(0, 2).Draw(t, "group")
	r.Key, r.Cell = anyKey.Draw(t, "key"), anyKey.Draw(t, "cell")
	tm := func(name string) event.Time { return event.Time(anyTime.Draw(t, name)) }
	switch r.Kind {
	case SessionRow:
		r.Segment = int64(tm("segment"))
		fallthrough
	case WindowRow:
		r.Window = event.Window{Start: tm("start"), End: tm("end")}
	case TimerRow:
		r.Domain, r.Time = rapid.ByteRange(0, 2).Draw(t, "domain"), tm("time")
	}
	return r
}

func encodeRow(r Row) []byte {
	switch r.Kind {
	case WindowRow:
		return r.Space.Window(nil, r.Group, r.Window, r.Key, r.Cell)
	case SessionRow:
		return r.Session(nil, r.Group, r.Segment, r.Key, r.Window, r.Cell)
	case TimerRow:
		return r.Timer(nil, r.Group, r.Domain, r.Time, r.Key, r.Cell)
	}
	return r.Plain(nil, r.Group, r.Key, r.Cell)
}

// compareRows orders rows by their parts, as the layout promises for their bytes.
func compareRows(a, b Row) int {
	c := cmp.Or(cmp.Compare(a.Task, b.Task), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group))
	if c != 0 {
		return c
	}
	key, cell := bytes.Compare(a.Key, b.Key), bytes.Compare(a.Cell, b.Cell)
	end, start := cmp.Compare(a.Window.End, b.Window.End), cmp.Compare(a.Window.Start, b.Window.Start)
	switch a.Kind {
	case WindowRow:
		return cmp.Or(end, start, key, cell)
	case SessionRow:
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), key, end, start, cell)
	case TimerRow:
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Time, b.Time), key, cell)
	}
	return cmp.Or(key, cell)
}

func TestRowsSortAsTheirParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawRow(t), drawRow(t)
		if got, want := bytes.Compare(encodeRow(a), encodeRow(b)), compareRows(a, b); got != want {
			t.Fatalf("bytes compare to %d, parts to %d", got, want)
		}
		var back Row
		for range 2 { // a Row is used again
			if err := back.Parse(encodeRow(a)); err != nil {
				t.Fatal(err)
			}
			if compareRows(back, a) != 0 {
				t.Fatalf("parsed %+v, want %+v", back, a)
			}
		}
	})
}

func TestRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, until := drawRow(t), event.Time(anyTime.Draw(t, "until"))
		s, group := Space{Task: 1, Op: 1}, byte(1)
		in := func(lo, hi []byte) bool {
			k := encodeRow(r)
			return bytes.Compare(k, lo) >= 0 && (hi == nil || bytes.Compare(k, hi) < 0)
		}
		here := r.Space == s && r.Group == group
		lo, hi := s.WindowsUntil(nil, nil, group, until)
		if got, want := in(lo, hi), here && r.Kind == WindowRow && r.Window.End <= until; got != want {
			t.Fatalf("WindowsUntil(%v) holds %+v: %v, want %v", until, r, got, want)
		}
		lo, hi = s.TimersUntil([]byte("x"), []byte("y"), group, 2, until)
		if got, want := in(lo[1:], hi[1:]), here && r.Kind == TimerRow && r.Domain == 2 && r.Time <= until; got != want {
			t.Fatalf("TimersUntil(%v) holds %+v: %v, want %v", until, r, got, want)
		}
		lo = s.Prefix(nil)
		if got := in(lo, PrefixEnd(nil, lo)); got != (r.Space == s) {
			t.Fatalf("the operator's prefix holds %+v: %v", r, got)
		}
		other := anyKey.Draw(t, "other key")
		lo = s.Plain(nil, group, other, nil)
		if got, want := in(lo, PrefixEnd(nil, lo)), here && r.Kind == PlainRow && bytes.Equal(r.Key, other); got != want {
			t.Fatalf("the prefix of key %q holds %+v: %v, want %v", other, r, got, want)
		}
	})
}

func TestPrefixEnd(t *testing.T) {
	for in, want := range map[string]string{"": "", "\xFF\xFF": "", "a": "b", "a\xFF": "b", "a\x00": "a\x01"} {
		if got := PrefixEnd(nil, []byte(in)); string(got) != want || (got == nil) != (want == "") {
			t.Errorf("PrefixEnd(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestKeyGroupIsFixed(t *testing.T) {
	// The group of a key is part of the layout: these numbers must never change.
	for key, want := range map[string]byte{"": 25, "a": 91} {
		if got := KeyGroup([]byte(key)); got != want {
			t.Errorf("KeyGroup(%q) = %d, want %d", key, got, want)
		}
	}
}

func FuzzRowParse(f *testing.F) {
	s := Space{1, 2}
	f.Add(s.Window(nil, 3, event.Window{Start: 4, End: 5}, []byte("a\x00b"), []byte{6}))
	f.Add(s.Session(nil, 3, 7, []byte("k"), event.Window{Start: 4, End: 5}, nil))
	f.Add(s.Timer(nil, 3, 1, 9, []byte("k"), []byte("id")))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Row
		if err := r.Parse(b); err != nil {
			if !errors.Is(err, ErrKey) {
				t.Fatal(err)
			}
			return
		}
		if got := encodeRow(r); !bytes.Equal(got, b) {
			t.Fatalf("parsed and written again, %x becomes %x", b, got)
		}
	})
}
