package commit

import (
	"encoding/binary"
	"fmt"

	"github.com/wgate/wgate/statestore"
)

// Pending is an epoch whose transaction may or may not have committed: what the store will hold if it has.
type Pending struct {
	Committed Committed
	Batches   []statestore.Batch // its rows; they share memory with the row that was decoded
}

const pendingVersion = 1

// AppendPending appends the Pending row of an epoch: version, the Committed row to be, the rows of writes as batches,
// CRC-32C.
func AppendPending(dst []byte, c Committed, writes ...statestore.Writes) ([]byte, error) {
	start := len(dst)
	row := AppendCommitted(nil, c)
	dst = append(dst, pendingVersion)
	dst = binary.AppendUvarint(dst, uint64(len(row)))
	dst = append(dst, row...)
	dst = binary.AppendUvarint(dst, uint64(len(writes)))
	for _, w := range writes {
		at := len(dst)
		dst = append(dst, make([]byte, 8)...)
		var err error
		if dst, err = statestore.AppendBatch(dst, w); err != nil {
			return dst, err
		}
		binary.LittleEndian.PutUint64(dst[at:], uint64(len(dst)-at-8))
	}
	return binary.LittleEndian.AppendUint32(dst, statestore.Checksum(dst[start:])), nil
}

// DecodePending reads a Pending row. The error wraps statestore.ErrCorrupt, statestore.ErrNewer or statestore.ErrBatch.
func DecodePending(b []byte) (Pending, error) {
	body, err := checked(b, pendingVersion, "pending row")
	if err != nil {
		return Pending{}, err
	}
	r := reader{b: body}
	row := r.take(r.uvarint())
	n := r.uvarint()
	if r.bad {
		return Pending{}, fmt.Errorf("%w: the pending row is cut", statestore.ErrCorrupt)
	}
	var p Pending
	if p.Committed, err = DecodeCommitted(row); err != nil {
		return Pending{}, err
	}
	for ; n > 0; n-- {
		size := r.take(8)
		if r.bad {
			break
		}
		batch, err := statestore.DecodeBatch(r.take(binary.LittleEndian.Uint64(size)))
		if err != nil {
			return Pending{}, err
		}
		p.Batches = append(p.Batches, batch)
	}
	if r.bad || len(r.b) > 0 {
		return Pending{}, fmt.Errorf("%w: the pending row is cut or too long", statestore.ErrCorrupt)
	}
	return p, nil
}
