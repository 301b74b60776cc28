package memstore_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
	"github.com/wgate/wgate/statestore/storetest"
)

type device struct{ s *memstore.Store }

func (d *device) Open() (statestore.Store, error) { return d.s, nil }

func (d *device) Crash(r *rand.Rand) error {
	d.s = d.s.Crash(r.IntN(d.s.Unsynced() + 2))
	return nil
}

func TestStore(t *testing.T) {
	storetest.Run(t, func() storetest.Device { return &device{memstore.New()} })
}

func TestFailedWriteChangesNothing(t *testing.T) {
	s := memstore.New()
	boom := errors.New("boom")
	s.FailWith(boom)
	o := statestore.NewOverlay(s)
	if err := o.Put([]byte("k"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply([]byte("one"), true, o); !errors.Is(err, boom) {
		t.Fatalf("apply = %v", err)
	}
	if has, err := s.HasRows(); has || err != nil {
		t.Fatalf("HasRows = %v, %v", has, err)
	}
}
