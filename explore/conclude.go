package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bough-dev/bough/agent/model"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/lookup"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// conclude evaluates e, and adds the outcome as a message below the explored
// one. For a synthesis, the model combines the results into one text; if m is
// nil, they are only joined.
func (x *Explorer) conclude(ctx context.Context, e *Exploration, method Method, m model.Model) error {
	e.Method = method
	v := evaluate(method, e.Branches, e.Config)
	if prompt, ok := synthesisPrompt(e.Question, e.Branches, e.Config); ok && v.Strategy == Synthesis && v.Fallback == "" && m != nil {
		text, err := json.Marshal(prompt)
		if err != nil {
			return err
		}
		reply, err := m.Ask(ctx, &model.Request{
			Agent: e.Agent, ModelID: e.Runner.Model,
			Messages: []model.Message{{ID: e.ID, Role: "user", Content: text, Metadata: json.RawMessage("{}")}},
		}, func(string) {})
		if err != nil {
			return fmt.Errorf("synthesis by the model: %w", err)
		}
		v = v.synthesized(e.Runner.Model, reply.Text)
	}
	e.Evaluation = &v
	if len(v.From) > 0 {
		id := e.messageID(string(method), v.Result)
		if err := x.addOutcome(ctx, e, id); err != nil {
			return err
		}
		e.Outcome = &id
	}
	return x.Workspace.Exploration(e.ID).Write(ctx, e.Encode())
}

// adopt moves the head to the outcome of e, or to the result of b if b is not
// nil.
func (x *Explorer) adopt(ctx context.Context, e *Exploration, b *Branch) error {
	node, err := x.adoptedNode(ctx, e, b)
	if err != nil {
		return err
	}
	if err := x.moveHead(ctx, e, node); err != nil {
		return err
	}
	e.Adopted = &node
	return x.Workspace.Exploration(e.ID).Write(ctx, e.Encode())
}

// adoptedNode returns the message to which the head moves if the outcome, or the result of b
// if that is not nil, is adopted. It adds the message if it does not exist, also if adding the
// outcome was undone.
func (x *Explorer) adoptedNode(ctx context.Context, e *Exploration, b *Branch) (string, error) {
	if err := e.adoptable(b); err != nil {
		return "", err
	}
	if e.Outcome != nil && e.Evaluation != nil {
		if err := x.addOutcome(ctx, e, *e.Outcome); err != nil {
			return "", err
		}
	}
	if b == nil || e.isOutcome(b) {
		return *e.Outcome, nil
	}
	id := e.messageID("branch", b.ID)
	return id, x.Workspace.AddOutcome(ctx, workspace.Outcome{
		ID: id, Session: e.Session, Parent: e.Node, Text: b.Result, From: member,
		Origin: map[string]any{"id": e.ID, "selected": b.ID, "from": []string{b.ID}, "confidence": b.Confidence},
	})
}

// isOutcome reports whether the outcome is the result of a branch.
func (e *Exploration) isOutcome(b *Branch) bool {
	return e.Outcome != nil && e.Evaluation != nil && e.Evaluation.Selected == b.ID
}

// adoptable returns an error if there is no outcome, or no result of b if that is not nil.
func (e *Exploration) adoptable(b *Branch) error {
	switch {
	case b != nil && !e.isOutcome(b) && b.Status != Completed:
		return &fault.Error{Code: fault.Refused, Message: "the branch " + b.Strategy + " has no result: it is " + string(b.Status)}
	case b == nil && e.Outcome == nil:
		return &fault.Error{Code: fault.Refused, Message: "the exploration has no outcome to adopt", Hint: "name a branch that has a result"}
	}
	return nil
}

func (x *Explorer) moveHead(ctx context.Context, e *Exploration, node string) (err error) {
	if e.Agent != "" {
		_, err = x.Workspace.Agent(e.Agent).Rewind(ctx, e.Session+"/"+node, checkpoint.CutOptions{})
	} else {
		_, err = x.Workspace.Rewind(ctx, e.Session+"@"+node, checkpoint.CutOptions{})
	}
	return err
}

// addOutcome adds the outcome of e as the message with an id, unless it exists.
func (x *Explorer) addOutcome(ctx context.Context, e *Exploration, id string) error {
	v := e.Evaluation
	return x.Workspace.AddOutcome(ctx, workspace.Outcome{
		ID: id, Session: e.Session, Parent: e.Node, Text: v.Result, From: member,
		Origin: map[string]any{"id": e.ID, "evaluation": v.Strategy, "selected": v.Selected, "from": v.From, "confidence": v.Confidence},
	})
}

// messageID returns the id of a message that e adds to a conversation. The same
// arguments give the same id, so that a message is added only once, even after
// a crash.
func (e *Exploration) messageID(of ...string) string {
	return sessionid.MessageUUID(e.ID, e.ID+" "+strings.Join(of, " "))
}

// named returns the branch that name refers to, nil if name is empty.
func (e *Exploration) named(name string) (*Branch, error) {
	if name == "" {
		return nil, nil
	}
	return e.find(name)
}

// find returns the branch that name refers to: its id, else its strategy, else an unambiguous
// prefix of its id.
func (e *Exploration) find(name string) (*Branch, error) {
	kind := lookup.Kind[*Branch]{
		What: "branch",
		Names: func(b *Branch) []lookup.Name {
			return []lookup.Name{{ID: b.ID, Title: b.Strategy}}
		},
		Candidate: func(b *Branch) fault.Candidate {
			return fault.Candidate{Message: session.ID(b.ID), Kind: "branch", Title: b.Strategy, Time: b.StartedAt}
		},
	}
	branches := make([]*Branch, len(e.Branches))
	var strategies []string
	for i := range e.Branches {
		branches[i] = &e.Branches[i]
		strategies = append(strategies, e.Branches[i].Strategy)
	}
	b, err := kind.Find(name, branches)
	var missing *fault.Error
	if errors.As(err, &missing) {
		missing.Hint = fmt.Sprintf("branches: %q", strategies)
	}
	return b, err
}
