package workspace

import (
	"context"
	"strings"

	"github.com/bough-dev/bough/agent/turn"
	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/rewrite"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// UserText returns the text of the user's message at ref: that of its text parts, separated by
// empty lines. The error for any other message has the code [fault.Refused].
func (w *Workspace) UserText(ctx context.Context, ref string) (string, error) {
	return store.Read(ctx, w.store, func(v *store.View) (string, error) {
		_, m, err := userMessage(v, ref)
		return spoken.Text(m.Raw), err
	})
}

// userMessage returns a message that a person wrote.
func userMessage(v *store.View, ref string) (*store.Place, session.Message, error) {
	p, err := v.Place(ref, false)
	if err != nil {
		return nil, session.Message{}, err
	}
	if p.Node < 0 {
		return nil, session.Message{}, &fault.Error{Code: fault.NotFound, Message: p.SessionID() + " has no messages"}
	}
	m, err := v.Message(p.Line, p.Node)
	if err == nil && !spoken.ByPerson(m) {
		err = &fault.Error{Code: fault.Refused, Message: "the message " + m.ID + " is not the user's: its role is " + m.Role(), Hint: "only messages of the user are edited"}
		if m.Role() == "user" {
			err = &fault.Error{Code: fault.Refused, Message: "the message " + m.ID + " is the result of a tool", Hint: "only messages of the user are edited"}
		}
	}
	return p, m, err
}

// EditMessage adds a message with another text below the parent of the user's message at ref, as
// its sibling, and moves the head there. What the message has beside text, such as images, is
// kept. If the text is the same, nothing is written. In a checkpoint, the sibling begins a branch
// of it.
//
// With o.Answer, an agent answers the new message as [Agent.Chat] does, and the head moves to the
// answer. Agents answer in their own trees: if the conversation is not a tree of the agent, the new
// message begins one, with a copy of the messages before it. If the turn fails, the message stays,
// and [Agent.Retry] asks again. The operations form one group, which [Workspace.Undo] undoes
// together.
func (w *Workspace) EditMessage(ctx context.Context, ref string, o rewrite.EditOptions) (*rewrite.Edited, error) {
	if strings.TrimSpace(o.Text) == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: "the text is empty; nothing was changed"}
	}
	if err := store.CheckUTF8("text", o.Text); err != nil {
		return nil, err
	}
	if o.Answer != nil {
		return w.editAnswered(ctx, ref, o)
	}
	op := operation.Operation{Verb: "edit", Args: store.Args{"ref": ref}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*rewrite.Edited, error) {
		p, m, err := userMessage(tx.View, ref)
		if err != nil {
			return nil, err
		}
		out := edited(p, m, o.Text)
		if out.Unchanged {
			return out, nil
		}
		raw, err := spoken.WithText(m.Raw, o.Text)
		if err == nil {
			raw, err = sjson.SetRawBytes(raw, "timestamp", rawjson.Compact(tx.View.Index.Dialect().Time(tx.View.Now(p.Line))))
		}
		if err != nil {
			return nil, err
		}
		list := []store.Copy{{Raw: raw, Own: []rawjson.Pair{{Key: "edited", Value: rawjson.Compact(out.From)}}}}
		if err := tx.NewCopies(list); err != nil {
			return nil, err
		}
		out.Message = session.ID(list[0].ID)
		out.ForkedFrom, out.Mixed = forkOrMix(tx.View, p)
		return out, addCopies(tx, p, list, o.KeepHead, out.ForkedFrom != "", &out.Session)
	})
}

// edited describes the edit of the message m at p, and moves p to the parent.
func edited(p *store.Place, m session.Message, text string) *rewrite.Edited {
	out := &rewrite.Edited{Session: p.Source().ID, From: turn.Origin{Session: p.Source().ID, Message: m.ID}}
	p.Node = p.Parent(p.Node)
	out.Parent = session.ID(p.MessageID())
	out.Unchanged = spoken.Text(m.Raw) == text
	return out
}

// An answeredEdit is an edited message for an agent.
type answeredEdit struct {
	agent  string
	prompt agents.Prompt
	head   string // the REF of the head if it is in the conversation, else ""
	out    *rewrite.Edited
}

func (w *Workspace) editAnswered(ctx context.Context, ref string, o rewrite.EditOptions) (*rewrite.Edited, error) {
	e, err := store.Read(ctx, w.store, func(v *store.View) (*answeredEdit, error) { return planAnswered(v, ref, o) })
	if err != nil {
		return nil, err
	}
	if e.out.Unchanged {
		return e.out, nil
	}
	w = &Workspace{w.store.Together("edit")}
	if err := w.needAgent(ctx, e.agent, o.Answer.Turn.Model); err != nil {
		return nil, err
	}
	said, err := w.Agent(e.agent).Chat(ctx, e.prompt, o.Answer.Turn)
	if err != nil {
		return nil, err
	}
	a, err := w.Agent(e.agent).Info(ctx)
	if err != nil {
		return nil, err
	}
	e.out.Message = session.ID(a.Turn.Prompt)
	e.out.Answer = &rewrite.Answer{Agent: a.Name, Message: said.Node, Text: said.Reply}
	e.out.Session, err = store.Read(ctx, w.store, func(v *store.View) (string, error) {
		p, err := v.PlaceAt(said.Tree, a.Turn.Prompt, false)
		if err != nil {
			return "", err
		}
		return p.Source().ID, nil
	})
	to := said.Tree + "@" + string(said.Node)
	if o.KeepHead {
		to = e.head // it would count as outdated, because the line has a newer message
	}
	if err == nil && to != "" {
		_, err = w.Rewind(ctx, to, checkpoint.CutOptions{})
	}
	return e.out, err
}

func planAnswered(v *store.View, ref string, o rewrite.EditOptions) (*answeredEdit, error) {
	p, m, err := userMessage(v, ref)
	if err != nil {
		return nil, err
	}
	e := &answeredEdit{out: edited(p, m, o.Text)}
	raw, err := spoken.WithText(m.Raw, o.Text)
	if err != nil {
		return nil, err
	}
	if e.agent, err = answerer(v, o.Answer.Agent, p); err != nil {
		return nil, err
	}
	from := e.out.From
	e.prompt = agents.Prompt{Text: spoken.Text(raw), Content: []byte(gjson.GetBytes(raw, "content").Raw), Edited: &from}
	owner, err := v.Owner(p.Parts[0].ID)
	switch {
	case err != nil:
		return nil, err
	case owner != nil && owner.Name == e.agent:
		e.prompt.Beside = p.Parts[0].ID + "/" + m.ID
		if head := headOf(v, p.Line); head >= 0 {
			e.head = p.Parts[p.Part(head)].ID + "@" + p.ID(head)
		}
	case p.Node < 0:
		e.prompt.Fresh = true
	default:
		e.prompt.From = p.SessionID() + "@" + p.MessageID()
		e.out.ForkedFrom = session.ID(p.Frozen())
	}
	return e, nil
}
