package wasm

import (
	"bytes"
	"log/slog"
	"strings"
	"unicode/utf8"
)

// The limits of what a guest may write.
const (
	headBytes    = 1 << 10  // of standard error, kept for messages: the first words of a call tell most
	tailBytes    = 512      // and the last ones
	lineBytes    = 4 << 10  // of a line in the log
	logBytes     = 64 << 10 // to the log, in one call
	messageBytes = 8 << 10  // of FailedRow.Text
)

// console takes the guest's standard output or error: lines go to the log, and the tail is kept.
type console struct {
	g     *guest
	level slog.Level
	line  []byte
	head  []byte // of the running call
	tail  []byte
}

// Write never fails and never blocks the guest.
func (c *console) Write(p []byte) (int, error) {
	n := min(len(p), headBytes-len(c.head))
	c.head = append(c.head, p[:n]...)
	c.tail = append(c.tail, p[n:]...)
	if n := len(c.tail) - tailBytes; n > tailBytes {
		c.tail = append(c.tail[:0], c.tail[n:]...)
	}
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		if len(c.line) < lineBytes {
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

// reset forgets what was written.
func (c *console) reset() { c.head, c.tail = c.head[:0], c.tail[:0] }

// text returns the beginning and the end of what was written.
func (c *console) text() string {
	t := string(c.tail)
	if len(t) > tailBytes {
		t = " ...\n... " + t[len(t)-tailBytes:]
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(c.head)+t, "\ufffd"))
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
