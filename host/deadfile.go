package host

import (
	"context"
	"log/slog"

	"github.com/wgate/wgate/host/engine"
	"github.com/wgate/wgate/host/file"
)

// deadFile takes the dead letters of a pipeline that has no topics. The file is made with the first of them, so that a
// run without failures leaves none behind.
type deadFile struct {
	path string
	log  *slog.Logger
	sink *file.Sink
}

// Write is described at engine.Output.
func (d *deadFile) Write(ctx context.Context, recs []engine.Record) error {
	if d.sink == nil {
		s, err := file.Create("dead letters", d.path, file.Records)
		if err != nil {
			return err
		}
		d.sink = s
		d.log.Warn("records failed; they are in the dead letters", "file", d.path)
	}
	return d.sink.Write(ctx, recs)
}

// Flush is described at engine.Output.
func (d *deadFile) Flush(ctx context.Context) error {
	if d.sink == nil {
		return nil
	}
	return d.sink.Flush(ctx)
}

// Close closes the file, if there is one.
func (d *deadFile) Close() error {
	if d.sink == nil {
		return nil
	}
	return d.sink.Close()
}
