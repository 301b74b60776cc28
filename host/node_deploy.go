package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/wgate/wgate/host/admin"
	"github.com/wgate/wgate/host/commit"
)

// Deploy makes b what the pipeline is and starts it. b is checked, planned and its plugins are loaded before the running
// version is stopped; should the new one fail before it is ready, the old one is started again.
// With reset the state is thrown away in between, so that there is no way back. If b differs from what runs in its plugins
// alone, they are swapped and the pipeline goes on.
func (n *Node) Deploy(ctx context.Context, name string, b *admin.Bundle, reset bool) (*admin.Status, error) {
	if _, err := n.load(name, b); err != nil {
		return nil, err
	}
	e := n.place(name)
	if err := e.acquire(ctx); err != nil {
		return nil, err
	}
	if l := e.swappable(b); l != nil && !reset {
		e.release()
		if err := l.do(context.WithoutCancel(ctx)); err != nil {
			return nil, err
		}
		return e.status(), nil
	}
	r, err := e.deploy(context.WithoutCancel(ctx), b, reset)
	e.release()
	if err != nil {
		return nil, err
	}
	return e.await(ctx, r)
}

// deploy replaces what runs. The caller holds ops. A nil run means that there was nothing to do.
func (e *entry) deploy(ctx context.Context, b *admin.Bundle, reset bool) (*run, error) {
	_, _, old, was := e.look()
	d := &deployment{Format: deploymentFormat, Name: e.name, Revision: 1, Deployed: time.Now().UnixMilli(), Bundle: *b}
	if old != nil {
		d.Revision = old.Revision + 1
		if !reset && e.alive() && sameBundle(&old.Bundle, b) {
			return nil, nil
		}
	}
	r, err := e.prepare(d)
	if err != nil {
		return nil, err
	}
	var back *deployment
	if e.alive() && closed(was.ready) {
		back = old
		if err := check(ctx, r); err != nil {
			r.discard()
			f := failureOf(err)
			f.Text = fmt.Sprintf("revision %d is not started: %s; revision %d goes on", d.Revision, f.Text, old.Revision)
			return nil, f.WithStatus(http.StatusConflict)
		}
	}
	if err := e.halt(ctx); err != nil {
		r.discard()
		return nil, err
	}
	if reset {
		if err := e.node.forgetState(ctx, e.name, b); err != nil {
			r.discard()
			return nil, errors.Join(fmt.Errorf("pipeline %q: its state cannot be thrown away: %w", e.name, err), e.resume(back))
		}
		back = nil
	}
	e.mu.Lock()
	e.taken = nil
	e.mu.Unlock()
	if err := e.node.store.put(d); err != nil {
		r.discard()
		return nil, errors.Join(err, e.resume(back))
	}
	return r, e.launch(r, back)
}

// check asks the broker about a new version before the old one is stopped.
func check(ctx context.Context, r *run) error {
	if c, ok := r.job.(interface {
		Check(ctx context.Context) error
	}); ok {
		return c.Check(ctx)
	}
	return nil
}

// resume starts what ran before, if anything did.
func (e *entry) resume(back *deployment) error {
	if back == nil {
		return nil
	}
	r, err := e.prepare(back)
	if err != nil {
		return err
	}
	return e.launch(r, nil)
}

// takeBack makes back the deployment again after r has failed to start. It returns what to tell of it.
func (e *entry) takeBack(r *run, back *deployment) error {
	f := failureOf(r.err)
	ctx, cancel := context.WithTimeout(context.Background(), stopWait)
	defer cancel()
	if err := e.acquire(ctx); err != nil {
		return f
	}
	defer e.release()
	if _, _, _, now := e.look(); now != r {
		return f // somebody has decided otherwise
	}
	what := fmt.Sprintf("revision %d did not start: %s", r.dep.Revision, f.Text)
	if err := errors.Join(e.node.store.put(back), e.resume(back)); err != nil {
		f.Text = fmt.Sprintf("%s; revision %d, which ran before, cannot be started again: %v", what, back.Revision, err)
		e.set(admin.Failed, f)
		return f
	}
	f.Text = fmt.Sprintf("%s; revision %d, which ran before, runs again", what, back.Revision)
	e.mu.Lock()
	e.taken = f
	e.mu.Unlock()
	e.log.Warn("deployment taken back", "revision", r.dep.Revision, "runs", back.Revision)
	return f
}

