package folders

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/restores"
)

// A Head says where the head of the workspace goes, and how far that is from what was asked
// for.
type Head func(*store.View) (*store.Place, checkpoint.Adjustment, error)

// A finder finds what a restore goes to, and the place of the head, which is nil if that
// stays. If the folder is nil, it only finds the folder.
type finder func(*reading, *Folder) (*goal, *store.Place, checkpoint.Adjustment, error)

// Restore brings the files of the folder dir back to the state at a REF, or to the state with
// an id. If dir is empty, and no folder with states contains the current directory, it is the
// folder of that state, which must be in the current directory. If head is not nil, the head
// goes to its place in the same operation, after the files, and the state is that of its
// place. op has the verb and the arguments.
func Restore(ctx context.Context, w *store.Store, dir, ref string, head Head, op operation.Operation, o restores.Options) (*lines.Position, error) {
	return bring(ctx, w, dir, op, o, func(r *reading, f *Folder) (*goal, *store.Place, checkpoint.Adjustment, error) {
		if head == nil {
			g, err := r.goalAt(ref, f)
			return g, nil, checkpoint.Adjustment{}, err
		}
		p, cut, err := head(r.view)
		if err != nil {
			return nil, nil, cut, err
		}
		st, exact, err := r.at(p, ref, f)
		if err != nil {
			return nil, nil, cut, err
		}
		if err := r.mayGo(st, f); err != nil {
			return nil, nil, cut, err
		}
		g, err := r.goalOf(st, exact, p, f)
		return g, p, cut, err
	})
}

// bring brings the files of a folder to what find finds.
func bring(ctx context.Context, w *store.Store, dir string, op operation.Operation, o restores.Options, find finder) (*lines.Position, error) {
	r, err := bringAdding(ctx, w, dir, op, o, find)
	return r.Position, err
}

// bringAdding is bring for a goal that may add a message.
func bringAdding(ctx context.Context, w *store.Store, dir string, op operation.Operation, o restores.Options, find finder) (outcome, error) {
	if err := checkOptions(o); err != nil {
		return outcome{}, err
	}
	f, err := restoredFolder(ctx, w, dir, find)
	if err != nil {
		return outcome{}, err
	}
	return f.restoreAdding(ctx, w, op, o, find)
}

// restore makes a restore, or returns what it would do.
func (f *Folder) restore(ctx context.Context, w *store.Store, op operation.Operation, o restores.Options, find finder) (*lines.Position, error) {
	r, err := f.restoreAdding(ctx, w, op, o, find)
	return r.Position, err
}

// An outcome is what a restore did.
type outcome struct {
	*lines.Position           // its head is the message that was added, if one was
	add             *Addition // nil for none
}

// restoreAdding is restore for a goal that may add a message.
func (f *Folder) restoreAdding(ctx context.Context, w *store.Store, op operation.Operation, o restores.Options, find finder) (out outcome, err error) {
	if o.DryRun {
		out.Position, err = f.preview(ctx, w, o, find)
		return out, err
	}
	if f.ID == "" { // the state is of another machine
		if f.ID, err = sessionid.NewMessage(w.Opts.Random); err != nil {
			return out, err
		}
		f.isNew = true
	}
	h, err := hold(ctx, w, f, op.Verb)
	if err != nil {
		return out, err
	}
	defer h.Release()
	_, err = store.Read(ctx, w, func(v *store.View) (store.Nothing, error) {
		return read(v, func(r *reading) (store.Nothing, error) {
			_, _, _, err := find(r, f)
			return store.Nothing{}, err
		})
	})
	if err == nil {
		err = unchanged(h.prepare(ctx))
	}
	if err != nil {
		return out, err
	}
	out, err = store.Update(h.Ctx, h.w, op, func(tx *store.Tx) (outcome, error) {
		return read(tx.View, func(r *reading) (out outcome, err error) {
			g, p, cut, err := find(r, f)
			if err != nil {
				return out, err
			}
			out.Position, out.add = &lines.Position{}, g.add
			switch {
			case g.add != nil:
				if out.Head.Session, err = g.add.Stage(tx); err != nil {
					return out, err
				}
				out.Head.Message = session.ID(g.add.Message.ID)
			case p != nil:
				if out.Position, err = tx.MoveHeadTo(p); err != nil {
					return out, err
				}
				out.Adjustment = cut
				tx.Op.Sessions = []string{p.SessionID()}
			case g.target.SessionID != "":
				tx.Op.Sessions = []string{g.target.SessionID}
			}
			if out.Files, err = h.change(tx, r.Store, g, o, false); err == nil && g.link {
				err = h.link(r.Store, g.target)
			}
			return out, err
		})
	})
	return out, h.Conclude(err)
}

// restoredFolder returns the folder of a restore.
func restoredFolder(ctx context.Context, w *store.Store, dir string, find finder) (*Folder, error) {
	f, err := only(ctx, w, dir)
	if err != nil {
		return nil, err
	}
	if f != nil {
		f.abroad = dir != ""
	}
	if f != nil && w.Confined { // it may have moved
		f, err = Find(ctx, w, f.Path)
	} else if f == nil {
		of, err := store.Read(ctx, w, func(v *store.View) (of states.Folder, err error) {
			return read(v, func(r *reading) (states.Folder, error) {
				g, _, _, err := find(r, nil)
				if err == nil {
					of.Machine = r.machines[g.target.Folder]
					of.Path, err = r.hereOf(g.target)
				}
				return of, err
			})
		})
		if err != nil {
			return nil, err
		}
		if f, err = Find(ctx, w, of.Path); err != nil {
			return nil, err
		}
		if of.Machine == "" { // else the user named the folder when they mapped it
			if err := f.checkInside(w); err != nil {
				return nil, err
			}
		}
	}
	if err != nil {
		return nil, err
	}
	return f, f.check()
}

// checkInside refuses a folder that was not named and that is not in the current directory: it
// could be another worktree of the same project.
func (f *Folder) checkInside(w *store.Store) error {
	if w.Confined { // the state named it
		return nil
	}
	here, _, err := states.IdentityOf("")
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(here, f.Path); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	return &fault.Error{
		Code:    fault.Refused,
		Message: fmt.Sprintf("the state is of %s, which is not in the current directory", f.Path),
		Hint:    "nothing was changed", Next: fault.Do(fault.ChooseFolder),
	}
}

// preview returns what a restore would do.
func (f *Folder) preview(ctx context.Context, w *store.Store, o restores.Options, find finder) (*lines.Position, error) {
	return store.Read(ctx, w, func(v *store.View) (*lines.Position, error) {
		return read(v, func(r *reading) (pos *lines.Position, err error) {
			g, p, cut, err := find(r, f)
			if err != nil {
				return nil, err
			}
			n := &now{reading: r, folder: f}
			defer func() { err = errors.Join(err, n.close()) }()
			at, err := n.side()
			if err != nil {
				return nil, err
			}
			plan, err := f.plan(r.Store, g, &scanned{at.tree, n.left, at.read}, o)
			if err != nil {
				return nil, err
			}
			pos = &lines.Position{Files: f.resultOf(g, plan, o)}
			if p != nil {
				pos.Head = lines.Head{Session: p.SessionID(), Message: session.ID(p.MessageID())}
				pos.ReadOnly, pos.Adjustment = v.Kind(p.SessionID()) == session.Checkpoint, cut
			}
			return pos, nil
		})
	})
}
