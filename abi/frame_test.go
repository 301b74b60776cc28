package abi

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
)

var rewrite = flag.Bool("rewrite", false, "write the golden input frame anew")

func readHex(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// goldenBundle has three rows: with text, null and numbers as keys, JSON, text and bytes as values, windows, headers.
func goldenBundle() *event.Bundle {
	h := &event.Heap{}
	str := func(k event.Kind, s string) event.Value { return event.HeapValue(k, h.PutString(s)) }
	return &event.Bundle{
		Heap:    h,
		Times:   []event.Time{100, 200, 300},
		Marks:   []event.Time{-10, 0, 5},
		Ops:     []event.Op{event.Insert, event.Insert, event.Retract},
		Keys:    []event.Value{str(event.String, "k0"), str(event.JSON, `["k",1]`), event.IntValue(7)},
		Values:  []event.Value{str(event.JSON, `{"a":1}`), event.NullValue(), str(event.String, "te\"xt")},
		Windows: []event.Window{{Start: 0, End: 250}, {Start: 0, End: 250}, {Start: 250, End: 500}},
		Panes:   []event.Pane{{Timing: event.Early, First: true}, {Timing: event.OnTime}, {Timing: event.Late, Last: true}},
		Origins: []event.Origin{{Source: 1, Topic: 2, Partition: 3, Offset: 4, Timestamp: 5}, {}, {Offset: 6}},
		Heads:   []event.HeadSpan{{Start: 0, End: 2}, {Start: 2, End: 2}, {Start: 2, End: 3}},
		Headers: []event.Header{
			{Key: h.PutString("h1"), Value: h.PutString("v1")},
			{Key: h.PutString("h1"), Value: event.NullRef},
			{Key: h.PutString("h2"), Value: h.PutString("")},
		},
	}
}

// TestGoldenInput compares an input frame with the golden one, which the SDK's test reads.
func TestGoldenInput(t *testing.T) {
	var w Writer
	frame := make([]byte, w.Prepare(goldenBundle()))
	w.Write(frame, Call{Fn: 1, Op: OpProcess, Epoch: 2, Bundle: 3, Now: 4})
	if *rewrite {
		var text strings.Builder
		for i := 0; i < len(frame); i += 32 {
			text.WriteString(hex.EncodeToString(frame[i:min(i+32, len(frame))]) + "\n")
		}
		if err := os.WriteFile(filepath.Join("testdata", "vectors", "input.hex"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(hex.Dump(readHex(t, "input.hex")), hex.Dump(frame)); d != "" {
		t.Error(d)
	}
}

// TestGoldenOutput reads the frame that the SDK's test compares its output with.
func TestGoldenOutput(t *testing.T) {
	var r Reader
	r.Begin(3, 1)
	o, err := r.Check(readHex(t, "output.hex"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	add := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
	add("done %d kept %v", o.Done, o.AppendKept(nil))
	for i := range o.Emits() {
		e := o.Emit(i)
		add("emit %d tag %d time %d key %d %q value %d %s", e.Row, e.Tag, e.Time, e.Key.Form, o.bytes(e.Key), e.Value.Form, o.bytes(e.Value))
		for j := e.Head; j < e.Tail; j++ {
			n, v := o.Header(int(j))
			add("header %s %d %s", o.bytes(n), v.Form, o.bytes(v))
		}
	}
	for i := range o.Fails() {
		f := o.Fail(i)
		add("fail %d %s %s", f.Row, f.Code, f.Text)
	}
	for i := range o.Samples() {
		s := o.Sample(i)
		add("sample %s %d %d", s.Name, s.Kind, s.Value)
	}
	for i := range o.Lines() {
		l := o.Line(i)
		add("line %d %d %s", l.Level, l.Row, l.Text)
	}
	want := []string{
		"done 3 kept [0]",
		`emit 0 tag 1 time 105 key 3 "new" value 2 [1,{"a":1}]`,
		"header h 4 v",
		"header n 1 ",
		`emit 2 tag 0 time 0 key 1 "" value 2 {"n":-12,"b":true,"z":null,"t":"te\"xt"}`,
		`fail 1 refused no ["k",1]`,
		"sample seen 0 2",
		"line 2 2 line",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if r.Within(2) || !r.Within(3) {
		t.Error("Within does not see row 2")
	}
}

// TestBadOutput spoils the golden output frame, one field at a time.
func TestBadOutput(t *testing.T) {
	good := readHex(t, "output.hex")
	var r Reader
	table, err := readTable(nil, good, MagicOutput)
	if err != nil {
		t.Fatal(err)
	}
	at := map[uint16]int{}  // kind -> offset of the section
	row := map[uint16]int{} // kind -> offset of its table row
	for i, e := range table {
		at[e.kind], row[e.kind] = int(e.offset), HeaderSize+i*SectionSize
	}
	u32 := func(p int, v uint32) func([]byte) { return func(b []byte) { le.PutUint32(b[p:], v) } }
	for name, spoil := range map[string]func([]byte){
		"magic":             u32(AtHeaderMagic, MagicInput),
		"total":             u32(AtHeaderTotal, uint32(len(good)-1)),
		"many sections":     u32(AtHeaderSections, 1<<31),
		"done":              u32(AtHeaderOp, 4),
		"section wraps":     u32(row[SectionEmit]+AtEntryOffset, 0xfffffff8),
		"length wraps":      u32(row[SectionHeap]+AtEntryLength, 0xffffffff),
		"unaligned":         u32(row[SectionEmit]+AtEntryOffset, uint32(at[SectionEmit]+4)),
		"over the table":    u32(row[SectionEmit]+AtEntryOffset, 8),
		"count":             u32(row[SectionEmit]+AtEntryCount, 3),
		"kind twice":        func(b []byte) { le.PutUint16(b[row[SectionLog]:], SectionMetric) },
		"unknown critical":  func(b []byte) { le.PutUint16(b[row[SectionLog]:], 99) },
		"state":             func(b []byte) { le.PutUint16(b[row[SectionLog]:], SectionStateOps) },
		"emit row":          u32(at[SectionEmit]+AtEmitRow, 3),
		"emit row -1":       u32(at[SectionEmit]+AtEmitRow, None),
		"emit failed row":   u32(at[SectionEmit]+AtEmitRow, 1),
		"tag":               func(b []byte) { le.PutUint16(b[at[SectionEmit]+AtEmitTag:], 2) },
		"given":             func(b []byte) { le.PutUint16(b[at[SectionEmit]+AtEmitGiven:], 16) },
		"value form":        func(b []byte) { b[at[SectionEmit]+AtEmitForm] = 9 },
		"value wraps":       u32(at[SectionEmit]+AtEmitLength, 0xffffffff),
		"value before heap": u32(at[SectionEmit]+AtEmitOffset, 0),
		"headers":           u32(at[SectionEmit]+AtEmitHeaders, 1),
		"header count":      func(b []byte) { le.PutUint16(b[at[SectionEmit]+AtEmitHeaderCount:], 0xffff) },
		"header name":       u32(at[SectionHeaders]+AtHeadNameOffset, None),
		"fail row":          u32(at[SectionFail]+AtFailRow, 3),
		"fail kept row":     u32(at[SectionFail]+AtFailRow, 0),
		"fail code":         u32(at[SectionFail]+AtFailCodeLength, 0),
		"fail text":         u32(at[SectionFail]+AtFailLength, 1<<31),
		"metric kind":       u32(at[SectionMetric]+AtSampleKind, 2),
		"metric name":       u32(at[SectionMetric]+AtSampleNameLength, 100),
		"log level":         u32(at[SectionLog]+AtLineLevel, 4),
		"log row":           u32(at[SectionLog]+AtLineRow, 3),
		"keep size":         u32(row[SectionKeep]+AtEntryCount, 4),
		"keep row":          func(b []byte) { b[at[SectionKeep]] = 8 },
		"keep failed row":   func(b []byte) { b[at[SectionKeep]] = 3 },
		"text not UTF-8":    func(b []byte) { b[le.Uint32(b[at[SectionLog]+AtLineOffset:])] = 0xff },
	} {
		bad := append([]byte(nil), good...)
		spoil(bad)
		r.Begin(3, 1)
		if _, err := r.Check(bad); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.Begin(3, 1)
	if _, err := r.Check(good[:40]); !errors.Is(err, ErrFrame) {
		t.Errorf("short: %v", err)
	}
	// The same row twice, over two frames.
	r.Begin(3, 1)
	_, err1 := r.Check(good)
	if _, err2 := r.Check(good); err1 != nil || !errors.Is(err2, ErrFrame) {
		t.Errorf("twice: %v, %v", err1, err2)
	}
	// An unknown section that is not critical is skipped.
	skip := append([]byte(nil), good...)
	le.PutUint16(skip[row[SectionLog]+AtEntryKind:], 99)
	le.PutUint16(skip[row[SectionLog]+AtEntryFlags:], 0)
	r.Begin(3, 1)
	if o, err := r.Check(skip); err != nil || o.Lines() != 0 {
		t.Errorf("unknown: %v", err)
	}
}

// TestKeepIndex: an index list says the same as a bitmap, and must rise.
func TestKeepIndex(t *testing.T) {
	frame := func(rows ...uint32) []byte {
		f := make([]byte, HeaderSize+SectionSize+(len(rows)*4+7)/8*8)
		putHeader(f, header{magic: MagicOutput, sections: 1, total: uint32(len(f))})
		putTable(f, []entry{{SectionKeep, FlagCritical | FlagIndex, HeaderSize + SectionSize, uint32(len(rows) * 4), uint32(len(rows))}})
		for i, r := range rows {
			le.PutUint32(f[HeaderSize+SectionSize+i*4:], r)
		}
		return f
	}
	var r Reader
	r.Begin(10, 0)
	o, err := r.Check(frame(1, 4, 9))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int32{1, 4, 9}, o.AppendKept(nil)); d != "" {
		t.Error(d)
	}
	for _, bad := range [][]uint32{{1, 1}, {2, 1}, {10}} {
		r.Begin(10, 0)
		if _, err := r.Check(frame(bad...)); !errors.Is(err, ErrFrame) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// FuzzOutput feeds any bytes to the reader: it must refuse them or give parts that lie inside them.
func FuzzOutput(f *testing.F) {
	f.Add(readHex(f, "output.hex"), 3)
	f.Fuzz(func(t *testing.T, frame []byte, rows int) {
		if rows < 0 || rows > 1000 {
			return
		}
		var r Reader
		r.Begin(rows, 1)
		o, err := r.Check(frame)
		if err != nil {
			if !errors.Is(err, ErrFrame) {
				t.Fatal(err)
			}
			return
		}
		for _, k := range o.AppendKept(nil) {
			if int(k) >= rows {
				t.Fatalf("row %d is kept of %d", k, rows)
			}
		}
		for i := range o.Emits() {
			e := o.Emit(i)
			_, _ = o.bytes(e.Key), o.bytes(e.Value)
			for j := e.Head; e.Given&GivenHeaders != 0 && j < e.Tail; j++ {
				n, v := o.Header(int(j))
				_, _ = o.bytes(n), o.bytes(v)
			}
		}
		for i := range o.Fails() {
			o.Fail(i)
		}
		for i := range o.Lines() {
			o.Line(i)
		}
		for i := range o.Samples() {
			o.Sample(i)
		}
	})
}

// TestWriterSpans: whether the heap is copied at one go or value by value, every row must give its own bytes.
func TestWriterSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := &event.Bundle{Heap: &event.Heap{}}
		var want []string
		for range rapid.IntRange(0, 20).Draw(t, "rows") {
			b.Heap.PutString(strings.Repeat("x", rapid.SampledFrom([]int{0, 0, 3, 9000}).Draw(t, "gap")))
			v := strings.Repeat(rapid.SampledFrom([]string{"", "a", "bc"}).Draw(t, "value"), rapid.IntRange(0, 5).Draw(t, "times"))
			b.Times = append(b.Times, 1)
			b.Marks = append(b.Marks, 1)
			b.Ops = append(b.Ops, event.Insert)
			b.Keys = append(b.Keys, event.NullValue())
			b.Values = append(b.Values, event.HeapValue(event.String, b.Heap.PutString(v)))
			want = append(want, v)
		}
		var w Writer
		frame := make([]byte, w.Prepare(b))
		w.Write(frame, Call{})
		table, err := readTable(nil, frame, MagicInput)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range table {
			for i := range int(e.count) {
				if e.kind != SectionRows {
					break
				}
				p := frame[int(e.offset)+i*SizeRow:]
				off := le.Uint32(p[AtRowOffset:])
				got = append(got, string(frame[off:off+le.Uint32(p[AtRowLength:])]))
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}
