package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/engine"
)

var _ engine.Input = (*Source)(nil)

// MaxLine is the longest line in bytes that a source reads.
const MaxLine = 16 << 20

// Options is what a Source is opened with.
type Options struct {
	Index int    // of the source in the plan
	Name  string // for messages
	Path  string
	Raw   event.Kind // kind of the raw values: JSON, String or Bytes
}

// Source reads a file of lines once, to its end. It is an engine.Input, used by one goroutine. The timestamp of each
// record is the file's time of last change.
type Source struct {
	opt    Options
	file   *os.File
	in     *bufio.Reader
	long   []byte // a line that does not fit in in's buffer
	line   int64  // number of the next line
	stamp  event.Time
	ended  bool
	paused bool
}

// Open opens the file.
func Open(o Options) (*Source, error) {
	s := &Source{opt: o}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Source) open() error {
	f, err := os.Open(s.opt.Path)
	if errors.Is(err, fs.ErrNotExist) {
		full := s.opt.Path
		if abs, err := filepath.Abs(full); err == nil {
			full = abs
		}
		return fmt.Errorf("source %q: file %s does not exist: correct the path (it starts from the pipeline's folder), or make the file", s.opt.Name, full)
	}
	if err != nil {
		return fmt.Errorf("source %q: %w", s.opt.Name, err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder: name a file", s.opt.Path)
	}
	if err != nil {
		_ = f.Close()
		return fmt.Errorf("source %q: %w", s.opt.Name, err)
	}
	s.file, s.in = f, bufio.NewReaderSize(f, 256<<10)
	s.line, s.ended, s.stamp = 1, false, event.TimeOf(info.ModTime())
	if mark, err := s.in.Peek(3); err == nil && bytes.Equal(mark, []byte("\xef\xbb\xbf")) { // byte order mark
		_, _ = s.in.Discard(3)
	}
	return nil
}

// Poll is described at engine.Input. It never waits: a file is there or has ended.
func (s *Source) Poll(ctx context.Context, _ time.Duration, b *event.Bundle) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if s.paused {
		return false, nil
	}
	rows := b.Len()
	for !s.ended && b.Len() < event.BundleRows && b.Heap.Len() < event.BundleBytes {
		text, err := s.next()
		if err != nil {
			return false, err
		}
		if text == nil {
			s.ended = true
			break
		}
		if len(text) > 0 {
			s.append(b, text)
		}
		s.line++
	}
	return b.Len() > rows, nil
}

// append adds the current line as a row.
func (s *Source) append(b *event.Bundle, text []byte) {
	b.Times = append(b.Times, 0)
	b.Marks = append(b.Marks, 0)
	b.Ops = append(b.Ops, event.Insert)
	b.Keys = append(b.Keys, event.NullValue())
	b.Values = append(b.Values, event.HeapValue(s.opt.Raw, b.Heap.Put(text)))
	b.Origins = append(b.Origins, event.Origin{Source: uint16(s.opt.Index), Offset: s.line, Timestamp: s.stamp})
	if len(b.Heads) > 0 {
		end := uint32(len(b.Headers))
		b.Heads = append(b.Heads, event.HeadSpan{Start: end, End: end})
	}
}

// next returns the next line without its end, empty if it is blank, nil at the end of the file. It is good until the next
// call.
func (s *Source) next() ([]byte, error) {
	part, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		s.long = append(s.long[:0], part...)
		for errors.Is(err, bufio.ErrBufferFull) {
			part, err = s.in.ReadSlice('\n')
			s.long = append(s.long, part...)
			if len(s.long) > MaxLine+2 {
				return nil, fmt.Errorf("source %q: file %s line %d is longer than %d bytes: a record is one line", s.opt.Name, s.opt.Path, s.line, MaxLine)
			}
		}
		part = s.long
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("source %q: file %s line %d: %w", s.opt.Name, s.opt.Path, s.line, err)
	}
	if len(part) == 0 {
		return nil, nil
	}
	part = bytes.TrimRight(part, "\r\n")
	if len(bytes.TrimSpace(part)) == 0 {
		return []byte{}, nil
	}
	return part, nil
}

// Partitions is described at engine.Input.
func (s *Source) Partitions(dst []engine.PartitionState) []engine.PartitionState {
	st := engine.PartitionState{Partition: s.partition(), Position: s.line, End: -1, CaughtUp: s.ended, Ended: s.ended}
	if s.ended {
		st.End = s.line
	}
	return append(dst, st)
}

func (s *Source) partition() engine.Partition {
	return engine.Partition{Source: s.opt.Index, Topic: s.opt.Path}
}

// Pause is described at engine.Input.
func (s *Source) Pause(p engine.Partition, paused bool) {
	if p == s.partition() {
		s.paused = paused
	}
}

// Topic returns the file's path, which stands in for a topic.
func (s *Source) Topic() string { return s.opt.Path }

// Seek goes on at the position that offs names for this file, from the beginning if it names none.
func (s *Source) Seek(ctx context.Context, offs []engine.Offset) error {
	want := int64(1)
	for _, o := range offs {
		if o.Partition == s.partition() {
			want = o.Offset
		}
	}
	s.Close()
	if err := s.open(); err != nil {
		return err
	}
	for s.line < want {
		if err := ctx.Err(); err != nil {
			return err
		}
		text, err := s.next()
		if err != nil {
			return err
		}
		if text == nil {
			return fmt.Errorf("source %q: file %s has %d lines, and %d were read before: it is not the file that it was; reset the pipeline's state to read it anew", s.opt.Name, s.opt.Path, s.line-1, want-1)
		}
		s.line++
	}
	return nil
}

// Close closes the file.
func (s *Source) Close() { _ = s.file.Close() }
