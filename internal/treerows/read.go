package treerows

import (
	"context"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
)

// maxOpened is how many conversations are read with their messages.
const maxOpened = 20

// Read reads what s lacks: the forest if it is nil; the head, the bookmarks and the owners; and the
// messages of the first conversations that open returns. A damaged file of the head or of bookmarks,
// or of a conversation, does not hide the others: what it has is missing.
func Read(ctx context.Context, w *workspace.Workspace, s Source, open func(*Source) []string) (_ Source, err error) {
	if s.Forest == nil {
		if s.Forest, err = w.Tree(ctx, ""); err != nil {
			return s, err
		}
	}
	s.Head, err = w.Head(ctx)
	if err = unlessDamaged(err); err != nil {
		return s, err
	}
	marks, err := w.Bookmarks(ctx, workspace.BookmarksOptions{})
	if err = unlessDamaged(err); err != nil {
		return s, err
	}
	if marks != nil {
		s.Bookmarks = marks.Bookmarks
	}
	owners, err := w.Agents(ctx)
	if err != nil {
		return s, err
	}
	s.Agents = map[string]string{}
	for _, a := range owners.Agents {
		for _, t := range a.Trees {
			s.Agents[t.ID] = a.Name
		}
	}
	if s.Messages == nil {
		s.Messages = map[string]*workspace.MessageTree{}
	}
	for _, id := range open(&s) {
		if len(s.Messages) >= maxOpened {
			break
		}
		if s.Messages[id] != nil {
			continue
		}
		if t, err := w.MessageTree(ctx, id, session.ReadOptions{Partial: true}); err == nil {
			s.Messages[t.Session] = t
		}
	}
	return s, nil
}

func unlessDamaged(err error) error {
	if err != nil && workspace.Explain(err).Code == fault.Damaged {
		return nil
	}
	return err
}
