package storetest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/statestore"
)

// Device is a place where stores live. A Device is used by one test.
type Device interface {
	// Open opens the store on the device, which is empty at first.
	Open() (statestore.Store, error)
	// Crash cuts the power: the store that was open is gone; what was not synced may be gone too. r decides.
	Crash(r *rand.Rand) error
}

// Run runs the whole suite; device makes a new and empty device.
func Run(t *testing.T, device func() Device) {
	t.Run("model", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { newModel(t, device()).run(t) })
	})
	t.Run("system rows", func(t *testing.T) { systemRows(t, device()) })
	t.Run("redo", func(t *testing.T) { redo(t, device()) })
}

// model is a store, an overlay over it, and what both should hold.
type model struct {
	dev     Device
	store   statestore.Store
	overlay *statestore.Overlay
	images  []image // committed images since the last sync; the last one is the present
	view    map[string]string
	scans   []*scan
	commits int
}

// image is what a store should hold.
type image struct {
	rows      map[string]string
	committed string
	pending   string
}

// scan is an open iterator and what it has still to give.
type scan struct {
	it   statestore.Iterator
	want []string
}

// maxScans is how many scans are open at a time.
const maxScans = 3

func newModel(t *rapid.T, dev Device) *model {
	m := &model{dev: dev, images: []image{{rows: map[string]string{}}}, view: map[string]string{}}
	m.open(t)
	return m
}

func (m *model) open(t *rapid.T) {
	var err error
	if m.store, err = m.dev.Open(); err != nil {
		t.Fatalf("open: %v", err)
	}
	m.overlay = statestore.NewOverlay(m.store)
}

func (m *model) run(t *rapid.T) {
	t.Repeat(map[string]func(*rapid.T){
		"":            m.check,
		"put":         m.put,
		"put2":        m.put,
		"delete":      m.delete,
		"deleteRange": m.deleteRange,
		"scan":        m.startScan,
		"step":        m.stepScan,
		"commit":      m.commit,
		"abort":       m.abort,
		"crash":       m.crash,
	})
	m.closeScans(t)
	if err := m.store.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

var (
	keys   = rapid.OneOf(rapid.StringMatching(`[ab]{1,2}\x00?[0-9]?`), rapid.Custom(rowKey))
	bounds = rapid.OneOf(rapid.StringMatching(`[abc]{0,2}[0-9]?`), rapid.Custom(rowBound), rapid.Custom(rowKey))
	values = rapid.StringMatching(`[a-z]{0,12}`)
)

// rowKey draws the key of a row of an operator: few fixed parts, some keys in each.
func rowKey(t *rapid.T) string {
	s := statestore.Space{Op: uint16(rapid.IntRange(0, 1).Draw(t, "op"))}
	group := byte(rapid.IntRange(0, 1).Draw(t, "group"))
	key := []byte(rapid.StringMatching(`(customer-)?[a-d]{1,3}`).Draw(t, "record key"))
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return string(s.Plain(nil, group, key, []byte{0}))
	case 1:
		return string(s.Timer(nil, group, 0, event.Time(rapid.IntRange(0, 1).Draw(t, "time")), key, nil))
	}
	return string(s.Window(nil, group, rowWindow(t), key, []byte{0}))
}

func rowWindow(t *rapid.T) event.Window {
	end := event.Time(rapid.IntRange(1, 2).Draw(t, "end"))
	return event.Window{Start: end - 1, End: end}
}

// rowBound draws a prefix of rows, or the end of one.
func rowBound(t *rapid.T) string {
	s := statestore.Space{Op: uint16(rapid.IntRange(0, 1).Draw(t, "op"))}
	group := byte(rapid.IntRange(0, 1).Draw(t, "group"))
	var p []byte
	switch rapid.IntRange(0, 3).Draw(t, "prefix") {
	case 0:
		p = s.Prefix(nil)
	case 1:
		p = s.Group(nil, statestore.WindowRow, group)
	default:
		p = s.WindowAll(nil, group, rowWindow(t))
	}
	if rapid.Bool().Draw(t, "end of it") {
		p = statestore.PrefixEnd(nil, p)
	}
	return string(p)
}

