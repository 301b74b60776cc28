package commit

import "encoding/hex"

// Token is the identity of a committed epoch: 16 random bytes. The zero Token is the state before the first epoch.
type Token [16]byte

// String returns the first four bytes in hex: enough to tell tokens apart in a message.
func (t Token) String() string {
	if t == (Token{}) {
		return "none"
	}
	return hex.EncodeToString(t[:4])
}
