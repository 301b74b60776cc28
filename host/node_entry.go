package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/observe"
)

// entry is one pipeline of a node. Its operations (deploy, start, stop, delete) come one after the other: each holds ops.
// While a new run is on its way to ready nobody holds ops, so that it can be stopped.
type entry struct {
	node    *Node
	name    string
	ops     chan struct{}
	journal observe.Journal
	log     *slog.Logger

	mu      sync.Mutex // guards what follows; held for moments only
	dep     *deployment
	gone    bool // deleted: whoever still waits for ops must look for a new entry
	state   admin.State
	since   time.Time
	failure *admin.Failure
	taken   *admin.Failure // why the last deployment was taken back
	run     *run           // the last one, also after it has ended
}

// run is one life of a pipeline, from start to end.
type run struct {
	job     Runner
	dep     *deployment
	cancel  context.CancelFunc
	ready   chan struct{} // closed when recovery is through
	done    chan struct{} // closed when Run has returned
	err     error         // of Run; good after done
	settled chan struct{} // closed when it is decided what became of a start: it runs, or it does not
	outcome error         // why it does not; good after settled
	boot    bool          // the node began it by itself, nobody waits for it
	attempt int           // how often it was tried again
}

func (e *entry) acquire(ctx context.Context) error {
	select {
	case e.ops <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("pipeline %q is busy with another request: %w", e.name, ctx.Err())
	}
	e.mu.Lock()
	gone := e.gone
	e.mu.Unlock()
	if gone {
		e.release()
		return fmt.Errorf("pipeline %q was deleted meanwhile: %w", e.name, admin.ErrConflict)
	}
	return nil
}

func (e *entry) release() { <-e.ops }

func (e *entry) deployed() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dep != nil
}

func (e *entry) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dep, e.gone = nil, true
}

// look returns what is known now.
func (e *entry) look() (admin.State, *admin.Failure, *deployment, *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state, e.failure, e.dep, e.run
}

func (e *entry) set(s admin.State, f *admin.Failure) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unsyncedSet(s, f)
}

func (e *entry) unsyncedSet(s admin.State, f *admin.Failure) {
	if e.state != s {
		e.since = time.Now()
	}
	e.state, e.failure = s, f
}

// alive reports whether a run has not ended.
func (e *entry) alive() bool {
	_, _, _, r := e.look()
	return r != nil && !closed(r.done)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// prepare makes a run of a deployment: everything that can be found wrong without starting it is found here.
func (e *entry) prepare(d *deployment) (*run, error) {
	p, err := e.node.load(e.name, &d.Bundle)
	if err != nil {
		return nil, err
	}
	r := &run{dep: d, ready: make(chan struct{}), done: make(chan struct{}), settled: make(chan struct{})}
	o := e.node.jobOptions(e, p)
	var once sync.Once
	o.OnReady = func() { once.Do(func() { close(r.ready) }) }
	if r.job, err = e.node.opts.NewJob(p, o); err != nil {
		return nil, failureOf(err).WithStatus(http.StatusUnprocessableEntity)
	}
	return r, nil
}

// launch starts r. The caller holds ops; no other run is alive. If r fails before it is ready and back is not nil, back is
// what runs again.
func (e *entry) launch(r *run, back *deployment) error {
	n := e.node
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	n.mu.Lock()
	if n.closing {
		n.mu.Unlock()
		cancel()
		r.discard()
		return fmt.Errorf("the node is shutting down: %w", admin.ErrConflict)
	}
	n.wg.Add(2)
	n.mu.Unlock()
	e.mu.Lock()
	e.run, e.dep = r, r.dep
	e.unsyncedSet(admin.Starting, nil)
	e.mu.Unlock()
	e.log.Info("pipeline starts", "revision", r.dep.Revision)
	go func() {
		defer n.wg.Done()
		defer cancel()
		r.err = e.guarded(ctx, r)
		e.ended(r, ctx.Err() != nil)
		close(r.done)
		if ctx.Err() == nil && r.passes() {
			e.again(r)
		}
	}()
	go func() {
		defer n.wg.Done()
		e.settle(r, back)
	}()
	return nil
}

// guarded runs the job. A bug in one pipeline must not end the others, so a panic becomes the failure of this one.
func (e *entry) guarded(ctx context.Context, r *run) (err error) {
	defer func() {
		if v := recover(); v != nil {
			e.log.Error("pipeline panicked", "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = &admin.Failure{Text: fmt.Sprintf("internal error: %v", v), Next: "this is a bug of wgate: report it with the log"}
		}
	}()
	return r.job.Run(ctx)
}

// ended notes how a run has ended.
func (e *entry) ended(r *run, told bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run != r {
		return
	}
	switch {
	case r.err != nil && !(told && errors.Is(r.err, context.Canceled)):
		f := failureOf(r.err)
		switch {
		case r.passes():
			f.Next = fmt.Sprintf("the node tries again by itself until the broker answers; wgate stop %s ends that", e.name)
		case f.Next == "":
			f.Next = fmt.Sprintf("mend the cause, then: wgate start %s", e.name)
		}
		e.unsyncedSet(admin.Failed, f)
		e.log.Error("pipeline failed", "error", f.Text, "code", f.Code)
	case told:
		e.unsyncedSet(admin.Stopped, nil)
		e.log.Info("pipeline stopped")
	default:
		e.unsyncedSet(admin.Finished, nil)
		e.log.Info("pipeline finished")
	}
}

// settle waits until it is decided what became of a start.
func (e *entry) settle(r *run, back *deployment) {
	defer close(r.settled)
	select {
	case <-r.ready:
		e.mu.Lock()
		if e.run == r && e.state == admin.Starting {
			e.unsyncedSet(admin.Running, nil)
			e.log.Info("pipeline runs", "revision", r.dep.Revision)
		}
		e.mu.Unlock()
		return
	case <-r.done:
	}
	if r.err == nil || closed(r.ready) {
		return
	}
	r.outcome = failureOf(r.err)
	if back != nil {
		r.outcome = e.takeBack(r, back)
	}
}

// discard frees what a run that is never launched has loaded.
func (r *run) discard() {
	if j, ok := r.job.(*Job); ok {
		j.unload()
	}
}

// interrupt tells a run to end.
func (e *entry) interrupt() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run == nil || closed(e.run.done) {
		return
	}
	if e.state == admin.Starting || e.state == admin.Running {
		e.unsyncedSet(admin.Stopping, nil)
	}
	e.run.cancel()
}

// halt ends the run that is alive, if any. The caller holds ops.
func (e *entry) halt(ctx context.Context) error {
	_, _, _, r := e.look()
	if r == nil {
		return nil
	}
	e.interrupt()
	limit := time.NewTimer(stopWait)
	defer limit.Stop()
	select {
	case <-r.done:
		return nil
	case <-limit.C:
	case <-ctx.Done():
	}
	return fmt.Errorf("pipeline %q is still committing its last epoch; ask again in a moment: %w", e.name, admin.ErrConflict)
}
