// Package desk connects a window with a workspace: it remembers which
// conversation is open, loads what the window shows, follows the changes of all
// programs, and carries out what the user wants.
package desk

import (
	"context"
	"errors"
	"sync"

	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

// page is how many messages are shown at first, and how many more each time.
const page = 100

// A Desk is one user's place at a workspace, with one agent. Its methods are
// safe for concurrent use, and may take as long as a reply of the model.
type Desk struct {
	w     *workspace.Workspace
	agent workspace.Agent
	turns agents.TurnOptions

	changed chan struct{} // has an element if the screen is out of date

	mu       sync.Mutex
	open     string // the conversation that is shown, or one of its ends
	limit    int    // maximum number of messages to show
	arriving string // the text so far of the reply that is being written
	stale    bool   // the workspace changed since it was read
	stop     context.CancelFunc
}

// New returns a desk with the agent of a name, which is created if it does not
// exist. turns has its model.
func New(ctx context.Context, w *workspace.Workspace, name string, turns agents.TurnOptions) (*Desk, error) {
	d := &Desk{w: w, agent: w.Agent(name), turns: turns, changed: make(chan struct{}, 1), limit: page, stale: true}
	a, err := d.agent.Info(ctx)
	if errors.Is(err, fault.NotFound) {
		a, err = d.agent.Create(ctx, agents.Options{Model: turns.Model})
	}
	if err != nil {
		return nil, err
	}
	d.open = a.Head.Tree
	return d, nil
}

// Open shows a conversation, or one of its ends. It writes nothing: the head of
// the agent moves with the next message.
func (d *Desk) Open(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open != id {
		d.open, d.limit = id, page
	}
	d.invalidate()
}

// reopen opens to, unless the user has opened something else than from.
func (d *Desk) reopen(from, to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == from {
		d.open = to
		d.invalidate()
	}
}

// ShowEarlier shows more messages of the open conversation.
func (d *Desk) ShowEarlier() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.limit += page
	d.invalidate()
}

// opened returns the open conversation.
func (d *Desk) opened() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// invalidate has the workspace read again. The caller holds the mutex.
func (d *Desk) invalidate() {
	d.stale = true
	d.announce()
}

// announce has the screen shown again.
func (d *Desk) announce() {
	select {
	case d.changed <- struct{}{}:
	default: // it will be
	}
}
