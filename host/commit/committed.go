package commit

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/wgate/wgate/statestore"
)

// Partition names a partition of a source. A file is a source with one partition.
type Partition struct {
	Source int // index in the plan
	Topic  string
	ID     int32
}

// String formats p as "topic/3".
func (p Partition) String() string { return fmt.Sprintf("%s/%d", p.Topic, p.ID) }

// compare orders partitions by source, topic and number.
func (p Partition) compare(q Partition) int {
	return cmp.Or(cmp.Compare(p.Source, q.Source), cmp.Compare(p.Topic, q.Topic), cmp.Compare(p.ID, q.ID))
}

// Offset is a position in a partition.
type Offset struct {
	Partition
	Offset      int64 // of the next record to read
	LeaderEpoch int32 // -1 if not known
	Metadata    string
}

// Committed is the epoch whose rows are in the store.
type Committed struct {
	Token    Token
	Parent   Token // of the epoch before
	Epoch    uint64
	Anchor   Partition // carries the token in the group's offsets; without a topic if there is no group
	Offsets  []Offset  // of every partition, in order, without metadata
	Progress []byte    // what the engine keeps with it: watermarks, cursors
}

const committedVersion = 1

// AppendCommitted appends the Committed row: version, fields, CRC-32C.
func AppendCommitted(dst []byte, c Committed) []byte {
	start := len(dst)
	dst = append(dst, committedVersion)
	dst = append(append(dst, c.Token[:]...), c.Parent[:]...)
	dst = binary.AppendUvarint(dst, c.Epoch)
	dst = appendPartition(dst, c.Anchor)
	dst = binary.AppendUvarint(dst, uint64(len(c.Offsets)))
	for _, o := range c.Offsets {
		dst = appendPartition(dst, o.Partition)
		dst = binary.AppendVarint(dst, o.Offset)
		dst = binary.AppendVarint(dst, int64(o.LeaderEpoch))
	}
	dst = binary.AppendUvarint(dst, uint64(len(c.Progress)))
	dst = append(dst, c.Progress...)
	return binary.LittleEndian.AppendUint32(dst, statestore.Checksum(dst[start:]))
}

func appendPartition(dst []byte, p Partition) []byte {
	dst = binary.AppendVarint(dst, int64(p.Source))
	dst = binary.AppendUvarint(dst, uint64(len(p.Topic)))
	dst = append(dst, p.Topic...)
	return binary.AppendVarint(dst, int64(p.ID))
}

// DecodeCommitted reads a Committed row. The result shares no memory with b. The error wraps statestore.ErrCorrupt, or
// statestore.ErrNewer if the row is of a later version.
func DecodeCommitted(b []byte) (Committed, error) {
	body, err := checked(b, committedVersion, "committed row")
	if err != nil {
		return Committed{}, err
	}
	r := reader{b: body}
	var c Committed
	copy(c.Token[:], r.take(16))
	copy(c.Parent[:], r.take(16))
	c.Epoch = r.uvarint()
	c.Anchor = r.partition()
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		c.Offsets = append(c.Offsets, Offset{Partition: r.partition(), Offset: r.varint(), LeaderEpoch: int32(r.varint())})
	}
	c.Progress = slices.Clone(r.take(r.uvarint()))
	if r.bad || len(r.b) > 0 {
		return Committed{}, fmt.Errorf("%w: the committed row is cut or too long", statestore.ErrCorrupt)
	}
	return c, nil
}

// checked takes version and check sum off a row.
func checked(b []byte, version byte, what string) ([]byte, error) {
	if len(b) < 5 || statestore.Checksum(b[:len(b)-4]) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return nil, fmt.Errorf("%w: the check sum of the %s differs", statestore.ErrCorrupt, what)
	}
	if b[0] > version {
		return nil, fmt.Errorf("%w: version %d of the %s", statestore.ErrNewer, b[0], what)
	}
	if b[0] != version {
		return nil, fmt.Errorf("%w: version %d of the %s", statestore.ErrCorrupt, b[0], what)
	}
	return b[1 : len(b)-4], nil
}

// reader reads fields one after the other; after a fault everything is zero and bad is set.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)) {
		r.bad = true
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if r.bad || n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if r.bad || n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) partition() Partition {
	return Partition{Source: int(r.varint()), Topic: string(r.take(r.uvarint())), ID: int32(r.varint())}
}