// await returns the pipeline's status when it is decided what became of r, or when that takes long.
func (e *entry) await(ctx context.Context, r *run) (*admin.Status, error) {
	if r != nil {
		limit := time.NewTimer(startWait)
		defer limit.Stop()
		select {
		case <-r.settled:
			if r.outcome != nil {
				return nil, failureOf(r.outcome).WithStatus(http.StatusConflict)
			}
		case <-limit.C:
		case <-ctx.Done():
		}
	}
	return e.status(), nil
}

// boot starts a pipeline as the node starts.
func (e *entry) boot() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWait)
	defer cancel()
	if err := e.acquire(ctx); err != nil {
		return err
	}
	defer e.release()
	_, _, d, was := e.look()
	if was != nil || d.Stopped {
		return nil // somebody was faster
	}
	r, err := e.prepare(d)
	if err == nil {
		r.boot = true
		err = e.launch(r, nil)
	}
	if err != nil {
		e.set(admin.Failed, failureOf(err))
	}
	return err
}

// Start starts a pipeline that does not run. To start a running one is no error.
func (n *Node) Start(ctx context.Context, name string) (*admin.Status, error) {
	e, err := n.find(name)
	if err != nil {
		return nil, err
	}
	if err := e.acquire(ctx); err != nil {
		return nil, err
	}
	r, err := e.start()
	e.release()
	if err != nil {
		return nil, err
	}
	return e.await(ctx, r)
}

func (e *entry) start() (*run, error) {
	_, _, d, was := e.look()
	if e.alive() {
		return was, nil
	}
	c := *d
	c.Stopped = false
	r, err := e.prepare(&c)
	if err != nil {
		return nil, err
	}
	if err := e.node.store.put(&c); err != nil {
		r.discard()
		return nil, err
	}
	return r, e.launch(r, nil)
}

// Stop stops a pipeline after a last commit; it stays stopped when the node is started again.
func (n *Node) Stop(ctx context.Context, name string) (*admin.Status, error) {
	e, err := n.find(name)
	if err != nil {
		return nil, err
	}
	if err := e.acquire(ctx); err != nil {
		return nil, err
	}
	defer e.release()
	_, _, d, _ := e.look()
	c := *d
	c.Stopped = true
	if err := n.store.put(&c); err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.dep = &c
	e.mu.Unlock()
	ran := e.alive()
	if err := e.halt(ctx); err != nil {
		return nil, err
	}
	if state, _, _, _ := e.look(); !ran || state != admin.Failed { // a failure of the last commit stays visible
		e.set(admin.Stopped, nil)
	}
	return e.status(), nil
}

// passes reports whether what ended r may go away by itself, so that it is worth to try again: no broker answers, for a
// pipeline that has been known to run.
func (r *run) passes() bool {
	var stop *commit.Stop
	return (r.boot || closed(r.ready)) && errors.As(r.err, &stop) && stop.Code == commit.CodeBroker
}

// retryWaits are the pauses before a pipeline that has lost its broker is started again; the last one repeats.
var retryWaits = []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second}

// again starts a pipeline whose broker had gone after a pause. The new run comes here again if there is still none.
func (e *entry) again(r *run) {
	if closed(r.ready) {
		r.attempt = 0
	}
	select {
	case <-e.node.quit:
	case <-time.After(retryWaits[min(r.attempt, len(retryWaits)-1)]):
		if err := e.retry(r); err != nil {
			e.log.Error("pipeline does not start again", "error", err)
		}
	}
}

// retry starts another run after r, unless somebody has decided otherwise.
func (e *entry) retry(r *run) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopWait)
	defer cancel()
	if err := e.acquire(ctx); err != nil {
		return err
	}
	defer e.release()
	if _, _, d, now := e.look(); now != r || d != r.dep {
		return nil
	}
	next, err := e.prepare(r.dep)
	if err != nil {
		return err
	}
	next.boot, next.attempt = true, r.attempt+1
	return e.launch(next, nil)
}
