package explore

import (
	"context"
	"errors"
	"time"

	"github.com/bough-dev/bough/workspace/fault"
)

// pollInterval is how often the files are checked for a request to cancel an
// exploration, or for its end.
const pollInterval = 200 * time.Millisecond

// Cancel ends an exploration: running branches are stopped, and no other
// begins. Completed branches do not change. If another process runs the
// exploration, Cancel waits until that has stopped; if ctx ends before, the
// error has the problem [NotStopped] and the request remains. If the
// exploration has ended, Cancel does nothing.
func (x *Explorer) Cancel(ctx context.Context, name string) (*Exploration, error) {
	id, err := x.Workspace.ExplorationID(ctx, name)
	if err != nil {
		return nil, err
	}
	release, err := x.Workspace.Exploration(id).Hold(ctx)
	if errors.Is(err, fault.Busy) {
		if err := x.Workspace.Exploration(id).Cancel(ctx); err != nil {
			return nil, err
		}
	}
	for errors.Is(err, fault.Busy) {
		select {
		case <-ctx.Done():
		case <-time.After(pollInterval):
			release, err = x.Workspace.Exploration(id).Hold(ctx)
		}
		if err != nil && ctx.Err() != nil {
			return nil, problem(NotStopped, id, &fault.Error{
				Code: fault.Busy, Message: "the exploration " + id + " has not stopped yet", Err: context.Cause(ctx),
			})
		}
	}
	if err != nil {
		return nil, err
	}
	defer release()
	e, err := x.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	if !e.Done() {
		e.resume()
		e.stop("not tried: "+errCancelled.Error(), now())
		if err := x.Workspace.Exploration(e.ID).Write(ctx, e.Encode()); err != nil {
			return nil, err
		}
	}
	return e, x.Workspace.Exploration(id).ClearCancel(ctx)
}

// untilCancelled returns a context that ends, with the cause errCancelled, soon
// after [Explorer.Cancel] is called for the exploration in any process. The
// caller must hold the exploration until it has called stop.
func (x *Explorer) untilCancelled(ctx context.Context, id string) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(pollInterval)
		defer tick.Stop()
		for !x.Workspace.Exploration(id).IsCancelled(ctx) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel(errCancelled)
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}
