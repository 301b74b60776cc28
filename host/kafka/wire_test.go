package kafka

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/wgate/wgate/host/engine"
)

// wire is a network that loses the replies to one kind of request: the broker acts and the client never hears of it.
type wire struct {
	dial DialFunc
	key  kmsg.Key
	cut  atomic.Bool
	lost atomic.Int64
}

func (w *wire) open(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := w.dial(ctx, network, address)
	return &wireConn{Conn: conn, wire: w}, err
}

type wireConn struct {
	net.Conn
	wire *wire
	dead atomic.Bool
}

// Write looks for the key of the request behind its length.
func (c *wireConn) Write(p []byte) (int, error) {
	if c.wire.cut.Load() && len(p) >= 6 && int16(binary.BigEndian.Uint16(p[4:])) == c.wire.key.Int16() {
		c.dead.Store(true)
	}
	return c.Conn.Write(p)
}

func (c *wireConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p) // the broker has acted when its answer is here
	if err == nil && c.dead.Load() {
		c.wire.lost.Add(1)
		_ = c.Conn.Close()
		return 0, io.EOF
	}
	return n, err
}

// The transaction is committed and its answer is lost, each time that the client asks.
func TestSession_lostReply(t *testing.T) {
	bubble(t, func(e *env) {
		w := &wire{dial: e.dial, key: kmsg.EndTxn}
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		o := e.options()
		o.Dial = w.open
		s := e.ready(o)
		e.drain(s)
		w.cut.Store(true)
		outcome, err := e.epoch(s, "t1", "a")
		if outcome != engine.Unknown || err == nil {
			t.Fatal(outcome, err)
		}
		if w.lost.Load() == 0 {
			t.Fatal("no reply was lost")
		}
		w.cut.Store(false)
		if err := s.Rebuild(e.ctx); err != nil {
			t.Fatal(err)
		}
		offs := e.recover(s)
		if len(offs) != 1 || offs[0].Metadata != "t1" || offs[0].Offset != 3 {
			t.Fatalf("offsets %v: the witness of the commit is missing", offs)
		}
		diff(t, "nothing is read again", 0, len(e.drain(s)))
		if outcome, err := e.epoch(s, "t2", "b"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "results", []string{"a", "b"}, e.committedValues("out", 1))
	})
}

// The answer to the offsets is lost: the client cannot know whether they are part of the transaction.
func TestSession_lostOffsetReply(t *testing.T) {
	bubble(t, func(e *env) {
		w := &wire{dial: e.dial, key: kmsg.TxnOffsetCommit}
		e.topic("in", 1)
		e.produce(values("in", 0, 0, 3)...)
		o := e.options()
		o.Dial = w.open
		s := e.ready(o)
		e.drain(s)
		w.cut.Store(true)
		outcome, err := e.epoch(s, "t1", "a")
		if outcome != engine.Unknown || err == nil || w.lost.Load() == 0 {
			t.Fatal(outcome, err, w.lost.Load())
		}
		w.cut.Store(false)
		if err := s.Rebuild(e.ctx); err != nil {
			t.Fatal(err)
		}
		diff(t, "offsets", 0, len(e.recover(s)))
		diff(t, "read again", 3, len(e.drain(s)))
		if outcome, err := e.epoch(s, "t1b", "a"); outcome != engine.Committed {
			t.Fatal(outcome, err)
		}
		diff(t, "results", []string{"a"}, e.committedValues("out", 1))
	})
}
