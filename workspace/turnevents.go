package workspace

import (
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A turnEvent is an event in a turn, as stored in the argument chat of an
// operation. An event with the type [events.MessageAdded] is the message that
// the operation wrote, and marks its position among the others.
type turnEvent struct {
	Type    events.Type `json:"type"`
	Message string      `json:"message_id,omitempty"`
	Tool    string      `json:"tool,omitempty"` // name of the tool that was started
	Call    string      `json:"call_id,omitempty"`
	Ended   turn.Ending `json:"ended,omitempty"`
	Error   string      `json:"error,omitempty"`
}

// turnEvents returns the events of actions: a list for each message that they
// write, or one list if they write none. problem is the failure of the turn.
// runs reports whether the tool of a call runs without approval.
func turnEvents(acts []turn.Action, problem string, runs func(turn.Action) bool) [][]turnEvent {
	steps := [][]turnEvent{{}}
	written := 0
	for _, act := range acts {
		t := turnEvent{Type: events.Type(act.Event), Message: act.ID}
		switch {
		case act.Kind == turn.DoWrite:
			if written++; written > 1 {
				steps = append(steps, nil)
			}
			t = turnEvent{Type: events.MessageAdded}
		case act.Kind == turn.DoRun && runs(act):
			t = turnEvent{Type: events.ToolStarted, Message: act.ID, Tool: act.Call.Name, Call: act.Call.ID}
		case act.Kind != turn.DoEmit || t.Type == events.ChatContent:
			continue
		case t.Type == events.ChatComplete:
			if t.Ended = turn.Ending(act.Text); t.Ended == turn.Failed || t.Ended == turn.Limited {
				t.Error = problem
			}
		}
		steps[len(steps)-1] = append(steps[len(steps)-1], t)
	}
	return steps
}

// chatEvents merges the turn's events of an operation into its other events:
// around the message that it added.
func chatEvents(o *operation.Operation, list []events.Event) []events.Event {
	var said []turnEvent
	data, err := json.Marshal(o.Args["chat"])
	if err != nil || json.Unmarshal(data, &said) != nil || len(said) == 0 {
		return list
	}
	name, _ := o.Args["agent"].(string)
	first := session.ID("")
	if len(o.Sessions) > 0 {
		first = session.ID(o.Sessions[0])
	}
	at := slices.IndexFunc(list, func(e events.Event) bool { return e.Type == events.MessageAdded })
	if at < 0 {
		at = len(list)
	}
	for _, t := range said {
		if t.Type == events.MessageAdded {
			at = len(list)
			continue
		}
		list = slices.Insert(list, at, events.Event{
			Seq: o.Seq, Time: store.TimeOf(o.Time), Type: t.Type, Session: first, Message: session.ID(t.Message),
			Agent: name, Tool: t.Tool, Call: t.Call, Ended: t.Ended, Error: t.Error, Verb: o.Verb,
		})
		at++
	}
	return list
}
