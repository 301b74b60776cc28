package kafka

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/wgate/wgate/host/engine"
)

var _ engine.Output = (*Output)(nil)

// Output writes records outside of any transaction: at least once. It is used by one goroutine.
type Output struct {
	opt Options
	adm *admin
	cl  *kgo.Client
	out outbox
}

// OpenOutput connects to the broker and checks, or creates, the topics of the sinks. Sources in o are ignored.
func OpenOutput(ctx context.Context, o Options) (*Output, error) {
	w := &Output{opt: o}
	w.opt.Sources = nil
	adm, err := openAdmin(ctx, &w.opt)
	if err != nil {
		return nil, err
	}
	w.adm = adm
	if err := adm.ensure(ctx); err != nil {
		adm.close()
		return nil, err
	}
	opts, err := clientOpts(&w.opt)
	if err != nil {
		adm.close()
		return nil, err
	}
	if w.cl, err = kgo.NewClient(append(opts, producerOpts(adm)...)...); err != nil {
		adm.close()
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	return w, nil
}

// Write is described at engine.Output. An error may be that of an earlier record.
func (w *Output) Write(ctx context.Context, recs []engine.Record) error {
	return w.out.send(ctx, w.cl, w.adm, recs)
}

// Flush is described at engine.Output. After an error some records may be written and some not.
func (w *Output) Flush(ctx context.Context) error {
	return w.out.flush(ctx, w.cl)
}

// MaxRecordBytes returns the largest record that topic takes, as Session.MaxRecordBytes does.
func (w *Output) MaxRecordBytes(ctx context.Context, topic string) (int, error) {
	return w.adm.maxRecordBytes(ctx, topic)
}

// Close ends the clients; what was not flushed is lost.
func (w *Output) Close() {
	w.cl.Close()
	w.adm.close()
}
