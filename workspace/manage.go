package workspace

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
)

// Rename sets the title of a session.
func (w *Workspace) Rename(ctx context.Context, name, title string) (*Entry, error) {
	op := operation.Operation{Verb: "rename", Args: args{"session": name, "title": title}}
	return update(ctx, w.store, op, func(tx *Tx) (*Entry, error) {
		if strings.TrimSpace(title) == "" {
			return nil, &fault.Error{Code: fault.Usage, Message: "the title is empty"}
		}
		if err := checkUTF8("title", title); err != nil {
			return nil, err
		}
		s, err := tx.View.ownSession(name)
		if err != nil {
			return nil, err
		}
		edit := s.Edit()
		edit.SetMeta("title", title)
		if s.Meta.Auto { // a named checkpoint is not automatic
			edit.DeleteMeta("bough.auto")
		}
		if err := tx.replace(edit); err != nil {
			return nil, err
		}
		entry := tx.View.entryOf(s.ID)
		return &entry, nil
	})
}

// ownSession returns a session that bough may change, which excludes Penguin's
// checkpoints.
func (v *View) ownSession(name string) (*session.Outline, error) {
	id, err := v.resolve(name)
	if err != nil {
		return nil, err
	}
	if v.isPenguin(id) {
		return nil, &fault.Error{
			Code:    fault.ReadOnly,
			Message: id + " is a checkpoint of Penguin, which bough only reads",
			Next:    fault.Do(fault.BranchSession, id),
		}
	}
	return v.outline(id)
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
	op := operation.Operation{Verb: "rm", Args: args{"session": name, "force": o.Force, "line": o.Line}}
	return update(ctx, w.store, op, func(tx *Tx) (*Entry, error) {
		s, err := tx.View.ownSession(name)
		if err != nil {
			return nil, err
		}
		ids := []string{s.ID}
		if o.Line {
			if ids, err = tx.View.wholeLine(s.ID); len(ids) == 0 {
				return nil, err
			}
		}
		if err := tx.View.mayRemove(ids, o.Force); err != nil {
			return nil, err
		}
		if err := tx.leaveAgent(ids, o); err != nil {
			return nil, err
		}
		entry := tx.View.entryOf(s.ID)
		tx.op.Args["session"], tx.op.Args["title"] = s.ID, entry.Title
		return &entry, tx.removeAll(ids)
	})
}

// removeAll stages the removal of sessions that continue each other, the last
// first, and of a head in one of them.
func (tx *Tx) removeAll(ids []string) error {
	parent := ""
	if tx.View.kind(ids[0]) == session.Continuation {
		parent = tx.View.index.Origin(ids[0])
	}
	for _, id := range slices.Backward(ids) {
		if err := tx.remove(id); err != nil {
			return err
		}
	}
	if tx.View.index.Entry(parent) != nil {
		if o, err := tx.View.outline(parent); err != nil {
			tx.View.follow("the link from "+parent+" is not removed", err)
		} else if err := tx.setContinuedTo(o); err != nil {
			return err
		}
	}
	if h, ok := tx.View.head(); ok && slices.Contains(ids, h.Session) {
		return tx.discard(headFile)
	}
	return nil
}

// wholeLine returns the files of the line of id, unreadable ones included.
func (v *View) wholeLine(id string) ([]string, error) {
	ids, err := v.index.Line(id)
	for i := 0; i < len(ids); i++ {
		for _, child := range v.index.Continuations(ids[i]) {
			if !slices.Contains(ids, child) {
				ids = append(ids, child)
			}
		}
	}
	return ids, err
}

// mayRemove returns an error if a session that stays depends on one of ids.
func (v *View) mayRemove(ids []string, force bool) error {
	var continued, copied []string
	for _, id := range ids {
		for _, child := range v.index.Children(id) {
			switch {
			case slices.Contains(ids, child):
			case slices.Contains(v.index.Continuations(id), child):
				continued = append(continued, child)
			case v.isAuto(child): // automatic, and independent of its origin
			default:
				copied = append(copied, child)
			}
		}
		copied = append(copied, v.penguinBelow(id)...)
	}
	refuse := func(why string, children []string, hint string) error {
		return &fault.Error{
			Code:    fault.HasChildren,
			Message: fmt.Sprintf("%s %s %s", ids[0], why, strings.Join(children, ", ")),
			Hint:    hint,
		}
	}
	switch {
	case len(continued) > 0:
		return refuse("is continued by", continued, "--line removes the whole line")
	case len(copied) > 0 && !force:
		return refuse("is the origin of", copied, "--force removes it anyway; checkpoints and branches do not need it")
	}
	return nil
}

// isAuto reports whether a session is an automatic checkpoint.
func (v *View) isAuto(id string) bool {
	e := v.index.Entry(id)
	return e != nil && e.Kind() == session.Checkpoint && e.Auto
}

// penguinBelow returns Penguin's checkpoints that are not flattened and belong
// to a session that continues id: they are incomplete without id.
func (v *View) penguinBelow(id string) []string {
	var ids []string
	for _, cp := range v.penguinIDs() {
		p := v.penguin[cp]
		if p.Type != "auto" && p.Type != "rollback" || p.Session == id {
			continue
		}
		lineage, _ := v.index.Lineage(p.Session)
		for i := len(lineage) - 1; i > 0 && v.kind(lineage[i]) == session.Continuation; i-- {
			if lineage[i-1] == id {
				ids = append(ids, cp)
			}
		}
	}
	return ids
}
