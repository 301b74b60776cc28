package observe

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// The size of a journal: it is memory of the node, whatever a plugin writes into its log.
const (
	journalLines = 2000
	lineBytes    = 4 << 10
	lineAttrs    = 32
)

// Line is one line of a journal.
type Line struct {
	Time  time.Time
	Level slog.Level
	Text  string
	Attrs map[string]string
}

// Journal keeps the last lines of a log and lets others follow it. Its zero value is ready; all methods may be used by many
// goroutines.
type Journal struct {
	mu    sync.Mutex
	lines []Line        // a ring once it is full
	first uint64        // number of the oldest line that is kept
	more  chan struct{} // closed when a line is added; nil while nobody waits
}

// add appends a line and drops the oldest if there are too many.
func (j *Journal) add(l Line) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines) < journalLines {
		j.lines = append(j.lines, l)
	} else {
		j.lines[j.first%journalLines] = l
		j.first++
	}
	if j.more != nil {
		close(j.more)
		j.more = nil
	}
}

// next returns the lines from number from on, the number after them, and a channel that is closed when there are more.
func (j *Journal) next(from uint64) ([]Line, uint64, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	end := j.first + uint64(len(j.lines))
	var out []Line
	for n := max(from, j.first); n < end; n++ {
		out = append(out, j.lines[n%journalLines])
	}
	if j.more == nil {
		j.more = make(chan struct{})
	}
	return out, end, j.more
}

// Read calls emit for the last n lines and, with follow, for each new one until ctx ends or emit fails. A reader that is
// too slow misses the oldest lines.
func (j *Journal) Read(ctx context.Context, n int, follow bool, emit func(Line) error) error {
	lines, at, more := j.next(0)
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for {
		for _, l := range lines {
			if err := emit(l); err != nil {
				return err
			}
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-more:
		}
		lines, at, more = j.next(at)
	}
}

// journalHandler writes records of level info and above into a journal.
type journalHandler struct {
	journal *Journal
	prefix  string
	attrs   []slog.Attr // keys have their prefix
}

func (h *journalHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (h *journalHandler) Handle(_ context.Context, r slog.Record) error {
	l := Line{Time: r.Time, Level: r.Level, Text: cut(r.Message)}
	add := func(a slog.Attr) bool {
		if l.Attrs == nil {
			l.Attrs = map[string]string{}
		}
		if len(l.Attrs) < lineAttrs {
			l.Attrs[a.Key] = cut(a.Value.Resolve().String())
		}
		return true
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(func(a slog.Attr) bool {
		a.Key = h.prefix + a.Key
		return add(a)
	})
	h.journal.add(l)
	return nil
}

func (h *journalHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = append([]slog.Attr(nil), h.attrs...)
	for _, a := range attrs {
		a.Key = h.prefix + a.Key
		c.attrs = append(c.attrs, a)
	}
	return &c
}

func (h *journalHandler) WithGroup(name string) slog.Handler {
	c := *h
	if name != "" {
		c.prefix += name + "."
	}
	return &c
}

// cut keeps a text short and free of what is no text.
func cut(s string) string {
	if len(s) > lineBytes {
		n := lineBytes
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "..."
	}
	return strings.ToValidUTF8(s, "?")
}
