package explore

import (
	"context"
	"fmt"
	"time"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// askEvery is how often whoever carries out an exploration looks whether it is to end.
const askEvery = 200 * time.Millisecond

// UntilCancelled returns a context that ends, with [ErrCancelled] as its cause, soon after
// [Cancel] is called for an exploration, here or in another process. The caller holds the
// exploration, and calls stop before that ends.
func UntilCancelled(ctx context.Context, w *workspace.Workspace, id string) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		tick := time.NewTicker(askEvery)
		defer tick.Stop()
		for {
			if w.CancelAsked(ctx, id) {
				cancel(ErrCancelled)
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-looked
	}
}

// Cancel ends an exploration and returns it as it is then: no branch of it is executed or
// waits any longer, and those that had ended stay as they are. Where it is carried out,
// Cancel waits until that has stopped; if ctx ends before, the error has the code
// [workspace.Busy]. One that is over stays as it is.
func Cancel(ctx context.Context, w *workspace.Workspace, id string) (*Exploration, error) {
	release, err := w.HoldExploration(ctx, id)
	if isBusy(err) {
		if err := w.AskCancel(ctx, id); err != nil {
			return nil, err
		}
	}
	for isBusy(err) {
		select {
		case <-ctx.Done():
			return nil, &workspace.Error{
				Code: workspace.Busy, Message: "the exploration " + id + " was told to stop, and has not yet",
				Hint: "'bough explore show " + id + "' says how far it is", Err: context.Cause(ctx),
			}
		case <-time.After(askEvery):
		}
		release, err = w.HoldExploration(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	defer release()
	e, err := Open(ctx, w, id)
	if err != nil {
		return nil, err
	}
	if !e.Done() {
		e.Resume()
		e.Stop("not tried: "+ErrCancelled.Error(), session.FormatTime(time.Now()))
		if err := w.KeepExploration(ctx, e.ID, e.Encode()); err != nil {
			return nil, err
		}
	}
	return e, w.ForgetCancel(ctx, id)
}

func isBusy(err error) bool {
	return err != nil && workspace.Explain(err).Code == workspace.Busy
}

// Open returns the exploration that name means: an id, or a prefix of at least four
// characters that no other id has.
// The error of a file that is none has the code [workspace.Damaged].
func Open(ctx context.Context, w *workspace.Workspace, name string) (*Exploration, error) {
	data, err := w.Exploration(ctx, name)
	if err != nil {
		return nil, err
	}
	e, err := Decode(data)
	if err != nil {
		return nil, &workspace.Error{
			Code: workspace.Damaged, Message: fmt.Sprintf("the file of the exploration %s is damaged: %v", name, err),
			Hint: "the conversations of its branches can be used", Err: err,
		}
	}
	return e, nil
}
