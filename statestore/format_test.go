package statestore

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nothing is a Reader without rows.
type nothing struct{}

func (nothing) Get([]byte) ([]byte, bool, error)   { return nil, false, nil }
func (nothing) Scan(_, _ []byte) (Iterator, error) { return nothing{}, nil }
func (nothing) Next() bool                         { return false }
func (nothing) Key() []byte                        { return nil }
func (nothing) Value() []byte                      { return nil }
func (nothing) Err() error                         { return nil }
func (nothing) Close() error                       { return nil }

func mustBatch(tb testing.TB) []byte {
	tb.Helper()
	o := NewOverlay(nothing{})
	for _, err := range []error{
		o.Put([]byte("k1"), []byte("v")), o.Put([]byte("k2"), nil), o.Delete([]byte("x")),
		o.DeleteRange([]byte("a"), []byte("c")), o.DeleteRange([]byte("y"), nil),
	} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	b, err := AppendBatch([]byte("before"), o)
	if err != nil {
		tb.Fatal(err)
	}
	return b[len("before"):]
}

func TestBatchRefusesEveryChange(t *testing.T) {
	b := mustBatch(t)
	if _, err := DecodeBatch(b); err != nil {
		t.Fatal(err)
	}
	for i := range b {
		bad := bytes.Clone(b)
		bad[i] ^= 0x40
		if _, err := DecodeBatch(bad); !errors.Is(err, ErrBatch) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if _, err := DecodeBatch(b[:i]); !errors.Is(err, ErrBatch) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
}

func FuzzDecodeBatch(f *testing.F) {
	f.Add(mustBatch(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= 4 { // give the fuzzer a valid check sum: what is behind it must hold alone
			b = appendSum(bytes.Clone(b[:len(b)-4]))
		}
		batch, err := DecodeBatch(b)
		if err != nil {
			return
		}
		if err := batch.Ranges(func(lo, hi []byte) error {
			if compare(lo, hi) >= 0 {
				t.Fatalf("an empty range [%x, %x)", lo, hi)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := batch.Rows(func(key, val []byte, del bool) error {
			if Reserved(key) || del && len(val) > 0 {
				t.Fatalf("row %x of %d bytes, deleted %v", key, len(val), del)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	})
}

func appendSum(b []byte) []byte {
	s := Checksum(b)
	return append(b, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
}

func TestAssignOperators(t *testing.T) {
	m, changed, err := Meta{}.AssignOperators([]string{"sums", "names"})
	if err != nil || !changed {
		t.Fatal(changed, err)
	}
	if _, changed, _ = m.AssignOperators([]string{"names", "sums"}); changed {
		t.Error("another order changes numbers")
	}
	m, _, err = m.AssignOperators([]string{"names", "new"})
	if err != nil {
		t.Fatal(err)
	}
	m, _, err = m.AssignOperators([]string{"names", "new", "sums"})
	if err != nil {
		t.Fatal(err)
	}
	// A name that comes back gets a new number: the rows under its old one are of another life.
	want := []Operator{{"sums", 0, true}, {"names", 1, false}, {"new", 2, false}, {"sums", 3, false}}
	if d := cmp.Diff(want, m.Ops); d != "" {
		t.Error(d)
	}
	if id, ok := m.OperatorID("sums"); id != 3 || !ok {
		t.Errorf("sums has number %d, %v", id, ok)
	}
}

func TestDecodeMeta(t *testing.T) {
	b, err := AppendMeta(nil, Meta{Instance: "i", Topics: []Topic{{"t", "id", 3}}})
	if err != nil {
		t.Fatal(err)
	}
	m, err := DecodeMeta(b)
	if err != nil || m.Format != FormatVersion || m.Instance != "i" || len(m.Topics) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	for in, want := range map[string]error{`{"format":2}`: ErrNewer, `{}`: ErrCorrupt, `{`: ErrCorrupt, ``: ErrCorrupt} {
		if _, err := DecodeMeta([]byte(in)); !errors.Is(err, want) {
			t.Errorf("DecodeMeta(%q) = %v, want %v", in, err, want)
		}
	}
}

func TestOverlayReusesItsMemory(t *testing.T) {
	o := NewOverlay(nothing{})
	key, val := make([]byte, 20), make([]byte, 40)
	epoch := func() {
		for i := range 2000 {
			key[0], key[1] = byte(i), byte(i>>8)
			if err := o.Put(key, val); err != nil {
				t.Fatal(err)
			}
		}
		o.Reset(nothing{})
	}
	epoch()
	if n := testing.AllocsPerRun(5, epoch); n > 0 {
		t.Errorf("an epoch like the one before allocates %v times", n)
	}
	if o.Size() != 0 || o.Len() != 0 {
		t.Errorf("after a reset the size is %d and the length %d", o.Size(), o.Len())
	}
}

func TestOverlaySizeGrowsWithWrites(t *testing.T) {
	o := NewOverlay(nothing{})
	if err := o.Put([]byte("k"), make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	if n := o.Size(); n < 1000 || n > 1200 {
		t.Errorf("one row of 1,001 bytes counts %d", n)
	}
	// The same row again in the same room is not more memory.
	before := o.Size()
	for range 100 {
		if err := o.Put([]byte("k"), make([]byte, 900)); err != nil {
			t.Fatal(err)
		}
	}
	if o.Size() != before {
		t.Errorf("writing a row again lets the size grow from %d to %d", before, o.Size())
	}
}
