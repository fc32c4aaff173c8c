// Package view decides what the window of the assistant shows. It is pure: its
// input is what package workspace returned, its output are strings and choices
// that widgets display as they are.
package view

import (
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/agents"
)

// Facts are the state of a workspace.
type Facts struct {
	Sessions *workspace.Forest
	Agent    *agents.Snapshot
	Trees    []string                // the ids of the agent's conversations
	Ref      string                  // what the user opened: a conversation, or one of its ends
	Open     *workspace.Conversation // the path that is shown
	Ends     []workspace.Leaf        // of the open conversation
	// Dependents are the sessions that depend on the open conversation.
	Dependents *workspace.Dependents
	Arriving   string // the text so far of the reply that is being written
	Stoppable  bool   // this program runs the agent, so it can stop it
	Limit      int    // maximum number of messages to show, zero for all
}

// A Screen is what the window shows.
type Screen struct {
	Tree     Tree
	Title    string
	Detail   string
	Earlier  int // how many messages before Messages are not shown
	Messages []Message
	Queue    []Queued
	Input    Input
	Save     Action
	Delete   Action
}

// An Action is a button. A disabled one has a reason.
type Action struct {
	Enabled bool
	Reason  string
}

// Of returns the screen that shows facts.
func Of(f Facts) Screen {
	s := Screen{Tree: treeOf(f), Queue: queueOf(f), Input: inputOf(f), Delete: deletion(f)}
	row := s.Tree.Rows[s.Tree.Open]
	s.Title = row.Title
	s.Detail = fmt.Sprintf("%s, %s", row.kind(), count(len(f.Open.Messages), "message"))
	s.Messages = messagesOf(f)
	if s.Save = (Action{Enabled: true}); len(f.Open.Messages) == 0 {
		s.Save = Action{Reason: "There is no message to save yet."}
	}
	if f.Limit > 0 && len(s.Messages) > f.Limit {
		s.Earlier = len(s.Messages) - f.Limit
		s.Messages = s.Messages[s.Earlier:]
	}
	return s
}

// EndRef returns the reference to an end of a conversation.
func EndRef(conversation, message string) string { return conversation + "@" + message }

// end returns the end that the user opened, "" for the newest one.
func (f Facts) end() string {
	_, message, _ := strings.Cut(f.Ref, "@")
	return message
}

// isRunning reports whether the agent is answering.
func (f Facts) isRunning() bool {
	return f.Agent.Turn.State != "" && f.Agent.Turn.State != turn.Idle
}

// Line returns the first file of the open conversation.
func (f Facts) Line() string { return lineOf(f.Sessions.Roots, f.Open.Entry.ID) }

// isFrozen reports whether the open conversation is a checkpoint.
func (f Facts) isFrozen() bool { return f.Open.Entry.Kind == session.Checkpoint }

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
