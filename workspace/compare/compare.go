// Package compare has the comparison of paths of conversations: from where they part, what each
// added, and a model's view of it. The package itself accesses no files.
package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/internal/cited"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/files"
)

// Max is how many paths can be compared at once.
const Max = 16

// Options are the choices for a comparison.
type Options struct {
	// Tokens counts the tokens of a text. If nil, [Side.Tokens] is 0.
	Tokens func(text string) int
	session.ReadOptions
}

// A Comparison is two or more paths, from where they part.
type Comparison struct {
	// Common is the last message that all paths have, null if there is none; CommonRef is a REF
	// to it, and Shared the number of messages up to it.
	Common    session.ID `json:"common"`
	CommonRef string     `json:"common_ref"`
	Shared    int        `json:"shared"`
	Sides     []Side     `json:"sides"` // in the order in which they were given
	Summary   *Summary   `json:"summary,omitempty"`

	CommonMessage *session.Message `json:"-"`
}

// A Side is one path, and what it has beyond the common message.
type Side struct {
	Ref      string       `json:"ref"`        // as it was given
	Session  string       `json:"session_id"` // the first file of the conversation
	Message  session.ID   `json:"message_id"` // the end of the path, null in an empty conversation
	EndRef   string       `json:"end_ref"`    // a REF to that, "" in an empty conversation
	Title    string       `json:"title"`
	Kind     session.Kind `json:"kind"`
	Turns    int          `json:"turns"`    // messages of persons
	Tokens   int          `json:"tokens"`   // of the texts and calls, as counted by [Options.Tokens]
	Models   []string     `json:"models"`   // that wrote messages, in the order of their first one
	Agent    string       `json:"agent"`    // the agent that owns the conversation, "" for none
	Outcome  *Outcome     `json:"outcome"`  // null if no exploration wrote a message
	Files    *Files       `json:"files"`    // null if there are no states that say what changed
	Messages []Message    `json:"messages"` // those beyond the common message, in order
}

// An Outcome is the result of an exploration on a side, in its last message that an exploration wrote.
type Outcome struct {
	Exploration string          `json:"exploration_id"`
	Message     string          `json:"message_id"`
	Confidence  *float64        `json:"confidence"`        // from 0 to 1, null if unknown
	Success     *bool           `json:"success"`           // whether the runner succeeded, such as tests; null if unknown
	Metrics     json.RawMessage `json:"metrics,omitempty"` // an object of numbers
}

// Files is how the files of a side changed, between two states.
type Files struct {
	From    string         `json:"from"` // ids of states
	To      string         `json:"to"`
	Dir     string         `json:"dir"` // the folder of the second one
	Changes []files.Change `json:"changes"`
}

// A Message is a message of a side.
type Message struct {
	ID    string    `json:"message_id"`
	Ref   string    `json:"ref"`
	Role  string    `json:"role"`
	Model string    `json:"model"` // that wrote it, "" if unknown
	Time  time.Time `json:"created_at"`
	Text  string    `json:"text"` // its first words, on one line
	// Merged is true if the message is a merge.
	Merged bool `json:"merged,omitempty"`

	Message session.Message `json:"-"`
}

// A Summary is what a model says about a comparison.
type Summary struct {
	Model string   `json:"model"`
	Text  string   `json:"text"`
	Cites []string `json:"cites"` // the REFs in it, all of messages of the comparison
}

// Prompt asks a model what distinguishes the sides, and which one to continue.
func (c *Comparison) Prompt() string {
	var b strings.Builder
	b.WriteString("A conversation was continued in several ways. Compare them: what each found and decided, where they agree " +
		"and where they contradict each other, what each is missing, and which one to continue, with the reasons. " + cited.Rule +
		" Answer with the text alone.\n")
	if c.CommonMessage != nil {
		common := []cited.Message{{Ref: c.CommonRef, Message: *c.CommonMessage}}
		b.WriteString("\nThe last message that all have:\n" + cited.Quote(cited.Transcript(common)))
	}
	for i := range c.Sides {
		s := &c.Sides[i]
		fmt.Fprintf(&b, "\nWay %d, %q", i+1, s.Title)
		if o := s.Outcome; o != nil && o.Confidence != nil {
			fmt.Fprintf(&b, ", confidence %.2g", *o.Confidence)
		}
		if o := s.Outcome; o != nil && o.Success != nil {
			fmt.Fprintf(&b, ", success: %t", *o.Success)
		}
		b.WriteString(":\n" + cited.Quote(cited.Transcript(s.sources())))
		if s.Files != nil && len(s.Files.Changes) > 0 {
			var list []string
			for _, f := range s.Files.Changes {
				list = append(list, f.Kind+" "+f.Path)
			}
			b.WriteString("Its files:\n" + cited.Quote(strings.Join(list, "\n")))
		}
	}
	return b.String()
}

func (s *Side) sources() []cited.Message {
	list := make([]cited.Message, len(s.Messages))
	for i, m := range s.Messages {
		list[i] = cited.Message{Ref: m.Ref, Message: m.Message}
	}
	return list
}

// Summarize asks a model for a summary. id is the provider's name of the model. An answer that
// cites messages that are not in the comparison, or none, is an error with the code
// [fault.Refused].
func (c *Comparison) Summarize(ctx context.Context, m model.Model, id string) (*Summary, error) {
	var sources []cited.Message
	if c.CommonMessage != nil {
		sources = append(sources, cited.Message{Ref: c.CommonRef, Message: *c.CommonMessage})
	}
	for i := range c.Sides {
		sources = slices.Concat(sources, c.Sides[i].sources())
	}
	text, refs, err := cited.Ask(ctx, m, id, c.Prompt(), sources)
	if wrong, ok := errors.AsType[*cited.Error](err); ok {
		err = &fault.Error{Code: fault.Refused, Message: wrong.Error(), Hint: "try again, or use another model", Err: wrong}
	}
	if err != nil {
		return nil, err
	}
	return &Summary{Model: id, Text: text, Cites: refs}, nil
}
