package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/event"
)

// fetched is a run of records of one partition that the client has given and that are not handed out yet.
type fetched struct {
	part    *part
	life    uint32
	records []*kgo.Record
}

// pollRecords is how many records are taken from the client at once: enough for a full bundle of each of a few partitions.
const pollRecords = 4 * event.BundleRows

// Poll is described at engine.Input. A call gives records of one partition, in the order of offsets; positions move only
// by what is given.
func (s *Session) Poll(ctx context.Context, wait time.Duration, b *event.Bundle) (bool, error) {
	if err := s.failed(); err != nil {
		return false, err
	}
	m := s.member
	if m == nil {
		return false, errNoMember
	}
	deadline := time.Now().Add(wait)
	for {
		got, err := s.hand(b)
		if got || err != nil {
			return got, err
		}
		left := time.Until(deadline)
		asked, err := s.fill(ctx, m, wait, left)
		if err != nil {
			return false, err
		}
		if !asked {
			return s.hand(b)
		}
	}
}

// fill takes what the client has fetched, waiting for it for up to left. It returns false when there was nothing.
func (s *Session) fill(ctx context.Context, m *member, wait, left time.Duration) (bool, error) {
	var fetches kgo.Fetches
	if wait <= 0 {
		var dontWait context.Context // the client takes nil for "what is there now"
		fetches = m.sess.PollRecords(dontWait, pollRecords)
	} else {
		if left <= 0 || ctx.Err() != nil {
			return false, ctx.Err()
		}
		bounded, cancel := context.WithTimeout(ctx, left)
		fetches = m.sess.PollRecords(bounded, pollRecords)
		cancel()
	}
	if !s.open { // see hold
		m.cl.AllowRebalance()
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return s.enqueue(fetches)
}

// enqueue takes fetches in. It returns whether there was anything in them.
func (s *Session) enqueue(fetches kgo.Fetches) (bool, error) {
	var fatal error
	some := false
	at := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	fetches.EachPartition(func(ftp kgo.FetchTopicPartition) {
		if err := fetchFault(ftp.Topic, ftp.Partition, ftp.Err); err != nil && fatal == nil {
			fatal = err
		}
		p := s.find(ftp.Topic, ftp.Partition)
		if p == nil || ftp.Err != nil {
			return
		}
		p.see(ftp.LastStableOffset, ftp.HighWatermark, at)
		if len(ftp.Records) > 0 {
			s.queue = append(s.queue, fetched{part: p, life: p.life, records: ftp.Records})
			some = true
		}
	})
	if s.fatal == nil {
		s.fatal = fatal
	}
	return some, fatal
}

// hand copies the next run into b, of the first partition in the queue that is not paused.
func (s *Session) hand(b *event.Bundle) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i < len(s.queue); {
		f := &s.queue[i]
		if f.part.paused {
			i++
			continue
		}
		rows := b.Len()
		if err := s.take(b, f); err != nil {
			return false, err
		}
		left := len(f.records)
		if left == 0 {
			s.queue = append(s.queue[:i], s.queue[i+1:]...)
		}
		if b.Len() > rows {
			return true, nil
		}
		if left > 0 {
			return false, nil // the caller's bundle is full
		}
	}
	return false, nil
}
