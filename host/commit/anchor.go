package commit

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/wgate/wgate/statestore"
)

// Witness is what the anchor partition's offset metadata says of the last committed epoch.
type Witness struct {
	Token Token
	Epoch uint64
	// Position and LeaderEpoch are of the changelog; both -1 where there is none.
	Position    int64
	LeaderEpoch int32
}

// ErrForeign is returned for offset metadata that wgate did not write.
var ErrForeign = errors.New("commit: the offset's metadata was not written by wgate")

// witnessPrefix names the format and its version. What follows is base64, because metadata is a string.
const (
	witnessPrefix = "wg1:"
	witnessBytes  = 16 + 8 + 8 + 4 + 4
)

// EncodeWitness returns w as offset metadata: 58 bytes; brokers take 4,096 by default.
func EncodeWitness(w Witness) string {
	b := append(make([]byte, 0, witnessBytes), w.Token[:]...)
	b = binary.BigEndian.AppendUint64(b, w.Epoch)
	b = binary.BigEndian.AppendUint64(b, uint64(w.Position))
	b = binary.BigEndian.AppendUint32(b, uint32(w.LeaderEpoch))
	b = binary.BigEndian.AppendUint32(b, statestore.Checksum(b))
	return witnessPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// DecodeWitness reads offset metadata. The error is ErrForeign.
func DecodeWitness(s string) (Witness, error) {
	text, ok := strings.CutPrefix(s, witnessPrefix)
	if !ok {
		return Witness{}, ErrForeign
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != witnessBytes {
		return Witness{}, ErrForeign
	}
	if statestore.Checksum(b[:witnessBytes-4]) != binary.BigEndian.Uint32(b[witnessBytes-4:]) {
		return Witness{}, ErrForeign
	}
	var w Witness
	if copy(w.Token[:], b); w.Token == (Token{}) {
		return Witness{}, ErrForeign
	}
	w.Epoch = binary.BigEndian.Uint64(b[16:])
	w.Position = int64(binary.BigEndian.Uint64(b[24:]))
	w.LeaderEpoch = int32(binary.BigEndian.Uint32(b[32:]))
	return w, nil
}
