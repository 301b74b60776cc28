package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/wgate/wgate/config"
	"github.com/wgate/wgate/event"
	"github.com/wgate/wgate/host/commit"
	"github.com/wgate/wgate/internal/crash"
)

// Swap says with what a task is to go on in place of the versions of plugins that it calls now. The task's goroutine calls
// the functions, which must not block.
type Swap struct {
	Plugins []*config.Plugin // as the plan has them
	// Use is called between two epochs: from then on Config.Invoker makes instances of the new versions.
	Use func()
	// Back is called if the new versions fail: from then on Config.Invoker makes instances of the old ones again. No instance
	// of the new ones is alive. Kept is called when the new versions have proved themselves: the old ones are not needed any
	// more. One of them is called, after Use and at most once; neither, if the task ends before it is known.
	Back, Kept func()
	// Late is told why the old versions are back when that is only known after Reload has returned nil.
	Late func(error)
}

// The errors of Reload that do not speak of the new version.
var (
	ErrReloading = errors.New("another reload is under way")
	ErrEnded     = errors.New("the pipeline has ended")
)

// trial is a swap until it is known what became of it. Within the first epoch in which a new version is called, whatever
// would stop the pipeline or be the guest's fault makes the old versions come back: the epoch is aborted, so that nothing of
// it is seen.
type trial struct {
	Swap
	begun    bool
	called   bool             // in the running epoch
	waiting  []*config.Plugin // not yet called in an epoch that has committed
	now      []*config.Plugin // called in the running one
	patience event.Time       // until when Reload waits for the first call
	answer   chan verdict     // nil when Reload has returned
}

type verdict struct {
	proven bool
	err    error
}

// tell answers Reload. It reports whether somebody still waited.
func (tr *trial) tell(proven bool, err error) bool {
	if tr.answer == nil {
		return false
	}
	tr.answer <- verdict{proven, err}
	tr.answer = nil
	return true
}

// Reload replaces versions of plugins at the border of two epochs and waits until an epoch with calls of the new ones has
// committed. proven is false if there was nothing to call them for: then the trial goes on, and Late hears of its failure.
// An error says that the old versions go on, and why. ctx ends the wait for the task alone.
func (t *Task) Reload(ctx context.Context, s Swap) (proven bool, err error) {
	answer := make(chan verdict, 1)
	err = t.Do(ctx, func() error {
		if t.trial != nil && t.trial.answer != nil {
			return ErrReloading
		}
		t.settleTrial() // two swaps are not tried at once
		t.trial = &trial{Swap: s, waiting: slices.Clone(s.Plugins), answer: answer}
		return nil
	})
	if err != nil {
		return false, err
	}
	select {
	case v := <-answer:
		return v.proven, v.err
	case <-t.done:
	}
	select {
	case v := <-answer:
		return v.proven, v.err
	default:
		return false, ErrEnded
	}
}

// waitLeast is how long Reload waits at least for a call of the new version.
const waitLeast = 200 * event.Millisecond

// advanceTrial begins a swap that waits for it, and answers when there is nothing to wait for. It is called between two
// bundles.
func (t *Task) advanceTrial() error {
	tr := t.trial
	switch {
	case tr == nil:
	case !tr.begun:
		// The epoch ends early, on the old versions.
		if err := t.commit(); err != nil {
			return err
		}
		t.swap(tr)
	case t.epochEnd == event.MinTime && t.now >= tr.patience:
		tr.tell(false, nil)
	}
	return nil
}

func (t *Task) swap(tr *trial) {
	tr.Use()
	if err := t.reseat(tr.Plugins); err != nil {
		t.trial = nil
		tr.Back()
		tr.tell(false, err)
		return
	}
	tr.begun = true
	tr.patience = t.now.Add(max(waitLeast, t.cfg.Plan.Pipeline.Epoch))
	t.forgive(tr)
	crash.Point("reload_swapped")
}

// forgive forgets what the breakers hold against blocks that call the plugins of a swap: a version answers for itself alone.
func (t *Task) forgive(tr *trial) {
	for _, n := range t.cfg.Plan.Nodes {
		calls := n.Plugin != nil && contains(tr.Plugins, n.Plugin)
		if n.Agg != nil {
			calls = slices.ContainsFunc(n.Agg.Aggs, func(a config.Agg) bool { return a.Call != nil && contains(tr.Plugins, a.Call.Plugin) })
		}
		if calls {
			delete(t.breakers, n.ID)
		}
	}
}

// tried reports whether p is a plugin whose new version is on trial.
func (t *Task) tried(p *config.Plugin) bool {
	return t.trial != nil && t.trial.begun && contains(t.trial.waiting, p)
}

// calling notes that p is about to be called.
func (t *Task) calling(p *config.Plugin) {
	if t.trial == nil || !t.tried(p) {
		return
	}
	t.trial.called = true
	if !contains(t.trial.now, p) {
		t.trial.now = append(t.trial.now, p)
	}
}

// passTrial notes that an epoch has committed.
func (t *Task) passTrial() {
	tr := t.trial
	if tr == nil || !tr.begun {
		return
	}
	for _, p := range tr.now {
		tr.waiting = slices.DeleteFunc(tr.waiting, func(q *config.Plugin) bool { return q == p })
		for _, s := range t.seats {
			if s.plugin == p {
				beStrict(s.in, false)
			}
		}
	}
	tr.called, tr.now = false, tr.now[:0]
	if len(tr.waiting) == 0 {
		t.settleTrial()
		return
	}
	tr.tell(false, nil)
}

// settleTrial ends a trial for good.
func (t *Task) settleTrial() {
	tr := t.trial
	if tr == nil {
		return
	}
	t.trial = nil
	for _, s := range t.seats {
		if contains(tr.waiting, s.plugin) {
			beStrict(s.in, false)
		}
	}
	tr.Kept()
	tr.tell(len(tr.waiting) == 0, nil)
}

// blamed reports whether err, which has ended the loop or a recovery, counts as the failure of what is on trial: not what
// the broker or the disk did.
func (t *Task) blamed(err error) bool {
	var stop *commit.Stop
	return t.trial != nil && t.trial.called && err != nil &&
		!errors.Is(err, errRecovered) && !errors.Is(err, errEpoch) && !errors.As(err, &stop)
}

// takeBack makes the old versions those that count. The caller recovers.
func (t *Task) takeBack(err error) {
	tr := t.trial
	t.trial = nil
	if t.cfg.Fresh != nil {
		t.cfg.Fresh()
	}
	t.seats = t.seats[:0]
	tr.Back()
	clear(t.breakers)
	t.cfg.Log.Warn("the new version of a plugin failed; its epoch is aborted and the old version is back", "cause", err.Error())
	if !tr.tell(false, err) {
		tr.Late(err)
	}
}

func contains(plugins []*config.Plugin, p *config.Plugin) bool { return slices.Contains(plugins, p) }
