package workspace

import (
	"context"
	"strings"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/rewrite"
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
func (w *Workspace) EditMessage(ctx context.Context, ref string, o rewrite.EditOptions) (*rewrite.Edited, error) {
	if strings.TrimSpace(o.Text) == "" {
		return nil, &fault.Error{Code: fault.Usage, Message: "the text is empty; nothing was changed"}
	}
	if err := store.CheckUTF8("text", o.Text); err != nil {
		return nil, err
	}
	op := operation.Operation{Verb: "edit", Args: store.Args{"ref": ref}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*rewrite.Edited, error) {
		p, m, err := userMessage(tx.View, ref)
		if err != nil {
			return nil, err
		}
		from := store.Origin{Session: p.Source().ID, Message: m.ID}
		out := &rewrite.Edited{Session: from.Session, From: rewrite.Origin(from)}
		p.Node = p.Parent(p.Node)
		out.Parent = session.ID(p.MessageID())
		if spoken.Text(m.Raw) == o.Text {
			out.Unchanged = true
			return out, nil
		}
		raw, err := spoken.WithText(m.Raw, o.Text)
		if err == nil {
			raw, err = sjson.SetRawBytes(raw, "timestamp", rawjson.Compact(tx.View.Index.Dialect().Time(tx.View.Now(p.Line))))
		}
		if err != nil {
			return nil, err
		}
		list := []store.Copy{{Raw: raw, Own: []rawjson.Pair{{Key: "edited", Value: rawjson.Compact(from)}}}}
		if err := tx.NewCopies(list); err != nil {
			return nil, err
		}
		out.Message = session.ID(list[0].ID)
		out.ForkedFrom, out.Mixed = forkOrMix(tx.View, p)
		return out, addCopies(tx, p, list, o.KeepHead, out.ForkedFrom != "", &out.Session)
	})
}
