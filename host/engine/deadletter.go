package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/plan"
)

// Codes of rows that failed; those of expressions and codecs are theirs.
const (
	codeWrongType = "wrong_type"
	codeLate      = "late"
	codeTooLarge  = "record_too_large"
	codeNullKey   = "null_key"
	codeTimestamp = "bad_timestamp"
)

// deadPrefix is how the headers begin that say what became of a record; maxReason is how long one of them may be.
const (
	deadPrefix = "wgate-dl-"
	maxReason  = 8 << 10
)

// deadLetterCut is how much of a record that is too large goes into its dead letter.
const deadLetterCut = 16 << 10

// DeadLetterTopic returns the name of a pipeline's topic of dead letters.
func DeadLetterTopic(pipeline string) string { return "wgate." + pipeline + ".dead_letters" }

// FailedError stops a pipeline because a row failed under on_error = "fail", or because too many did.
type FailedError struct {
	Block, Code, Text string
	Origin            string
}

// Error tells which block failed on which record, and why.
func (e *FailedError) Error() string {
	return fmt.Sprintf("%s: %s: %s (%s); mend the record or the pipeline, or say on_error = \"dead_letter\"", e.Block, e.Code, e.Text, e.Origin)
}

// deadLetter does with row i of b what the block's on_error says: the record goes to the dead letters byte for byte as it
// came from its topic, is skipped, or stops the pipeline.
func (t *Task) deadLetter(n *plan.Node, b *event.Bundle, i int, code, text string) error {
	return t.deadLetterDigest(n, b, i, code, text, "")
}

func (t *Task) deadLetterDigest(n *plan.Node, b *event.Bundle, i int, code, text, digest string) error {
	stats, policy := t.stats.node(n.ID), n.Errors.OnError
	if code == codeLate {
		policy = config.DeadLetter // a late row is no fault: late = "drop" is what says otherwise
	}
	switch policy {
	case config.Fail:
		return &FailedError{Block: n.Block, Code: code, Text: text, Origin: t.origin(b, i)}
	case config.Skip:
		stats.Skipped.Add(1)
	default:
		stats.DeadLetters.Add(1)
		t.stats.DeadLetters.Add(1)
		rec := t.deadRecord(n, b, i, code, text, digest)
		if err := t.sendDead(rec); err != nil {
			return err
		}
	}
	if code == codeLate {
		return nil
	}
	return t.breaker(n).failed(code)
}

// deadRecord makes the dead letter of row i: the source record's key, value and headers, and where it came from. Of a
// result, which comes from no single record, it has the key, the value as far as it got, and the window.
func (t *Task) deadRecord(n *plan.Node, b *event.Bundle, i int, code, text, digest string) Record {
	rec := Record{Topic: DeadLetterTopic(t.cfg.Plan.Pipeline.Name), Timestamp: t.now}
	topic, part, off := "", "", ""
	if len(b.Origins) > 0 {
		o := b.Origins[i]
		rec.Key, rec.Value = clone(b.Heap.Get(o.Key)), clone(b.Heap.Get(o.Value))
		rec.Timestamp, rec.Input = o.Timestamp, o
		if rec.Timestamp < 0 {
			rec.Timestamp = t.now
		}
		topic, part, off = t.topic(o), strconv.Itoa(int(o.Partition)), strconv.FormatInt(o.Offset, 10)
		for _, h := range b.RowHeaders(i) {
			rec.Headers = append(rec.Headers, RecordHeader{string(b.Heap.Get(h.Key)), clone(b.Heap.Get(h.Value))})
		}
	} else {
		deadResult(&rec, b, i)
	}
	add := func(k, v string) { rec.Headers = append(rec.Headers, RecordHeader{deadPrefix + k, []byte(v)}) }
	add("topic", topic)
	add("partition", part)
	add("offset", off)
	add("operator", n.Block)
	add("code", code)
	add("reason", cutText(text, maxReason))
	add("digest", digest)
	add("time", strconv.FormatInt(int64(t.now), 10))
	return rec
}

func deadResult(rec *Record, b *event.Bundle, i int) {
	if k := b.Keys[i]; !k.IsNull() {
		rec.Key = appendPlain(nil, b.Heap, k)
	}
	if v := b.Values[i]; !v.IsNull() && v.Kind != event.Error {
		rec.Value = appendPlain(nil, b.Heap, v)
	}
	if len(b.Windows) == 0 || b.Windows[i].IsGlobal() {
		return
	}
	w := b.Windows[i]
	rec.Headers = append(rec.Headers, RecordHeader{headerStart, strconv.AppendInt(nil, int64(w.Start), 10)},
		RecordHeader{headerEnd, strconv.AppendInt(nil, int64(w.End), 10)})
}

// sendDead sends a dead letter. One that does not fit into its topic either is cut and marked as cut, and loses the headers
// of its record if they are what is too large: a dead letter must not fail on what it is for.
func (t *Task) sendDead(rec Record) error {
	limit, err := t.maxRecord(t.cfg.DeadLetters, rec.Topic)
	if err != nil {
		return err
	}
	if size := recordSize(&rec); size > limit {
		rec.Headers = append(rec.Headers, RecordHeader{deadPrefix + "size", []byte(strconv.Itoa(len(rec.Value)))},
			RecordHeader{deadPrefix + "cut", []byte("true")})
		if len(rec.Key) > deadLetterCut {
			rec.Key = rec.Key[:deadLetterCut]
		}
		keep := min(deadLetterCut, len(rec.Value))
		rec.Value = rec.Value[:keep]
		if recordSize(&rec) > limit {
			rec.Headers = slices.DeleteFunc(rec.Headers, func(h RecordHeader) bool {
				return !strings.HasPrefix(h.Key, deadPrefix) || len(h.Value) > maxReason
			})
		}
	}
	return t.send(t.cfg.DeadLetters, []Record{rec})
}

func (t *Task) origin(b *event.Bundle, i int) string {
	if len(b.Origins) == 0 {
		return "a result"
	}
	o := b.Origins[i]
	return fmt.Sprintf("%s, partition %d, offset %d", t.topic(o), o.Partition, o.Offset)
}

// recordSize is a close upper estimate of a record's size in a batch of its own.
func recordSize(r *Record) int {
	n := 128 + len(r.Key) + len(r.Value)
	for _, h := range r.Headers {
		n += 16 + len(h.Key) + len(h.Value)
	}
	return n
}

func clone(p []byte) []byte {
	if p == nil {
		return nil
	}
	return append([]byte{}, p...)
}

func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
