package models

import (
	"context"
	"strings"
	"time"

	"github.com/bough-dev/bough/agent/model"
)

// introduction is what the script of [Open] says.
var introduction = []string{
	"I am a script, not a model: start the assistant with `-model openai:NAME`, `-model anthropic:NAME` or `-model command:CMD` for real answers.\n\n" +
		"Everything else is real. Write another message while I am answering, and you *steer* me; Alt+Enter *follows up* after my answer.",
	"Save a checkpoint, and open it in the sidebar: it is read-only, and your first message there begins a branch. " +
		"The menu of each message begins a branch at any earlier point.",
	"Every change is an operation in the workspace. **Undo** reverts the newest one, whichever program made it.",
	"The folder is an ordinary workspace. In a terminal, `bough -w FOLDER tree` draws it and `bough -w FOLDER watch` follows what happens here; " +
		"what you change there appears in this window.",
}

// A Script is a model that answers the n-th message of the user with its n-th
// line, a word at a time. After the last line it begins again.
type Script struct {
	Lines []string
	Pace  time.Duration // the time between two words
}

// Ask implements [model.Model].
func (s *Script) Ask(ctx context.Context, r *model.Request, stream func(text string)) (*model.Reply, error) {
	asked := 0
	for _, m := range r.Messages {
		if m.Role == "user" {
			asked++
		}
	}
	line := s.Lines[max(0, asked-1)%len(s.Lines)]
	for word := range strings.SplitAfterSeq(line, " ") {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(s.Pace):
		}
		stream(word)
	}
	return &model.Reply{Text: line}, nil
}
