package commit

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/memstore"
)

func drawCommitted(t *rapid.T) Committed {
	c := Committed{Epoch: rapid.Uint64().Draw(t, "epoch"), Progress: rapid.SliceOf(rapid.Byte()).Draw(t, "progress")}
	copy(c.Token[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "token"))
	copy(c.Parent[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "parent"))
	part := rapid.Custom(func(t *rapid.T) Partition {
		return Partition{rapid.IntRange(-1, 3).Draw(t, "source"), rapid.String().Draw(t, "topic"), rapid.Int32Min(0).Draw(t, "id")}
	})
	c.Anchor = part.Draw(t, "anchor")
	for range rapid.IntRange(0, 4).Draw(t, "offsets") {
		c.Offsets = append(c.Offsets, Offset{Partition: part.Draw(t, "partition"), Offset: rapid.Int64().Draw(t, "offset"), LeaderEpoch: rapid.Int32Min(-1).Draw(t, "leader epoch")})
	}
	return c
}

func equalCommitted(a, b Committed) string {
	if len(a.Progress) == 0 && len(b.Progress) == 0 {
		a.Progress, b.Progress = nil, nil
	}
	return cmp.Diff(a, b)
}

func TestRowsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCommitted(t)
		back, err := DecodeCommitted(AppendCommitted(nil, c))
		if err != nil {
			t.Fatal(err)
		}
		if d := equalCommitted(c, back); d != "" {
			t.Fatal(d)
		}
		o := statestore.NewOverlay(memstore.New())
		if err := o.Put([]byte("k"), []byte("v")); err != nil {
			t.Fatal(err)
		}
		row, err := AppendPending([]byte("x"), c, o, o)
		if err != nil {
			t.Fatal(err)
		}
		p, err := DecodePending(row[1:])
		if err != nil {
			t.Fatal(err)
		}
		if d := equalCommitted(c, p.Committed); d != "" || len(p.Batches) != 2 {
			t.Fatalf("%d batches\n%s", len(p.Batches), d)
		}
		i := rapid.IntRange(1, len(row)-1).Draw(t, "changed byte")
		row[i] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		if _, err := DecodePending(row[1:]); err == nil {
			t.Fatalf("byte %d changed and not seen", i)
		}
	})
}

func TestWitness(t *testing.T) {
	w := Witness{Token: token("A"), Epoch: 7, Position: -1, LeaderEpoch: -1}
	s := EncodeWitness(w)
	if len(s) > 64 {
		t.Errorf("metadata has %d bytes", len(s))
	}
	if got, err := DecodeWitness(s); err != nil || got != w {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", "x", "wg1:", s[:len(s)-1], s + "A", "wg2:" + s[4:], EncodeWitness(Witness{})} {
		if _, err := DecodeWitness(bad); !errors.Is(err, ErrForeign) {
			t.Errorf("DecodeWitness(%q) = %v", bad, err)
		}
	}
}

func TestEveryCodeSaysWhatToDo(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Codes() {
		s := NewStop(c.Code, "pipe", "", nil)
		if seen[c.Code] || s.Cause == "" || s.Next == "" || !bytes.Contains([]byte(s.Next), []byte("pipe")) {
			t.Errorf("%s: %v", c.Code, s)
		}
		seen[c.Code] = true
	}
	for err, code := range map[error]string{
		statestore.ErrInUse: CodeInUse, statestore.ErrNewer: CodeNewer, statestore.ErrCorrupt: CodeCorrupt,
		statestore.ErrBatch: CodeCorrupt, errors.New("EIO"): CodeDisk,
	} {
		if s := StoreStop("p", err); s.Code != code || !errors.Is(s, err) {
			t.Errorf("StoreStop(%v) = %v", err, s)
		}
	}
}

func TestThisBuildHasAllGuards(t *testing.T) {
	if Weakened() != (builtWithoutRedo || builtWithoutToken) || New(Config{}).cfg.Unguarded != (Guards{builtWithoutRedo, builtWithoutToken}) {
		t.Error("a machine does not have the guards that the build has")
	}
}

func FuzzDecodePending(f *testing.F) {
	row, err := AppendPending(nil, Committed{Token: token("A"), Offsets: offsets([]string{"t/0=5"})}, statestore.NewOverlay(memstore.New()))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(row)
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodePending(sealed(b))
		if err != nil {
			return
		}
		again, err := AppendPending(nil, p.Committed, writes(p.Batches)...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodePending(again); err != nil {
			t.Fatal(err)
		}
	})
}

func writes(bs []statestore.Batch) []statestore.Writes {
	var out []statestore.Writes
	for _, b := range bs {
		out = append(out, b)
	}
	return out
}

// sealed gives b a valid check sum: what is behind it must hold alone.
func sealed(b []byte) []byte {
	if len(b) < 4 {
		return b
	}
	b = bytes.Clone(b[:len(b)-4])
	s := statestore.Checksum(b)
	return append(b, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
}

func FuzzDecodeCommitted(f *testing.F) {
	f.Add(AppendCommitted(nil, Committed{Token: token("A"), Offsets: offsets([]string{"t/0=5", "t/1=6"}), Progress: []byte("p")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := DecodeCommitted(sealed(b))
		if err != nil {
			return
		}
		back, err := DecodeCommitted(AppendCommitted(nil, c))
		if err != nil {
			t.Fatal(err)
		}
		if d := equalCommitted(c, back); d != "" {
			t.Fatal(d)
		}
	})
}

func FuzzDecodeWitness(f *testing.F) {
	f.Add(EncodeWitness(Witness{Token: token("A"), Epoch: 7, Position: -1, LeaderEpoch: -1}))
	f.Fuzz(func(t *testing.T, s string) {
		w, err := DecodeWitness(s)
		if err == nil && EncodeWitness(w) != s {
			t.Fatalf("%q is read as %+v, which is written %q", s, w, EncodeWitness(w))
		}
	})
}
