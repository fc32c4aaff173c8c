package hook

import (
	"context"
	"fmt"
	"time"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
)

// A State is a state of files that is to be taken.
type State struct {
	Dir string `json:"dir"`
	Ref string `json:"ref,omitempty"` // the newest message, "" if it is not known yet
}

// belongs sets the message that the state belongs to. s may be nil.
func (s *State) belongs(ref string) {
	if s != nil && ref != "" {
		s.Ref = ref
	}
}

// WantState makes the call take a state of the folder of the project too, if its event is before
// or after a turn of a conversation that no other one started.
func (c *Call) WantState(env func(string) string) {
	dir := c.tool.Root(env, c.Input.Dir)
	if dir != "" && !c.Input.Side && (c.event.Before || c.event.After) {
		c.State = &State{Dir: dir}
	}
}

// ready reports whether the message of the state is known, or its prompt, which the transcript
// will have. Without a transcript, the state belongs to no message.
func (c *Call) ready() bool { return c.Imported || c.isPrompt() }

// isPrompt reports whether the state is found by the id of its prompt.
func (c *Call) isPrompt() bool { return c.event.Before && c.Input.PromptID != "" }

// StateFor takes the state if that is done by a deadline. It reports whether it is left to
// another process, which it is too if its message is not known or the workspace is locked.
func (c *Call) StateFor(ctx context.Context, w *workspace.Workspace, deadline time.Time) (left bool, err error) {
	if c.State == nil || !c.ready() {
		return c.State != nil, nil
	}
	ctx, stop := context.WithDeadline(ctx, deadline)
	defer stop()
	type result struct {
		pruneDue bool
		err      error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{err: fmt.Errorf("panic: %v", r)}
			}
		}()
		due, err := c.snap(ctx, w, false)
		done <- result{due, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		select {
		case r = <-done:
		case <-time.After(grace):
			r.err = ctx.Err()
		}
	}
	c.PruneStates = r.pruneDue
	return isLeft(r.err, ctx.Err() != nil), r.err
}

// grace is the time in which the work stops after a deadline. What does not stop then ends with
// the process, which the next writer repairs.
const grace = 200 * time.Millisecond

// snap takes the state, if there is one to take. Unless it is late, it reports whether the
// states are to be pruned, and does not do it.
func (c *Call) snap(ctx context.Context, w *workspace.Workspace, late bool) (pruneDue bool, err error) {
	if c.State == nil {
		return false, nil
	}
	o := files.SnapOptions{At: "end", Late: late, Within: true, KeepOld: !late}
	if c.event.Before {
		o.At = "prompt"
	}
	if c.isPrompt() {
		o.Prompt = c.Input.PromptID
	}
	o.NoMessage = c.State.Ref == ""
	st, err := w.Folder(c.State.Dir).Snap(ctx, c.State.Ref, o)
	if err != nil {
		return false, fmt.Errorf("no state of the files was taken: %w", err)
	}
	return st.PruneDue, nil
}
