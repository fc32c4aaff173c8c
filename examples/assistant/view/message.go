package view

import (
	"github.com/bough-dev/bough/agent/turn"
)

// An Author is the side that wrote a message.
type Author string

// The authors.
const (
	You       Author = "You"
	Assistant Author = "Assistant"
	Tool      Author = "Tool"
	System    Author = "System"
)

// A Message is one message of the conversation.
type Message struct {
	Ref      string // selects it in the workspace; "" while it is arriving
	Author   Author
	Text     string
	Time     string
	Arriving bool // the assistant is still writing it
}

func messagesOf(f Facts) (list []Message) {
	for _, m := range f.Open.Messages {
		s := Message{Ref: f.Open.Entry.ID + "@" + m.ID, Author: authorOf(m.Role()), Text: m.Text()}
		if at, ok := m.Time(); ok {
			s.Time = at.Local().Format("2 Jan 15:04")
		}
		if s.Text == "" {
			s.Text = "(no text)"
		}
		list = append(list, s)
	}
	if f.isRunning() && f.Agent.Session == f.Line() && f.Agent.Turn.State == turn.Streaming {
		list = append(list, Message{Author: Assistant, Text: f.Arriving + "…", Arriving: true})
	}
	return list
}

func authorOf(role string) Author {
	switch role {
	case "user":
		return You
	case "tool":
		return Tool
	case "system":
		return System
	}
	return Assistant
}

// A Queued is a message that waits for its delivery.
type Queued struct {
	ID   string
	Text string
	Mode string // when it is delivered: after the reply, next, or [Held]
}

// Held is the mode of a message that waits until the user resumes the queue.
const Held = "held"

// queueOf returns the messages that wait for the agent, in the order of their
// delivery.
func queueOf(f Facts) (list []Queued) {
	if f.Agent.Session != f.Line() {
		return nil
	}
	add := func(entries []turn.Entry, when string) {
		for _, e := range entries {
			q := Queued{ID: e.ID, Text: e.Content, Mode: when}
			if e.State == turn.Held {
				q.Mode = Held
			}
			list = append(list, q)
		}
	}
	add(f.Agent.SteerQueue, "next")
	add(f.Agent.FollowUpQueue, "after the reply")
	return list
}
