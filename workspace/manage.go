package workspace

import (
	"context"
	"strings"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// Rename sets the title of a session.
func (w *Workspace) Rename(ctx context.Context, name, title string) (*Entry, error) {
	op := operation.Operation{Verb: "rename", Args: store.Args{"session": name, "title": title}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*Entry, error) {
		if strings.TrimSpace(title) == "" {
			return nil, &fault.Error{Code: fault.Usage, Message: "the title is empty"}
		}
		if err := store.CheckTitle("title", title); err != nil {
			return nil, err
		}
		s, err := ownSession(tx.View, name)
		if err != nil {
			return nil, err
		}
		edit := s.Edit()
		edit.SetMeta("title", title)
		if s.Meta.Auto { // a named checkpoint is not automatic
			edit.DeleteMeta("bough.auto")
		}
		if err := tx.Replace(edit); err != nil {
			return nil, err
		}
		entry := entryOf(tx.View, s.ID)
		return &entry, nil
	})
}

// ownSession returns a session that bough may change, which excludes Penguin's
// checkpoints.
func ownSession(v *store.View, name string) (*session.Outline, error) {
	id, err := ownID(v, name)
	if err != nil {
		return nil, err
	}
	return v.Outline(id)
}

// ownID returns the id of a session that bough may change.
func ownID(v *store.View, name string) (string, error) {
	id, err := v.Resolve(name)
	if err == nil && v.IsPenguin(id) {
		err = &fault.Error{
			Code:    fault.ReadOnly,
			Message: id + " is a checkpoint of Penguin, which bough only reads",
			Next:    fault.Do(fault.BranchSession, id),
		}
	}
	return id, err
}

// RemoveOptions are the choices for removing a session.
type RemoveOptions struct {
	// Force removes a session although snapshots were copied from it, which do not
	// need it, and although it is a tree of an agent, from which it is removed.
	Force bool
	// Line removes all files of the line.
	Line bool
}

// Remove moves a session to the trash and returns its last entry. A session
// with children is refused. If the head is in the session, it is unset.
func (w *Workspace) Remove(ctx context.Context, name string, o RemoveOptions) (*Entry, error) {
	op := operation.Operation{Verb: "rm", Args: store.Args{"session": name, "force": o.Force, "line": o.Line}}
	return store.Update(ctx, w.store, op, func(tx *store.Tx) (*Entry, error) {
		id, err := ownID(tx.View, name)
		if err == nil && !tx.View.IsPacked(id) { // the messages of a packed one need not be readable
			_, err = tx.View.Outline(id)
		}
		if err != nil {
			return nil, err
		}
		ids := []string{id}
		if o.Line {
			if ids, err = tx.View.WholeLine(id); len(ids) == 0 {
				return nil, err
			}
		}
		if err := tx.View.MayRemove(ids, o.Force); err != nil {
			return nil, err
		}
		if err := tx.LeaveAgent(ids, o.Force); err != nil {
			return nil, err
		}
		entry := entryOf(tx.View, id)
		tx.Op.Args["session"], tx.Op.Args["title"] = id, entry.Title
		return &entry, tx.RemoveAll(ids)
	})
}
