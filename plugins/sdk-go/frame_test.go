package wgate

import (
	"bytes"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

var rewrite = flag.Bool("rewrite", false, "write the golden output frame anew")

// TestLayouts compares the structs with the layouts of the ABI.
func TestLayouts(t *testing.T) {
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"header", unsafe.Sizeof(frameHeader{}), sizeHeader},
		{"header now", unsafe.Offsetof(frameHeader{}.now), atHeaderNow},
		{"header cursor", unsafe.Offsetof(frameHeader{}.cursor), atHeaderCursor},
		{"entry", unsafe.Sizeof(sectionEntry{}), sizeEntry},
		{"key", unsafe.Sizeof(keyRow{}), sizeKey},
		{"window", unsafe.Sizeof(windowRow{}), sizeWindow},
		{"row", unsafe.Sizeof(inRow{}), sizeRow},
		{"row form", unsafe.Offsetof(inRow{}.form), atRowForm},
		{"row time", unsafe.Offsetof(inRow{}.time), atRowTime},
		{"row origin", unsafe.Offsetof(inRow{}.origin), atRowOrigin},
		{"head", unsafe.Sizeof(headRow{}), sizeHead},
		{"origin", unsafe.Sizeof(originRow{}), sizeOrigin},
		{"emit", unsafe.Sizeof(emitRow{}), sizeEmit},
		{"emit time", unsafe.Offsetof(emitRow{}.time), atEmitTime},
		{"emit headers", unsafe.Offsetof(emitRow{}.headers), atEmitHeaders},
		{"emit form", unsafe.Offsetof(emitRow{}.form), atEmitForm},
		{"fail", unsafe.Sizeof(failRow{}), sizeFail},
		{"sample", unsafe.Sizeof(sampleRow{}), sizeSample},
		{"line", unsafe.Sizeof(lineRow{}), sizeLine},
		{"open", unsafe.Sizeof(openRow{}), sizeOpenRow},
		{"acc", unsafe.Sizeof(accRow{}), sizeAcc},
		{"step", unsafe.Sizeof(stepRow{}), sizeStep},
		{"value", unsafe.Sizeof(valueRow{}), sizeValue},
		{"value float", unsafe.Offsetof(valueRow{}.float), atValueFloat},
		{"grown", unsafe.Sizeof(grownRow{}), sizeGrown},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, the ABI says %d", c.name, c.got, c.want)
		}
	}
}

// vectors is where the golden frames are; they are not part of the module.
const vectors = "../../abi/testdata/vectors"

func readHex(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(vectors, name))
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// golden does a bit of everything.
func golden(e *Element, out *Emitter) {
	switch e.Index() {
	case 0:
		out.Keep()
		out.Emit(append([]byte("[1,"), append(e.Value(), ']')...)).Key([]byte("new")).Time(e.Time()+5).To(1).Header("h", []byte("v")).Header("n", nil)
	case 1:
		out.Fail("refused", "no "+string(e.Key()))
	case 2:
		o := out.Object()
		o.Int("n", -12).Bool("b", true).Null("z").Text("t", e.Value())
		o.Emit().KeyNull()
		out.Log(Warn, "line")
		out.Count("seen", 2)
	}
}

// TestGolden reads the golden input frame, which the host's test writes, and compares what golden makes of it with the
// golden output frame, which the host's test reads.
func TestGolden(t *testing.T) {
	g := guest{host: theHost{}}
	in := readHex(t, "input.hex")
	g.arena(arenaInput, uint32(len(in)))
	copy(g.frame(uint32(len(in))), in)
	if !g.in.take(g.frame(uint32(len(in)))) {
		t.Fatal("the golden input frame is refused")
	}
	g.el.in = &g.in
	g.out.reset(len(g.in.rows))
	if next := g.run(golden, 0); next != 3 {
		t.Fatalf("%d rows are done, want 3", next)
	}
	got := g.out.build(3, 3)
	if *rewrite {
		writeHex(t, "output.hex", got)
	}
	if want := readHex(t, "output.hex"); !bytes.Equal(got, want) {
		t.Errorf("output frame:\n%s\nwant:\n%s", hex.Dump(got), hex.Dump(want))
	}
	if w, c := g.in.head.mark, g.in.head.cursor; w != -10 || c != 2 {
		t.Errorf("watermark %d, cursor %d; want -10, 2", w, c)
	}
}

func writeHex(t testing.TB, name string, b []byte) {
	t.Helper()
	var text strings.Builder
	for i := 0; i < len(b); i += 32 {
		text.WriteString(hex.EncodeToString(b[i:min(i+32, len(b))]) + "\n")
	}
	if err := os.WriteFile(filepath.Join(vectors, name), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// FuzzInput calls a function with frames of any bytes: it must refuse or process them, not crash.
func FuzzInput(f *testing.F) {
	f.Add(readHex(f, "input.hex"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, frame []byte) {
		h, err := NewHarness("")
		if err != nil {
			t.Fatal(err)
		}
		if len(frame) > 4096 {
			return // a panic for each of many rows takes long, and shows nothing more
		}
		h.g.call(uint32(functionID("touch")), opProcess, h.load(frame))
		for _, out := range h.frames {
			if _, _, ok := sections(out, magicOutput); !ok {
				t.Fatal("the output frame is not sound")
			}
		}
	})
}
