package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// Conclude judges an exploration, and adds what it comes to as one message below the one
// that it began at, with where it came from. No head moves. Where a model is given it
// makes one text of the results of a synthesis.
func Conclude(ctx context.Context, w *workspace.Workspace, e *Exploration, method Method, o Options) error {
	e.Method = method
	v := Evaluate(method, e.Branches, e.Config)
	if prompt, ok := SynthesisPrompt(e.Question, e.Branches, e.Config); ok && v.Strategy == Synthesis && v.Fallback == "" && o.Model != nil {
		text, err := json.Marshal(prompt)
		if err != nil {
			return err
		}
		reply, err := o.Model.Ask(ctx, &agent.Request{
			Agent: e.Agent, ModelID: e.Runner.Model,
			Messages: []agent.Message{{ID: e.ID, Role: "user", Content: text, Metadata: json.RawMessage("{}")}},
		}, func(string) {})
		if err != nil {
			return fmt.Errorf("the results are not made one: %w", err)
		}
		v = v.Synthesized(e.Runner.Model, reply.Text)
	}
	e.Evaluation = &v
	if len(v.From) > 0 {
		id := e.messageID(string(method), v.Result)
		if err := e.keepOutcome(ctx, w, id); err != nil {
			return err
		}
		e.Outcome = &id
	}
	return w.KeepExploration(ctx, e.ID, e.Encode())
}

// Adopt moves the head to what an exploration came to, or, where a branch is named, to
// its result, which becomes a message below the one that the exploration began at. It is
// the head of the agent whose conversation that is, else that of the workspace.
func Adopt(ctx context.Context, w *workspace.Workspace, e *Exploration, branch string) error {
	node := e.Outcome
	if node != nil && e.Evaluation != nil {
		// It may have been taken back since.
		if err := e.keepOutcome(ctx, w, *node); err != nil {
			return err
		}
	}
	if branch != "" && (e.Evaluation == nil || e.Evaluation.Selected != branch || node == nil) {
		b := e.Branch(branch)
		switch {
		case b == nil:
			return &workspace.Error{Code: workspace.NotFound, Message: fmt.Sprintf("the exploration has no branch %q", branch), Hint: "'bough explore show " + e.ID + "' lists them"}
		case b.Status != Completed:
			return &workspace.Error{Code: workspace.Refused, Message: "the branch " + b.Strategy + " has no result: it is " + string(b.Status)}
		}
		id := e.messageID("branch", b.ID)
		err := w.KeepOutcome(ctx, workspace.Outcome{
			ID: id, Session: e.Session, Parent: e.Node, Text: b.Result, From: member,
			Origin: map[string]any{"id": e.ID, "selected": b.ID, "from": []string{b.ID}, "confidence": b.Confidence},
		})
		if err != nil {
			return err
		}
		node = &id
	}
	if node == nil {
		return &workspace.Error{Code: workspace.Refused, Message: "the exploration came to nothing that could be adopted", Hint: "name a branch that has a result"}
	}
	var err error
	if e.Agent != "" {
		_, err = w.RewindAgent(ctx, e.Agent, e.Session+"/"+*node, workspace.CutOptions{})
	} else {
		_, err = w.Rewind(ctx, e.Session+"@"+*node, workspace.CutOptions{})
	}
	if err != nil {
		return err
	}
	e.Adopted = node
	return w.KeepExploration(ctx, e.ID, e.Encode())
}

// keepOutcome adds the message with the id that says what e came to, unless it is there.
func (e *Exploration) keepOutcome(ctx context.Context, w *workspace.Workspace, id string) error {
	v := e.Evaluation
	return w.KeepOutcome(ctx, workspace.Outcome{
		ID: id, Session: e.Session, Parent: e.Node, Text: v.Result, From: member,
		Origin: map[string]any{"id": e.ID, "evaluation": v.Strategy, "selected": v.Selected, "from": v.From, "confidence": v.Confidence},
	})
}

// messageID returns the id of a message that e adds to the conversation. It is always the
// same, so that after a crash, or when asked for again, the message is there once.
func (e *Exploration) messageID(of ...string) string {
	return session.MessageUUID(e.ID, e.ID+" "+strings.Join(of, " "))
}

// Find returns the branch whose id is name, else the one whose strategy it is, else the
// one whose id has it as a piece of four letters or more.
func (e *Exploration) Find(name string) (*Branch, error) {
	if b := e.Branch(name); b != nil {
		return b, nil
	}
	for _, is := range []func(*Branch) bool{
		func(b *Branch) bool { return b.Strategy == name },
		func(b *Branch) bool { return len(name) >= 4 && strings.Contains(b.ID, name) },
	} {
		var found []*Branch
		var ids []string
		for i := range e.Branches {
			if b := &e.Branches[i]; is(b) {
				found, ids = append(found, b), append(ids, b.ID)
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return nil, &workspace.Error{Code: workspace.Ambiguous, Message: fmt.Sprintf("several branches go by %q", name), Hint: "their ids are " + strings.Join(ids, ", ")}
		}
	}
	var names []string
	for _, b := range e.Branches {
		names = append(names, b.Strategy)
	}
	return nil, &workspace.Error{Code: workspace.NotFound, Message: fmt.Sprintf("the exploration has no branch %q", name), Hint: fmt.Sprintf("there are %q", names)}
}
