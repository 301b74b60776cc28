package scenario

import (
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/config"
)

// drawRows draws rows of a few keys and what is expected of them: all that was drawn, in any order that keeps each key's.
func drawRows(t *rapid.T) (got []row, ws []want) {
	for range rapid.IntRange(0, 12).Draw(t, "rows") {
		got = append(got, row{
			key:   strconv.Itoa(rapid.IntRange(0, 2).Draw(t, "key")),
			value: strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "value")),
		})
	}
	left := slices.Clone(got)
	for len(left) > 0 {
		k := left[rapid.IntRange(0, len(left)-1).Draw(t, "next")].key
		i := slices.IndexFunc(left, func(r row) bool { return r.key == k })
		w := want{ExpectedRow: &config.ExpectedRow{}, value: left[i].value}
		if rapid.Bool().Draw(t, "named") {
			w.key = k
		}
		ws = append(ws, w)
		left = slices.Delete(left, i, i+1)
	}
	return got, ws
}

// TestCompare_anyOrderOfKeys: what came is what is expected, however the keys are mixed.
func TestCompare_anyOrderOfKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got, ws := drawRows(t)
		if v := compare(ws, got); !v.good() {
			t.Fatalf("%v and %v: %+v", got, ws, v)
		}
	})
}

// TestCompare_wrong: a row more, a row less, and another value are each found.
func TestCompare_wrong(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got, ws := drawRows(t)
		got = append(got, row{key: "0", value: "9"})
		if v := compare(ws, got); len(v.extra) != 1 || v.extra[0] != len(got)-1 || len(v.missing) != 0 {
			t.Fatalf("a row more: %+v", v)
		}
		ws = append(ws, want{ExpectedRow: &config.ExpectedRow{}, key: "0", value: "8"})
		if v := compare(ws, got); len(v.extra) != 1 || len(v.missing) != 1 || v.missing[0] != len(ws)-1 {
			t.Fatalf("another value: %+v", v)
		}
		if v := compare(ws, got[:len(got)-1]); len(v.extra) != 0 || len(v.missing) != 1 {
			t.Fatalf("a row less: %+v", v)
		}
	})
}

// TestCompare_order: two rows of one key must come as they are expected.
func TestCompare_order(t *testing.T) {
	got := []row{{key: "a", value: "1"}, {key: "b", value: "5"}, {key: "a", value: "2"}}
	w := func(key, value string) want {
		return want{ExpectedRow: &config.ExpectedRow{}, key: key, value: value}
	}
	if v := compare([]want{w("a", "2"), w("a", "1"), w("b", "5")}, got); !v.order {
		t.Errorf("the wrong order of key a is not seen: %+v", v)
	}
	if v := compare([]want{w("", "2"), w("", "1"), w("", "5")}, got); !v.order {
		t.Errorf("the wrong order of a key that is not named is not seen: %+v", v)
	}
	// Both rows fit the first expectation; only one choice lets the second have one.
	two := []row{{key: "a", value: "1"}, {key: "b", value: "1"}, {key: "b", value: "2"}}
	if v := compare([]want{w("", "1"), w("b", "2"), w("a", "1")}, two); !v.good() {
		t.Errorf("the right choice is not found: %+v", v)
	}
}

// TestCompare_many: a long file with a mistake in it is compared in time, and the mistake is named.
func TestCompare_many(t *testing.T) {
	var got []row
	var ws []want
	for i := range 20_000 {
		got = append(got, row{key: "a", value: strconv.Itoa(i)})
		ws = append(ws, want{ExpectedRow: &config.ExpectedRow{}, value: strconv.Itoa(i)})
	}
	if v := compare(ws, got); !v.good() {
		t.Fatalf("equal rows: %+v", v)
	}
	got[15_000].value = "x"
	if v := compare(ws, got); !slices.Equal(v.missing, []int{15_000}) || !slices.Equal(v.extra, []int{15_000}) {
		t.Errorf("got %+v", v)
	}
}
