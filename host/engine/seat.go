package engine

import (
	"context"
	"errors"

	"github.com/wgate/wgate/config"
)

// seat is a place in a stage from which a plugin is called. Who sits there can be replaced between two epochs.
type seat struct {
	plugin *config.Plugin
	in     Invoker
	take   func(Invoker) error // hands an instance to the stage; after an error the stage goes on with the one before
}

// seated makes a seat with a fresh instance of p. The stage that take belongs to may call it from then on.
func (t *Task) seated(p *config.Plugin, take func(Invoker) error) error {
	in, err := t.cfg.Invoker(p)
	if err == nil {
		err = take(in)
	}
	if err != nil {
		if t.tried(p) {
			t.trial.called = true // it is the new version's fault
		}
		return err
	}
	if t.tried(p) {
		beStrict(in, true)
	}
	t.seats = append(t.seats, &seat{p, in, take})
	return nil
}

// reseat replaces the instances of plugins: all of them or, with an error, none.
func (t *Task) reseat(plugins []*config.Plugin) error {
	var made []Invoker
	var done []*seat
	var err error
	for _, s := range t.seats {
		if !contains(plugins, s.plugin) {
			continue
		}
		var in Invoker
		if in, err = t.cfg.Invoker(s.plugin); err != nil {
			break
		}
		made = append(made, in)
		if err = s.take(in); err != nil {
			break
		}
		done = append(done, s)
	}
	if err != nil {
		for _, s := range done {
			err = errors.Join(err, s.take(s.in))
		}
		for _, in := range made {
			_ = in.Close(context.WithoutCancel(t.ctx)) // it never did anything
		}
		return err
	}
	for i, s := range done {
		// What it keeps is lost with every epoch that fails, so that nothing is lost if it does not close in good order.
		_ = s.in.Close(context.WithoutCancel(t.ctx))
		s.in = made[i]
		s.in.At(t.epoch, t.now)
		beStrict(s.in, true)
	}
	return nil
}

// beStrict tells an instance whether to end with an error at the first fault of the guest, in place of looking for the row
// that causes it.
func beStrict(in Invoker, on bool) {
	if s, ok := in.(interface{ Strict(on bool) }); ok {
		s.Strict(on)
	}
}
