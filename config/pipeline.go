package config

import (
	"path/filepath"

	"github.com/wgate/wgate/event"
)

// Defaults of pipeline { }.
const (
	defaultEpoch = 200 * event.Millisecond
	maxEpoch     = event.Hour
)

// readPipeline reads the pipeline block, which every pipeline has: its name is the consumer group's and the topics'.
func (ld *loader) readPipeline() {
	ld.p.Epoch, ld.p.Delivery, ld.p.Durability = defaultEpoch, "exactly_once", "local"
	ld.policy = ErrorPolicy{OnError: DeadLetter, MaxErrors: 1}
	found := false
	ld.each("pipeline", func(b *topBlock) {
		found = true
		b.check(pipelineSchema)
		ld.p.Name = b.name
		ld.p.Dir = filepath.Dir(b.head.Filename)
		ld.p.Pos = posOf(b.head)
		ld.p.Epoch = b.duration("epoch", defaultEpoch, false)
		if ld.p.Epoch > maxEpoch {
			b.wrong(b.attr("epoch"), "An epoch lasts an hour at most: nothing is visible before it ends.")
		}
		ld.p.Delivery = b.choice("delivery", "exactly_once", []string{"exactly_once", "at_least_once"})
		ld.p.Durability = b.choice("durability", "local", []string{"local"}, "changelog")
		ld.policy = b.policy(ld.policy)
	})
	if !found {
		ld.fail(ld.bodies[0].MissingItemRange(), "Missing pipeline block",
			`Every pipeline has a name, which its consumer group and its state go by. Add: pipeline "my-pipeline" {}`)
	}
}

// path resolves a path of a block: it is relative to the folder of the file that has the block.
func (b body) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(filepath.Dir(b.head.Filename), p)
}
