package view

import (
	"fmt"
	"slices"
)

// A Mode is what happens to a message that the user writes.
type Mode string

// The modes.
const (
	Send  Mode = "send"  // the assistant answers it
	Fork  Mode = "fork"  // it begins a branch, in which the assistant answers it
	Steer Mode = "steer" // the assistant is answering: it is read next, or follows after the reply
	Wait  Mode = "wait"  // the assistant is answering in another conversation
)

// An Input is the field for the user's message and the buttons beside it.
type Input struct {
	Mode     Mode
	Hint     string // a sentence above the field, "" for none
	Send     string // label of the first button
	FollowUp string // label of the second button, "" for none
	Stop     bool   // the reply can be stopped
}

// Enabled reports whether the user can send a message.
func (i Input) Enabled() bool { return i.Mode != Wait }

func inputOf(f Facts) Input {
	switch {
	case f.isRunning() && f.Agent.Session == f.Line():
		return Input{
			Mode: Steer, Send: "Steer", FollowUp: "Follow up", Stop: f.Stoppable,
			Hint: "The assistant is answering. Enter steers it, Alt+Enter follows up after the reply.",
		}
	case f.isRunning():
		return Input{Mode: Wait, Send: "Send", Hint: fmt.Sprintf("The assistant is answering in %q.", titleOf(f, f.Agent.Session))}
	case f.isFrozen():
		return Input{Mode: Fork, Send: "Branch and send", Hint: "This checkpoint is read-only. The first message begins a branch."}
	case !slices.Contains(f.Trees, f.Line()):
		return Input{Mode: Fork, Send: "Branch and send", Hint: "Another program writes this conversation. The first message begins a branch."}
	}
	return Input{Mode: Send, Send: "Send"}
}

func titleOf(f Facts, id string) string { return treeOf(f).Rows[id].Title }
