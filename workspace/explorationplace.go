package workspace

import (
	"context"
	"slices"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
)

// A Fork is a message from which several ways can be gone.
type Fork struct {
	Session  string // its line: the id of the first file
	Message  string
	Agent    *agents.Agent // the owner of the line, nil for none
	Question string        // the last message of the user on the path to it, "" if there is none
	Reply    string        // its text if it is an assistant's, else ""
	Frozen   string        // the checkpoint that it is in, "" if it is in none
}

// ExplorationPlace returns the fork that ref points to. An empty conversation is refused,
// and one where a tool call would be parted from its result.
func (w *Workspace) ExplorationPlace(ctx context.Context, ref string) (*Fork, error) {
	return read(ctx, w.store, func(v *View) (*Fork, error) {
		p, err := v.place(ref, false)
		if err != nil {
			return nil, err
		}
		if p.node < 0 {
			return nil, &fault.Error{Code: fault.Refused, Message: p.id() + " is empty: there is nothing to begin at", Next: fault.Do(fault.AppendMessage)}
		}
		if _, err := p.cut(checkpoint.CutOptions{Strict: true}); err != nil {
			return nil, err
		}
		f := &Fork{Session: p.Parts[0].ID, Message: p.messageID(), Frozen: v.frozen(p)}
		if f.Agent, err = v.owner(f.Session); err != nil {
			return nil, err
		}
		path, err := v.messages(p.line, p.Path(p.node))
		if err != nil {
			return nil, err
		}
		if last := path[len(path)-1]; last.Role() == "assistant" {
			f.Reply = last.Text()
		}
		for _, m := range slices.Backward(path) {
			if m.Role() == "user" {
				f.Question = m.Text()
				break
			}
		}
		return f, nil
	})
}
