package statestore_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
)

// A Resident gives what the store below gives, whether its rows fit, stop fitting, or never did.
func TestResident_sameAsStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		store := memstore.New()
		r := statestore.NewResident(store, rapid.SampledFrom([]int{500, 20_000, 1 << 20}).Draw(t, "budget"))
		if err := r.Load(); err != nil {
			t.Fatal(err)
		}
		key := func() []byte { return fmt.Appendf(nil, "k%02d", rapid.IntRange(0, 60).Draw(t, "key")) }
		overlay := statestore.NewOverlay(r)
		for range rapid.IntRange(1, 12).Draw(t, "epochs") {
			for range rapid.IntRange(0, 20).Draw(t, "writes") {
				var err error
				switch rapid.IntRange(0, 5).Draw(t, "what") {
				case 0:
					err = overlay.Delete(key())
				case 1:
					err = overlay.DeleteRange(key(), key())
				default:
					err = overlay.Put(key(), make([]byte, rapid.IntRange(0, 300).Draw(t, "size")))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := store.Apply([]byte("c"), false, overlay); err != nil {
				t.Fatal(err)
			}
			if err := r.Absorb(overlay); err != nil {
				t.Fatal(err)
			}
			overlay.Reset(r)
			if got, want := rows(t, r), rows(t, store); got != want {
				t.Fatalf("resident has\n%s\nthe store\n%s", got, want)
			}
			k := key()
			got, ok, err := r.Get(k)
			want, wok, werr := store.Get(k)
			if err != nil || werr != nil || ok != wok || string(got) != string(want) {
				t.Fatalf("Get(%s): %q %v %v, want %q %v %v", k, got, ok, err, want, wok, werr)
			}
		}
	})
}

func rows(t *rapid.T, r statestore.Reader) string {
	it, err := r.Scan([]byte("a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = it.Close() }()
	s := ""
	for it.Next() {
		s += fmt.Sprintf("%s=%d ", it.Key(), len(it.Value()))
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return s
}
