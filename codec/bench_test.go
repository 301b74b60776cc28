package codec

import (
	"fmt"
	"testing"

	"github.com/wgate/wgate/expr"
)

func BenchmarkDecode(b *testing.B) {
	lines := make([]string, 1000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id":%d,"user":{"name":"user-%d","mail":"someone@example.com"},"amount":%d.25,"tags":["a","b"],"text":"some longer text that nobody reads"}`, i, i%7, i)
	}
	rows := bundle(lines...)
	d, err := NewDecoder("json", Projection{Paths: []expr.Path{{"user", "name"}, {"amount"}, {"id"}}})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(rows.Heap.Len()))
	for b.Loop() {
		d.Decode(rows, 0)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}
