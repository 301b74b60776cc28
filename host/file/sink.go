package file

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/wgate/wgate/host/engine"
)

var _ engine.Output = (*Sink)(nil)

// Form says what stands in a line.
type Form uint8

// The forms of lines.
const (
	// Values writes the record's value: what a file source reads again. A value that is no JSON becomes a string, null the
	// word null.
	Values Form = iota
	// Records writes an object of key, value, timestamp (ms; left out where it is not finite) and headers (a list of
	// [name, value] pairs; left out if there are none).
	Records
	// Texts writes the record's value as it is: what a source that decodes text reads again. A value that is no text or has
	// a line end in it becomes a JSON string, so that a record stays a line; null is an empty line.
	Texts
)

// Sink writes one line of JSON for each record. It is an engine.Output, used by one goroutine.
type Sink struct {
	form Form
	file *os.File // nil: not ours to close
	sync bool
	out  *bufio.Writer
	buf  []byte
}

// Create opens the file at path for appending, and makes it if it is not there.
func Create(name, path string, form Form) (*Sink, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o640) //nolint:gosec // the user's path
	if err != nil {
		return nil, fmt.Errorf("sink %q: %w: correct the path (it starts from the pipeline's folder), or make its folder", name, err)
	}
	s := &Sink{form: form, file: f, out: bufio.NewWriterSize(f, 64<<10)}
	info, err := f.Stat()
	s.sync = err == nil && info.Mode().IsRegular() // a pipe or a terminal cannot be synced
	return s, nil
}

// NewSink writes to w, such as standard output.
func NewSink(w io.Writer, form Form) *Sink {
	return &Sink{form: form, out: bufio.NewWriterSize(w, 64<<10)}
}

// Write is described at engine.Output.
func (s *Sink) Write(_ context.Context, recs []engine.Record) error {
	for i := range recs {
		s.buf = s.line(s.buf[:0], &recs[i])
		if _, err := s.out.Write(append(s.buf, '\n')); err != nil {
			return fmt.Errorf("write a line: %w", err)
		}
	}
	return nil
}

// line appends a record in the sink's form.
func (s *Sink) line(dst []byte, r *engine.Record) []byte {
	switch s.form {
	case Values:
		return appendJSON(dst, r.Value)
	case Texts:
		return appendText(dst, r.Value)
	case Records:
	}
	dst = append(dst, `{"key":`...)
	dst = appendJSON(dst, r.Key)
	dst = append(dst, `,"value":`...)
	dst = appendJSON(dst, r.Value)
	if r.Timestamp.IsFinite() {
		dst = append(dst, `,"timestamp":`...)
		dst = fmt.Appendf(dst, "%d", int64(r.Timestamp))
	}
	for i, h := range r.Headers {
		if i == 0 {
			dst = append(dst, `,"headers":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(dst, '[')
		dst = appendString(dst, []byte(h.Key))
		dst = append(dst, ',')
		if h.Value == nil {
			dst = append(dst, "null"...)
		} else {
			dst = appendString(dst, h.Value)
		}
		dst = append(dst, ']')
	}
	if len(r.Headers) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendJSON appends p as it is, on one line, if it is JSON; else as a string.
func appendJSON(dst, p []byte) []byte {
	if p == nil {
		return append(dst, "null"...)
	}
	if !json.Valid(p) {
		return appendString(dst, p)
	}
	for _, c := range p {
		if c == '\n' || c == '\r' {
			return appendCompact(dst, p)
		}
	}
	return append(dst, p...)
}

// appendText appends p as it is if it is text on one line.
func appendText(dst, p []byte) []byte {
	if !utf8.Valid(p) || bytes.ContainsAny(p, "\n\r") {
		return appendString(dst, p)
	}
	return append(dst, p...)
}

// appendString appends p as a JSON string, or as {"base64": "..."} if it is no text.
func appendString(dst, p []byte) []byte {
	if !utf8.Valid(p) {
		dst = append(dst, `{"base64":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, p)
		return append(dst, `"}`...)
	}
	quoted, err := json.Marshal(string(p))
	if err != nil { // a string always has a JSON form
		return append(dst, `""`...)
	}
	return append(dst, quoted...)
}

// Flush is described at engine.Output. A file is on the disk then.
func (s *Sink) Flush(context.Context) error {
	err := s.out.Flush()
	if err == nil && s.sync {
		err = s.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	return nil
}

// Close flushes and closes the file; standard output stays open.
func (s *Sink) Close() error {
	err := s.Flush(context.Background())
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}
