package statestore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// FormatVersion is the version of everything that a store keeps: keys, cells, batches and system rows. A store of a newer
// version is refused. It grows with every change that an older binary could not read.
const FormatVersion = 1

// ErrBatch is returned for bytes that are not a whole and unchanged batch.
var ErrBatch = errors.New("statestore: the batch is damaged")

// batchVersion is the first byte of a batch.
const batchVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of b, the check sum of all stored rows that have one.
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// AppendBatch appends writes as a batch: its version, the number of deleted ranges and their bounds, the written rows, and
// a CRC-32C of it all, little-endian. A row is the length of its key, 0 for a deletion or the length of its value + 1, key
// and value. Lengths are uvarints.
func AppendBatch(dst []byte, w Writes) ([]byte, error) {
	start := len(dst)
	dst = append(dst, batchVersion)
	n := 0
	if err := w.Ranges(func(_, _ []byte) error { n++; return nil }); err != nil {
		return dst, err
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	err := w.Ranges(func(lo, hi []byte) error {
		dst = appendBytes(appendBytes(dst, lo), hi)
		return nil
	})
	if err != nil {
		return dst, err
	}
	err = w.Rows(func(key, val []byte, del bool) error {
		dst = binary.AppendUvarint(dst, uint64(len(key)))
		if del {
			dst = binary.AppendUvarint(dst, 0)
		} else {
			dst = binary.AppendUvarint(dst, uint64(len(val))+1)
		}
		dst = append(append(dst, key...), val...)
		return nil
	})
	return binary.LittleEndian.AppendUint32(dst, Checksum(dst[start:])), err
}

// Batch is an encoded set of writes. It shares the memory that it was decoded from.
type Batch struct {
	ranges int
	body   []byte // without version, number of ranges and check sum
}

// DecodeBatch checks b from its first byte to its check sum and returns it as a Batch. The error wraps ErrBatch.
func DecodeBatch(b []byte) (Batch, error) {
	if len(b) < 6 {
		return Batch{}, fmt.Errorf("%w: %d bytes are too few", ErrBatch, len(b))
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if Checksum(body) != sum {
		return Batch{}, fmt.Errorf("%w: its check sum differs", ErrBatch)
	}
	if body[0] != batchVersion {
		return Batch{}, fmt.Errorf("%w: version %d is not known", ErrBatch, body[0])
	}
	n, w := binary.Uvarint(body[1:])
	if w <= 0 || n > uint64(len(body)) {
		return Batch{}, ErrBatch
	}
	batch := Batch{ranges: int(n), body: body[1+w:]}
	if err := batch.Rows(func(_, _ []byte, _ bool) error { return nil }); err != nil {
		return Batch{}, err
	}
	return batch, nil
}

// Ranges calls fn for every deleted range: see Writes.
func (b Batch) Ranges(fn func(lo, hi []byte) error) error {
	_, err := b.eachRange(fn)
	return err
}

func (b Batch) eachRange(fn func(lo, hi []byte) error) (rest []byte, err error) {
	rest = b.body
	for range b.ranges {
		var lo, hi []byte
		var ok bool
		if lo, rest, ok = readBytes(rest); !ok {
			return nil, ErrBatch
		}
		if hi, rest, ok = readBytes(rest); !ok || compare(lo, hi) >= 0 || compare(hi, endOfRows) > 0 {
			return nil, ErrBatch
		}
		if fn == nil {
			continue
		}
		if err := fn(lo, hi); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// Rows calls fn for every written row: see Writes.
func (b Batch) Rows(fn func(key, val []byte, del bool) error) error {
	rest, err := b.eachRange(nil)
	if err != nil {
		return err
	}
	for len(rest) > 0 {
		klen, w := binary.Uvarint(rest)
		if w <= 0 {
			return ErrBatch
		}
		vlen, v := binary.Uvarint(rest[w:])
		if v <= 0 {
			return ErrBatch
		}
		rest = rest[w+v:]
		del := vlen == 0
		if !del {
			vlen--
		}
		if klen > uint64(len(rest)) || vlen > uint64(len(rest))-klen || Reserved(rest[:klen]) {
			return ErrBatch
		}
		if err := fn(rest[:klen:klen], rest[klen:klen+vlen:klen+vlen], del); err != nil {
			return err
		}
		rest = rest[klen+vlen:]
	}
	return nil
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func readBytes(b []byte) (v, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return nil, nil, false
	}
	return b[w : w+int(n) : w+int(n)], b[w+int(n):], true
}
