package kafka

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// pools lends the client the slices that it decodes fetches into. That is sound because a record is copied into the
// bundle when it is handed out, and recycled then.
type pools struct{ records, bytes sync.Pool }

// GetRecords returns a slice with capacity n.
func (p *pools) GetRecords(n int) []kgo.Record {
	if got, ok := p.records.Get().(*[]kgo.Record); ok && cap(*got) >= n {
		return (*got)[:0]
	}
	return make([]kgo.Record, 0, max(n, 512))
}

// PutRecords takes a slice back.
func (p *pools) PutRecords(s []kgo.Record) { p.records.Put(&s) }

// GetDecompressBytes returns a slice to decompress into.
func (p *pools) GetDecompressBytes(compressed []byte, _ kgo.CompressionCodecType) []byte {
	if got, ok := p.bytes.Get().(*[]byte); ok {
		return *got
	}
	return make([]byte, 0, 4*len(compressed))
}

// PutDecompressBytes takes a slice back.
func (p *pools) PutDecompressBytes(s []byte) { p.bytes.Put(&s) }