// drawPrefix draws the range of all rows of one fixed part: what a firing scans and deletes.
func drawPrefix(t *rapid.T) (lo, hi []byte) {
	s := statestore.Space{Op: uint16(rapid.IntRange(0, 1).Draw(t, "op"))}
	lo = s.WindowAll(nil, byte(rapid.IntRange(0, 1).Draw(t, "group")), rowWindow(t))
	return lo, statestore.PrefixEnd(nil, lo)
}

func (m *model) put(t *rapid.T) {
	k, v := keys.Draw(t, "key"), values.Draw(t, "value")
	if err := m.overlay.Put([]byte(k), []byte(v)); err != nil {
		t.Fatalf("put: %v", err)
	}
	m.view[k] = v
}

func (m *model) delete(t *rapid.T) {
	k := keys.Draw(t, "key")
	if err := m.overlay.Delete([]byte(k)); err != nil {
		t.Fatalf("delete: %v", err)
	}
	delete(m.view, k)
}

func (m *model) deleteRange(t *rapid.T) {
	lo, hi := drawRange(t)
	if err := m.overlay.DeleteRange(lo, hi); err != nil {
		t.Fatalf("delete range: %v", err)
	}
	maps.DeleteFunc(m.view, func(k, _ string) bool { return within(k, lo, hi) })
}

// drawRange draws a range; its end is nil sometimes.
func drawRange(t *rapid.T) (lo, hi []byte) {
	if rapid.IntRange(0, 2).Draw(t, "range") == 0 {
		return drawPrefix(t)
	}
	lo = []byte(bounds.Draw(t, "lo"))
	if rapid.IntRange(0, 9).Draw(t, "open end") > 0 {
		hi = []byte(bounds.Draw(t, "hi"))
	}
	return lo, hi
}

func within(k string, lo, hi []byte) bool { return k >= string(lo) && (hi == nil || k < string(hi)) }

func (m *model) startScan(t *rapid.T) {
	if len(m.scans) == maxScans {
		return
	}
	lo, hi := drawRange(t)
	it, err := m.overlay.Scan(lo, hi)
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	m.scans = append(m.scans, &scan{it, sortedRows(m.view, lo, hi)})
}

func sortedRows(rows map[string]string, lo, hi []byte) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(rows)) {
		if within(k, lo, hi) {
			out = append(out, k+"="+rows[k])
		}
	}
	return out
}

// stepScan takes some rows from an open scan, or jumps, and sometimes closes it.
func (m *model) stepScan(t *rapid.T) {
	if len(m.scans) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.scans)-1).Draw(t, "scan")
	s := m.scans[i]
	for range rapid.IntRange(1, 4).Draw(t, "rows") {
		ok := false
		if rapid.IntRange(0, 4).Draw(t, "jump") == 0 && len(s.want) > 1 {
			to := rapid.IntRange(1, len(s.want)-1).Draw(t, "to")
			key, _, _ := cut(s.want[to])
			ok = s.it.(statestore.Seeker).SeekGE([]byte(key))
			s.want = s.want[to:]
		} else {
			ok = s.it.Next()
		}
		s.compare(t, ok)
	}
	if rapid.Bool().Draw(t, "close") {
		m.closeScan(t, s)
		m.scans = slices.Delete(m.scans, i, i+1)
	}
}

func cut(row string) (key, val string, ok bool) {
	for i := range len(row) {
		if row[i] == '=' {
			return row[:i], row[i+1:], true
		}
	}
	return row, "", false
}

func (s *scan) compare(t *rapid.T, ok bool) {
	switch {
	case !ok && len(s.want) > 0:
		t.Fatalf("scan ended before %q: %v", s.want[0], s.it.Err())
	case ok && len(s.want) == 0:
		t.Fatalf("scan gave %q after its end", s.it.Key())
	case ok:
		if got := string(s.it.Key()) + "=" + string(s.it.Value()); got != s.want[0] {
			t.Fatalf("scan gave %q, want %q", got, s.want[0])
		}
		s.want = s.want[1:]
	}
}

func (m *model) closeScan(t *rapid.T, s *scan) {
	if err := s.it.Close(); err != nil {
		t.Fatalf("close of a scan: %v", err)
	}
}

