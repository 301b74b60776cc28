package wasmbin

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// ErrFormat is what every error about bytes that are no well-formed module wraps.
var ErrFormat = errors.New("malformed WebAssembly")

// cursor reads the primitives of the binary format. After an error all further reads give zero.
type cursor struct {
	b   []byte
	at  int
	err error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w at byte %d: %s", ErrFormat, c.at, fmt.Sprintf(format, args...))
	}
}

func (c *cursor) done() bool { return c.err != nil || c.at >= len(c.b) }

func (c *cursor) byte() byte {
	if c.err != nil || c.at >= len(c.b) {
		c.fail("unexpected end")
		return 0
	}
	v := c.b[c.at]
	c.at++
	return v
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (c *cursor) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if v > 0xffffffff {
				break
			}
			return uint32(v)
		}
	}
	c.fail("a number is longer than 32 bits")
	return 0
}

// leb skips a LEB128 number of at most bits bits.
func (c *cursor) leb(bits int) {
	for n := 0; n < bits; n += 7 {
		if c.byte() < 0x80 {
			return
		}
	}
	c.fail("a number is longer than %d bits", bits)
}

// take returns the next n bytes.
func (c *cursor) take(n uint32) []byte {
	if c.err != nil || uint64(n) > uint64(len(c.b)-c.at) {
		c.fail("unexpected end, %d more bytes are due", n)
		return nil
	}
	v := c.b[c.at : c.at+int(n)]
	c.at += int(n)
	return v
}

func (c *cursor) name() string {
	v := c.take(c.u32())
	if !utf8.Valid(v) {
		c.fail("a name is not UTF-8")
	}
	return string(v)
}

// count reads the length of a vector whose elements have at least one byte each.
func (c *cursor) count() int {
	n := c.u32()
	if c.err == nil && uint64(n) > uint64(len(c.b)-c.at) {
		c.fail("%d elements are announced, %d bytes are left", n, len(c.b)-c.at)
		return 0
	}
	return int(n)
}

// AppendU32 appends v as an unsigned LEB128 number.
func AppendU32(dst []byte, v uint32) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}
