package wasm

import (
	"bytes"
	"log/slog"
	"strings"
	"unicode/utf8"
)

// The limits of what a guest may write.
const (
	tailBytes    = 4 << 10  // of standard error, kept for messages
	logBytes     = 64 << 10 // to the log, in one call
	messageBytes = 8 << 10  // of FailedRow.Text
)

// console takes the guest's standard output or error: lines go to the log, and the tail is kept.
type console struct {
	g     *guest
	level slog.Level
	line  []byte
	tail  []byte
}

// Write never fails and never blocks the guest.
func (c *console) Write(p []byte) (int, error) {
	c.tail = append(c.tail, p...)
	if n := len(c.tail) - tailBytes; n > tailBytes {
		c.tail = append(c.tail[:0], c.tail[n:]...)
	}
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		if len(c.line) < tailBytes {
			c.line = append(c.line, line...)
		}
		if whole {
			c.flush()
		}
		rest = after
	}
	return len(p), nil
}

func (c *console) flush() {
	if len(c.line) > 0 {
		c.g.log(c.level, string(c.line))
	}
	c.line = c.line[:0]
}

// last returns the end of what was written.
func (c *console) last() string {
	t := c.tail
	if len(t) > tailBytes {
		t = t[len(t)-tailBytes:]
	}
	return strings.ToValidUTF8(string(t), "\ufffd")
}

// cut shortens s to at most n bytes, between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = " ..."
	n -= len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}
