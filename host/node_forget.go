package host

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/host/kafka"
	"github.com/wgate/wgate/statestore"
	"github.com/wgate/wgate/statestore/pebblestore"
)

// forgetState deletes what a stopped pipeline keeps: its offsets on the broker, then its folder. In this order, because a
// pipeline with state and no offsets is stopped in recovery, and says what to do.
// b says which broker that is.
func (n *Node) forgetState(ctx context.Context, name string, b *admin.Bundle) error {
	p, err := n.parse(name, b)
	if err != nil {
		return err
	}
	at, err := brokerOf(p, n.opts.Embedded)
	if err != nil {
		return err
	}
	dir := n.stateDir(name)
	if at != nil {
		if err := n.opts.Forget(ctx, p, at, dir); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}

func forgetOffsets(ctx context.Context, p *config.Pipeline, b *config.Broker, dir string) error {
	instance, err := instanceOf(p.Name, dir)
	if err != nil {
		return err
	}
	return kafka.Forget(ctx, kafka.Options{Pipeline: p.Name, Instance: instance, Broker: b})
}

// instanceOf reads the identity that a state folder gives; empty if there is none.
func instanceOf(pipeline, dir string) (id string, err error) {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	s, err := pebblestore.Open(dir, pebblestore.Options{})
	if err != nil {
		return "", commit.StoreStop(pipeline, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	raw, ok, err := s.System(statestore.MetaRow)
	if err != nil || !ok {
		return "", err
	}
	m, err := statestore.DecodeMeta(raw)
	return m.Instance, err
}
