package desk

import (
	"context"
	"strings"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/examples/assistant/view"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/events"
)

// An UnsentError is the failure of a message that was not stored. Other failures
// of a message leave it in the conversation, or in the queue.
type UnsentError struct{ Err error }

func (e *UnsentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnsentError) Unwrap() error { return e.Err }

// Send sends a message to the agent in the open conversation and waits for the
// reply. mode is that of the screen on which the user wrote it.
func (d *Desk) Send(ctx context.Context, mode view.Mode, text string) error {
	switch mode {
	case view.Steer:
		return d.say(ctx, turn.Steer, text)
	case view.Fork:
		return d.chat(ctx, agents.Prompt{Text: text, From: d.end()})
	}
	f, err := d.facts(ctx)
	if err != nil {
		return &UnsentError{err}
	}
	if to, moves := position(f); moves {
		if _, err := d.agent.Switch(ctx, to, checkpoint.CutOptions{}); err != nil {
			return &UnsentError{err}
		}
	}
	return d.chat(ctx, agents.Prompt{Text: text})
}

// end returns a reference to the last message that is shown.
func (d *Desk) end() string {
	open := d.opened()
	if strings.Contains(open, "@") {
		return open
	}
	return open + "@last"
}

// position returns the end of the open conversation, as TREE/NODE, and reports
// whether the head of the agent must move there.
func position(f view.Facts) (to string, moves bool) {
	tree := f.Line()
	n := len(f.Open.Messages)
	if n == 0 {
		return tree, f.Agent.Session != tree
	}
	node := f.Open.Messages[n-1].ID
	return tree + "/" + node, f.Agent.Session != tree || string(f.Agent.Head) != node
}

// FollowUp sends a message that the agent reads after its reply.
func (d *Desk) FollowUp(ctx context.Context, text string) error {
	return d.say(ctx, turn.FollowUp, text)
}

func (d *Desk) say(ctx context.Context, mode turn.DeliveryMode, text string) error {
	return sent(d.run(ctx, func(ctx context.Context, o agents.TurnOptions) error {
		_, _, err := d.agent.Say(ctx, agents.Message{Mode: mode, Text: text}, o)
		return err
	}, nil))
}

func (d *Desk) chat(ctx context.Context, p agents.Prompt) error {
	return sent(d.run(ctx, func(ctx context.Context, o agents.TurnOptions) error {
		_, err := d.agent.Chat(ctx, p, o)
		return err
	}, d.Open))
}

// sent returns the error of a message, whose turn began if it was stored.
func sent(began bool, err error) error {
	if err != nil && !began {
		return &UnsentError{err}
	}
	return err
}

// run calls f, which may run a turn, and reports whether a turn began. It passes
// the conversation of the turn to open, unless that is nil. While the turn runs,
// Stop ends it.
func (d *Desk) run(ctx context.Context, f func(context.Context, agents.TurnOptions) error, open func(id string)) (began bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	o := d.turns
	o.OnEvent = func(e events.Event) {
		if e.Type != events.ChatStart {
			return
		}
		d.setStop(cancel)
		if open != nil && !began { // not for messages that were queued meanwhile
			open(string(e.Session))
		}
		began = true
	}
	err = f(ctx, o)
	if began {
		d.setStop(nil)
	}
	return began, err
}

func (d *Desk) setStop(stop context.CancelFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stop = stop
	d.announce()
}

// Stop ends the reply that is being written, if this desk asked for it.
func (d *Desk) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		d.stop()
	}
}

// Resume delivers the messages that wait since a turn did not finish.
func (d *Desk) Resume(ctx context.Context) error {
	_, err := d.run(ctx, func(ctx context.Context, o agents.TurnOptions) error {
		_, _, err := d.agent.ResumeQueue(ctx, o)
		return err
	}, nil)
	return err
}
