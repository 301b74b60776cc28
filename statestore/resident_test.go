package statestore_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
)

var residentSpace = statestore.Space{Op: 3}

// residentKey draws the key of a cell of one of a few windows, or of a row that is in none.
func residentKey(t *rapid.T) []byte {
	key := fmt.Appendf(nil, "k%02d", rapid.IntRange(0, 20).Draw(t, "key"))
	group := byte(rapid.IntRange(0, 2).Draw(t, "group"))
	if rapid.IntRange(0, 3).Draw(t, "plain") == 0 {
		return residentSpace.Plain(nil, group, key, []byte{0})
	}
	return residentSpace.Window(nil, group, residentWindow(t), key, []byte{0})
}

func residentWindow(t *rapid.T) event.Window {
	end := event.Time(rapid.IntRange(1, 3).Draw(t, "end"))
	return event.Window{Start: end - 1, End: end}
}

func residentRange(t *rapid.T) (lo, hi []byte) {
	if rapid.IntRange(0, 3).Draw(t, "any range") == 0 {
		return residentKey(t), residentKey(t)
	}
	lo = residentSpace.WindowAll(nil, byte(rapid.IntRange(0, 2).Draw(t, "group")), residentWindow(t))
	return lo, statestore.PrefixEnd(nil, lo)
}

// A Resident gives what the store below gives, whether its rows fit, stop fitting, or never did.
func TestResident_sameAsStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := memstore.New()
		r := statestore.NewResident(store, rapid.SampledFrom([]int{500, 20_000, 1 << 20}).Draw(t, "budget"))
		if err := r.Load(); err != nil {
			t.Fatal(err)
		}
		overlay := statestore.NewOverlay(r)
		for range rapid.IntRange(1, 12).Draw(t, "epochs") {
			for range rapid.IntRange(0, 20).Draw(t, "writes") {
				var err error
				switch rapid.IntRange(0, 5).Draw(t, "what") {
				case 0:
					err = overlay.Delete(residentKey(t))
				case 1:
					err = overlay.DeleteRange(residentRange(t))
				default:
					err = overlay.Put(residentKey(t), make([]byte, rapid.IntRange(0, 300).Draw(t, "size")))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			compareResident(t, overlay, r, store)
		}
	})
}

// compareResident commits overlay and compares r with store, row by row and range by range.
func compareResident(t *rapid.T, overlay *statestore.Overlay, r *statestore.Resident, store *memstore.Store) {
	if rapid.Bool().Draw(t, "frozen") {
		overlay.Freeze()
	}
	if err := store.Apply([]byte("c"), false, overlay); err != nil {
		t.Fatal(err)
	}
	if err := r.Absorb(overlay); err != nil {
		t.Fatal(err)
	}
	overlay.Reset(r)
	for end := range event.Time(4) {
		for group := range byte(3) {
			lo := residentSpace.WindowAll(nil, group, event.Window{Start: end - 1, End: end})
			hi := statestore.PrefixEnd(nil, lo)
			want := rows(t, store, lo, hi)
			if got := rows(t, r, lo, hi); got != want {
				t.Fatalf("resident has\n%s\nthe store\n%s", got, want)
			}
			if got := rows(t, overlay, lo, hi); got != want {
				t.Fatalf("the overlay has\n%s\nthe store\n%s", got, want)
			}
		}
	}
	lo, hi := residentRange(t)
	if got, want := rows(t, r, lo, hi), rows(t, store, lo, hi); got != want {
		t.Fatalf("resident has\n%s\nthe store\n%s", got, want)
	}
	k := residentKey(t)
	got, ok, err := r.Get(k)
	want, wok, werr := store.Get(k)
	if err != nil || werr != nil || ok != wok || string(got) != string(want) {
		t.Fatalf("Get(%s): %q %v %v, want %q %v %v", k, got, ok, err, want, wok, werr)
	}
}

func rows(t *rapid.T, r statestore.Reader, lo, hi []byte) string {
	it, err := r.Scan(lo, hi)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = it.Close() }()
	s := ""
	for it.Next() {
		s += fmt.Sprintf("%x=%d ", it.Key(), len(it.Value()))
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return s
}
