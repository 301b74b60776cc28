package storetest

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/wgate/wgate/statestore"
)

// systemRows checks that system rows are kept, synced, and out of reach of the rows.
func systemRows(t *testing.T, dev Device) {
	s := mustOpen(t, dev)
	expect(t, s, statestore.MetaRow, "", false)
	meta := `{"format":1,"instance":"i"}`
	check(t, s.WriteMeta([]byte(meta)))
	check(t, s.WritePending([]byte("pending")))
	check(t, dev.Crash(rand.New(rand.NewPCG(1, 2))))
	s = mustOpen(t, dev)
	expect(t, s, statestore.MetaRow, meta, true)
	expect(t, s, statestore.PendingRow, "pending", true)
	has, err := s.HasRows()
	check(t, err)
	if has {
		t.Fatal("system rows count as rows")
	}
	o := statestore.NewOverlay(s)
	if err := o.Put([]byte("\xFF\xFFx"), nil); !errors.Is(err, statestore.ErrReserved) {
		t.Fatalf("a write to the store's own rows gives %v", err)
	}
	if err := o.DeleteRange(nil, []byte("\xFF\xFF\x02")); !errors.Is(err, statestore.ErrReserved) {
		t.Fatalf("a deletion of the store's own rows gives %v", err)
	}
	check(t, o.DeleteRange(nil, nil))
	check(t, o.Put([]byte("\xFF\xFE"), []byte("last")))
	check(t, s.Apply([]byte("one"), true, o))
	expect(t, s, statestore.MetaRow, meta, true)
	expect(t, s, statestore.CommittedRow, "one", true)
	expect(t, s, statestore.PendingRow, "", false)
	if has, err = s.HasRows(); err != nil || !has {
		t.Fatalf("HasRows = %v, %v", has, err)
	}
	check(t, s.WritePending([]byte("two")))
	check(t, s.DropPending())
	expect(t, s, statestore.PendingRow, "", false)
	check(t, s.Close())
}

// redo checks that an unsynced Apply that a crash took away can be made again from its Pending row.
func redo(t *testing.T, dev Device) {
	s := mustOpen(t, dev)
	o := statestore.NewOverlay(s)
	check(t, o.Put([]byte("gone"), []byte("1")))
	check(t, s.Apply([]byte("one"), true, o))
	o.Reset(s)
	check(t, o.DeleteRange([]byte("g"), []byte("h")))
	check(t, o.Put([]byte("key"), []byte("2")))
	enc, err := statestore.AppendBatch(nil, o)
	check(t, err)
	check(t, s.WritePending(enc))
	check(t, s.Apply([]byte("two"), false, o))
	check(t, dev.Crash(rand.New(rand.NewPCG(3, 4))))
	s = mustOpen(t, dev)
	pending, ok, err := s.System(statestore.PendingRow)
	check(t, err)
	if ok {
		b, err := statestore.DecodeBatch(pending)
		check(t, err)
		check(t, s.Apply([]byte("two"), false, b))
	}
	expect(t, s, statestore.CommittedRow, "two", true)
	for key, want := range map[string]bool{"gone": false, "key": true} {
		if _, ok, err := s.Get([]byte(key)); err != nil || ok != want {
			t.Fatalf("after the redo, get %q = %v, %v", key, ok, err)
		}
	}
	check(t, s.Close())
}

func mustOpen(t *testing.T, dev Device) statestore.Store {
	t.Helper()
	s, err := dev.Open()
	check(t, err)
	return s
}

func expect(t *testing.T, s statestore.Store, r statestore.SystemRow, want string, wantOK bool) {
	t.Helper()
	got, ok, err := s.System(r)
	if err != nil || ok != wantOK || string(got) != want {
		t.Fatalf("system row %d = %q, %v, %v; want %q, %v", r, got, ok, err, want, wantOK)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
