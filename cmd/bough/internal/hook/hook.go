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

	before bool // a prompt
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
	event, ok := hooks[i].Event(c.Event)
	if !ok {
		return fmt.Errorf("%s has no event %q", hooks[i].Name, c.Event)
	}
	c.before = event.Before
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
		prune session.ID
		err   error
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				done <- result{err: fmt.Errorf("panic: %v", r)}
			}
		}()
		prune, err := c.run(ctx, w, maxWhole)
		done <- result{prune, err}
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
	if r.err == nil {
		c.Prune = r.prune
		return c.Prune != "", nil
	}
	return isLeft(r.err, ctx.Err() != nil), r.err
}

// isLeft reports whether another process can do what ended with an error, or ran out of time.
func isLeft(err error, late bool) bool {
	if err == nil {
		return false
	}
	code := workspace.Explain(err).Code
	return late || errors.Is(err, imports.ErrLarge) || code == fault.Locked || code == fault.Busy
}

// Run imports the transcript and, before a prompt, makes a checkpoint of its end, and prunes.
func (c *Call) Run(ctx context.Context, w *workspace.Workspace) error {
	if c.Prune != "" {
		_, err := w.Prune(ctx, workspace.PruneOptions{After: c.Prune})
		return err
	}
	_, err := c.run(ctx, w, 0)
	return err
}

// run is Run. If maxWhole is not 0, and more than maxWhole bytes have to be read, the error is
// [imports.ErrLarge]; and it does not prune, which takes long, but returns the checkpoint after
// which that is due.
func (c *Call) run(ctx context.Context, w *workspace.Workspace, maxWhole int64) (prune session.ID, err error) {
	if maxWhole > 0 && int64(len(c.Input.Export)) > maxWhole {
		return "", imports.ErrLarge
	}
	source, o := c.source()
	o.MaxWhole = maxWhole
	report, err := w.ImportAll(ctx, []imports.Source{source}, o)
	if err != nil {
		return "", err
	}
	for _, r := range report.Imported {
		if r.Status == imports.Failed {
			err = errors.Join(err, errors.New(r.Path+": "+r.Detail))
		}
		if !c.before || r.Session == "" {
			continue
		}
		ref := string(r.Session)
		if r.Tip != "" {
			ref += "@" + string(r.Tip)
		}
		made, checkpointErr := w.Checkpoint(ctx, ref, workspace.SnapshotOptions{Auto: true, Packed: true, KeepOld: maxWhole > 0})
		if err = errors.Join(err, checkpointErr); checkpointErr == nil && made.PruneDue {
			prune = session.ID(made.ID)
		}
	}
	return prune, err
}

// source returns what is to be imported, as the daemon imports it.
func (c *Call) source() (imports.Source, imports.Options) {
	source := imports.Source{Format: c.format, Paths: []string{c.Input.Transcript}, Found: true}
	o := imports.Options{Live: true}
	if c.before { // the checkpoint has nothing that the tool writes later
		o.Limit = c.Size
	}
	if c.Input.Export != nil {
		source.Paths, o.Stdin = []string{"-"}, bytes.NewReader(c.Input.Export)
		source.Name = func(string) string { return "opencode export " + c.Input.Session }
	}
	return source, o
}