func (m *model) closeScans(t *rapid.T) {
	for _, s := range m.scans {
		m.closeScan(t, s)
	}
	m.scans = nil
}

// check compares the view and the store with what they should hold.
func (m *model) check(t *rapid.T) {
	k := keys.Draw(t, "check")
	got, ok, err := m.overlay.Get([]byte(k))
	want, wantOK := m.view[k]
	if err != nil || ok != wantOK || string(got) != want {
		t.Fatalf("get %q = %q %v %v, want %q %v", k, got, ok, err, want, wantOK)
	}
}

func (m *model) commit(t *rapid.T) {
	m.closeScans(t)
	sync := rapid.Bool().Draw(t, "sync")
	m.commits++
	now := image{rows: maps.Clone(m.view), committed: fmt.Sprint("epoch ", m.commits)}
	m.overlay.Freeze()
	if err := m.overlay.Put([]byte("a"), nil); err == nil {
		t.Fatalf("a frozen overlay took a write")
	}
	var w statestore.Writes = m.overlay
	if rapid.Bool().Draw(t, "through pending") {
		w = m.pend(t)
	}
	if err := m.store.Apply([]byte(now.committed), sync, w); err != nil {
		t.Fatalf("apply: %v", err)
	}
	m.images = append(m.images, now)
	if sync {
		m.images = m.images[len(m.images)-1:]
	}
	m.overlay.Reset(m.store)
	m.compareStore(t, now)
}

// pend writes the overlay as a Pending row and returns what is read back of it.
func (m *model) pend(t *rapid.T) statestore.Batch {
	enc, err := statestore.AppendBatch(nil, m.overlay)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	if err := m.store.WritePending(enc); err != nil {
		t.Fatalf("write pending: %v", err)
	}
	last := m.images[len(m.images)-1]
	m.images = []image{{rows: last.rows, committed: last.committed, pending: string(enc)}}
	back, _, err := m.store.System(statestore.PendingRow)
	if err != nil {
		t.Fatalf("read pending: %v", err)
	}
	b, err := statestore.DecodeBatch(back)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return b
}

func (m *model) abort(t *rapid.T) {
	m.closeScans(t)
	m.view = maps.Clone(m.images[len(m.images)-1].rows)
	m.overlay.Reset(m.store)
	m.compareStore(t, m.images[len(m.images)-1])
}

// crash cuts the power: the store must come back as one of the images since the last sync.
func (m *model) crash(t *rapid.T) {
	m.closeScans(t)
	seed := rapid.Uint64().Draw(t, "crash")
	if err := m.dev.Crash(rand.New(rand.NewPCG(seed, 1))); err != nil {
		t.Fatalf("crash: %v", err)
	}
	m.open(t)
	got := m.read(t)
	for i, img := range m.images {
		if cmp.Equal(img, got, cmp.AllowUnexported(image{})) {
			m.images = []image{m.images[i]}
			m.view = maps.Clone(img.rows)
			return
		}
	}
	t.Fatalf("after a crash the store holds none of the %d images since its last sync:\n%s",
		len(m.images), cmp.Diff(m.images[len(m.images)-1], got, cmp.AllowUnexported(image{})))
}

func (m *model) read(t *rapid.T) image {
	img := image{rows: map[string]string{}}
	it, err := m.store.Scan(nil, nil)
	if err != nil {
		t.Fatalf("scan of the store: %v", err)
	}
	for it.Next() {
		img.rows[string(it.Key())] = string(it.Value())
	}
	if err := it.Close(); err != nil {
		t.Fatalf("scan of the store: %v", err)
	}
	for r, s := range map[statestore.SystemRow]*string{statestore.CommittedRow: &img.committed, statestore.PendingRow: &img.pending} {
		v, _, err := m.store.System(r)
		if err != nil {
			t.Fatalf("system row %d: %v", r, err)
		}
		*s = string(v)
	}
	return img
}

func (m *model) compareStore(t *rapid.T, want image) {
	if d := cmp.Diff(want, m.read(t), cmp.AllowUnexported(image{})); d != "" {
		t.Fatalf("the store differs (-want +got):\n%s", d)
	}
}
