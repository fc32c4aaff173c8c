// Package hook does the work of a hook, which another program runs: it imports the new messages
// of a transcript and, before a prompt, makes a checkpoint of them. What takes too long for the
// program to wait is left to a detached process.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/bough-dev/bough/convert"
	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/integration"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/imports"
)

// A Call is a run of a hook.
type Call struct {
	Tool  string            `json:"tool"`
	Event string            `json:"event"`
	Input integration.Input `json:"input"`
	// Size is the size of the transcript when the hook was called. Before a prompt, what the tool
	// writes after that is not imported.
	Size int64 `json:"size"`
	// Prune, if not empty, is the checkpoint that the call has made, after which it only has
	// to prune.
	Prune session.ID `json:"prune,omitempty"`
	// PruneStates is true if the call has taken a state of files, and only has to prune the states.
	PruneStates bool `json:"prune_states,omitempty"`
	// Imported is true if the transcript was imported.
	Imported bool `json:"imported,omitempty"`
	// State is the state of files that the call has to take, nil if there is none.
	State *State `json:"state,omitempty"`

	tool   integration.Hooked
	event  integration.Event
	format *convert.Format
}

// New returns the call of an event of a tool, without its input.
func New(tool, event string) (*Call, error) {
	c := &Call{Tool: tool, Event: event}
	return c, c.find()
}

// Decode returns a call that was encoded as JSON.
func Decode(data []byte) (*Call, error) {
	c := &Call{}
	if err := json.Unmarshal(data, c); err != nil {
		return nil, err
	}
	return c, c.find()
}

// find finds the tool and the event.
func (c *Call) find() error {
	hooks := integration.Hooks()
	i := slices.IndexFunc(hooks, func(t integration.Hooked) bool { return t.IsNamed(c.Tool) })
	if i < 0 {
		return fmt.Errorf("unknown tool %q", c.Tool)
	}
	var ok bool
	if c.event, ok = hooks[i].Event(c.Event); !ok {
		return fmt.Errorf("%s has no event %q", hooks[i].Name, c.Event)
	}
	c.tool = hooks[i]
	var err error
	c.format, err = convert.Named(hooks[i].Name)
	return err
}

// Take sets the input, and finds the transcript on a machine. It reports whether there is
// anything to do.
func (c *Call) Take(input []byte, m transcript.Machine) (todo bool, err error) {
	if c.Input, err = integration.ParseInput(input); err != nil || c.Input.Side {
		return false, err
	}
	if c.Input.Export != nil {
		return true, nil
	}
	c.Imported = true // if there is nothing to do
	if c.Input.Transcript == "" {
		c.Input.Transcript = newest(c.format, m, c.Input.Session)
	}
	info, err := os.Stat(c.Input.Transcript)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // the tool has written nothing yet
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, errors.New(c.Input.Transcript + " is not a regular file")
	}
	c.Size = info.Size()
	c.Imported = c.Size == 0
	return c.Size > 0, nil
}

// maxWhole is the size in bytes from which reading a whole transcript takes longer than a program
// should wait.
const maxWhole = 2 << 20

// RunFor runs the call for at most the given time. It reports whether work is left to another
// process: it takes longer, the workspace is locked, or old checkpoints are to be pruned.
func (c *Call) RunFor(ctx context.Context, w *workspace.Workspace, budget time.Duration) (left bool, err error) {
	ctx, stop := context.WithTimeout(ctx, budget)
	defer stop()
	type result struct {
		made
		err error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{err: fmt.Errorf("panic: %v", r)}
			}
		}()
		m, err := c.run(ctx, w, maxWhole)
		done <- result{m, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		// The work stops between two steps. A step that takes longer is interrupted by the
		// end of this process, which the next writer repairs.
		select {
		case r = <-done:
		case <-time.After(budget):
			r.err = ctx.Err()
		}
	}
	left = isLeft(r.err, ctx.Err() != nil)
	if c.Imported = !left; c.Imported {
		c.Prune = r.prune
		c.State.belongs(r.newest)
	}
	return left || c.Prune != "", r.err
}

// isLeft reports whether another process can do what ended with an error, or ran out of time.
func isLeft(err error, late bool) bool {
	if err == nil {
		return false
	}
	code := workspace.Explain(err).Code
	return late || errors.Is(err, imports.ErrLarge) || code == fault.Locked || code == fault.Busy
}

// Run does the rest of the call: it imports the transcript and, before a prompt, makes a
// checkpoint of its end; prunes; and takes the state of the files, or prunes those.
func (c *Call) Run(ctx context.Context, w *workspace.Workspace) (err error) {
	switch {
	case c.Prune != "":
		_, err = w.Prune(ctx, workspace.PruneOptions{After: c.Prune})
	case !c.Imported:
		var m made
		m, err = c.run(ctx, w, 0)
		c.State.belongs(m.newest)
	}
	_, failed := c.snap(ctx, w, true)
	if err = errors.Join(err, failed); c.PruneStates {
		_, failed := w.Prune(ctx, workspace.PruneOptions{States: true})
		err = errors.Join(err, failed)
	}
	return err
}

// A made is what an import and a checkpoint made.
type made struct {
	newest string     // REF of the last message, "" if there is none
	prune  session.ID // the checkpoint after which pruning is due, "" if it is not
}

// run imports the transcript and makes the checkpoint. If maxWhole is not 0, and more than
// maxWhole bytes have to be read, the error is [imports.ErrLarge]; and it does not prune, which
// takes long.
func (c *Call) run(ctx context.Context, w *workspace.Workspace, maxWhole int64) (m made, err error) {
	if maxWhole > 0 && int64(len(c.Input.Export)) > maxWhole {
		return m, imports.ErrLarge
	}
	source, o := c.source()
	o.MaxWhole = maxWhole
	report, err := w.ImportAll(ctx, []imports.Source{source}, o)
	if err != nil {
		return m, err
	}
	for _, r := range report.Imported {
		if r.Status == imports.Failed {
			err = errors.Join(err, errors.New(r.Path+": "+r.Detail))
		}
		if r.Session == "" {
			continue
		}
		ref := string(r.Session)
		if r.Tip != "" {
			ref += "@" + string(r.Tip)
		}
		m.newest = ref
		if !c.event.Before {
			continue
		}
		point, checkpointErr := w.Checkpoint(ctx, ref, workspace.SnapshotOptions{Auto: true, Packed: true, KeepOld: maxWhole > 0})
		if err = errors.Join(err, checkpointErr); checkpointErr == nil && point.PruneDue {
			m.prune = session.ID(point.ID)
		}
	}
	return m, err
}

// source returns the source to import, as the daemon imports it.
func (c *Call) source() (imports.Source, imports.Options) {
	source := imports.Source{Format: c.format, Paths: []string{c.Input.Transcript}, Found: true}
	o := imports.Options{Live: true}
	if c.event.Before { // the checkpoint has nothing that the tool writes later
		o.Limit = c.Size
	}
	if c.Input.Export != nil {
		source.Paths, o.Stdin = []string{"-"}, bytes.NewReader(c.Input.Export)
		source.Name = func(string) string { return "opencode export " + c.Input.Session }
	}
	return source, o
}
