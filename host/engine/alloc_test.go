package engine_test

import (
	"runtime"
	"testing"

	"github.com/wgate/wgate/statestore/pebblestore"
)

// Nothing is allocated for a record on its way from decode to encode: what a run of a task allocates grows with bundles,
// epochs and key groups only. The difference between a long and a short run is what records cost.
func TestTask_allocatesNothingPerRecord(t *testing.T) {
	const short, long = 20_000, 100_000
	recs := benchRecords(long)
	for name, source := range map[string]string{"windows": benchWindows, "filter": benchFilter} {
		t.Run(name, func(t *testing.T) {
			count := func(n int) int64 {
				store, err := pebblestore.Open(t.TempDir(), pebblestore.Options{})
				if err != nil {
					t.Fatal(err)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var out countOutput
				runTask(t, source, &memoryInput{recs: recs[:n]}, &out, store)
				runtime.ReadMemStats(&after)
				if err := store.Close(); err != nil {
					t.Fatal(err)
				}
				if out.records < n/3 {
					t.Fatalf("%d results of %d records: the test does not test encoding", out.records, n)
				}
				return int64(after.Mallocs - before.Mallocs)
			}
			count(short)
			few, many := count(short), count(long)
			per := float64(many-few) / (long - short)
			t.Logf("%d allocations for %d records, %d for %d: %.3f for each more", few, short, many, long, per)
			if per > 0.3 {
				t.Errorf("each record costs %.2f allocations", per)
			}
		})
	}
}
