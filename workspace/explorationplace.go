package workspace

import (
	"context"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A StartPoint is a message at which an exploration can begin.
type StartPoint struct {
	Session  string // the id of the line's first file
	Message  string
	Agent    *agents.Agent // the owner of the line, nil for none
	Question string        // the last message of a person on its path that is not a merge, "" if there is none
	Reply    string        // the text of an assistant's message, else ""
	// Earlier are the replies before the message that say something, the newest first; at most 8.
	Earlier []session.Message
	Frozen  string // the checkpoint with the message, else ""
}

// maxEarlier is how many earlier replies a [StartPoint] has.
const maxEarlier = 8

// ExplorationPlace returns the start point at ref. It returns an error if
// the conversation is empty or if the message is between a tool call and its
// result.
func (w *Workspace) ExplorationPlace(ctx context.Context, ref string) (*StartPoint, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*StartPoint, error) {
		p, err := v.Place(ref, false)
		if err != nil {
			return nil, err
		}
		if p.Node < 0 {
			return nil, &fault.Error{Code: fault.Refused, Message: p.SessionID() + " is empty: there is no message to explore", Next: fault.Do(fault.AppendMessage)}
		}
		if _, err := p.Cut(checkpoint.CutOptions{Strict: true}); err != nil {
			return nil, err
		}
		f := &StartPoint{Session: p.Parts[0].ID, Message: p.MessageID(), Frozen: p.Frozen()}
		if f.Agent, err = v.Owner(f.Session); err != nil {
			return nil, err
		}
		path, err := v.Messages(p.Line, p.Path(p.Node))
		if err != nil {
			return nil, err
		}
		if last := path[len(path)-1]; last.Role() == "assistant" {
			f.Reply = last.Text()
		}
		for _, m := range slices.Backward(path[:len(path)-1]) {
			if m.Role() == "assistant" && m.Text() != "" && len(f.Earlier) < maxEarlier {
				f.Earlier = append(f.Earlier, m)
			}
		}
		for _, m := range slices.Backward(path) {
			if spoken.Asks(m) {
				f.Question = m.Text()
				break
			}
		}
		return f, nil
	})
}
