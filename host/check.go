package host

import (
	"context"

	"github.com/wgate/wgate/host/file"
	"github.com/wgate/wgate/host/kafka"
)

// Check finds out what would keep the job from starting and can be known without starting it: whether the broker answers
// and has the topics, whether the files are there. It may be called while another version of the pipeline runs.
func (j *Job) Check(ctx context.Context) error {
	b, err := brokerOf(j.pipeline, j.opt.Embedded)
	if err != nil {
		return err
	}
	if b != nil {
		if err := kafka.Check(ctx, j.kafkaOptions(b, "check")); err != nil {
			return err
		}
	}
	for i, s := range j.pipeline.Sources {
		if s.File == nil {
			continue
		}
		src, err := file.Open(file.Options{Index: i, Name: s.Name, Path: s.File.Path, Raw: rawKind(s)})
		if err != nil {
			return err
		}
		src.Close()
	}
	return nil
}
