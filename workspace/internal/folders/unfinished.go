package folders

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/doctor"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// An Unfinished is an interrupted restore.
type Unfinished struct {
	ID, Dir string // of the folder; Dir is "" if it is not registered
	Journal string // its path in the workspace
	Damage  error  // of the journal, nil if it can be read
	Away    bool   // the folder is not at Dir
	Failure error  // why it was not completed, nil if that was not tried
}

// Refuse returns the error for a change that the interrupted restore makes impossible.
func (u *Unfinished) Refuse() error { return damagedJournal(u.Damage) }

// Incomplete says for the user that the restore is not complete, and why.
func (u *Unfinished) Incomplete() string {
	dir, why := u.Dir, u.Failure
	if dir == "" {
		dir = "an unknown folder"
	}
	if u.Damage != nil {
		why = u.Damage
	}
	return incomplete(dir, why)
}

// incomplete is the text of a note with the kind of the problem, which an examination explains.
func incomplete(dir string, why error) string {
	return fmt.Sprintf("an interrupted restore of %s is not complete: %v (%s)", dir, why, doctor.UnfinishedRestore)
}

// ListUnfinished returns the interrupted restores of a workspace, or those that are in
// progress. If the list of folders is damaged, it returns them with the error.
func ListUnfinished(root *os.Root) (list []Unfinished, err error) {
	ids, err := restore.Journals(root)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	s := open(root)
	defer s.Close()
	known, err := s.Folders()
	for _, id := range ids {
		j := restore.JournalOf(root, id)
		u := Unfinished{ID: id, Journal: j.Name, Away: true}
		if _, u.Damage = j.Note(); errors.Is(u.Damage, fs.ErrNotExist) {
			continue
		}
		if i := slices.IndexFunc(known, func(k states.Folder) bool { return k.ID == id }); i >= 0 {
			_, identity, err := states.IdentityOf(known[i].Path)
			u.Dir, u.Away = known[i].Path, err != nil || identity.File != known[i].Identity.File
		}
		list = append(list, u)
	}
	return list, err
}

// Complete completes the interrupted restores of a workspace, as far as their folders are
// there and their journals are not damaged, and returns those that it completed, and the others.
func Complete(ctx context.Context, w *store.Store, verb string) (done, left []Unfinished, err error) {
	root, err := w.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	list, err := ListUnfinished(root)
	if err != nil {
		return nil, nil, explain(err)
	}
	for _, u := range list {
		if u.Damage != nil {
			left = append(left, u)
			continue
		}
		h, err := holdID(ctx, w, u.ID, verb)
		if store.IsNotFound(err) || errors.Is(err, fs.ErrPermission) { // it is not there
			u.Failure = err
			left = append(left, u)
			continue
		}
		if err != nil {
			return done, left, err
		}
		h.Release()
		done = append(done, u)
	}
	return done, left, nil
}

// patience is how long a writer that has nothing to do with a folder waits for its lock.
const patience = 2 * time.Second

// CompleteFirst completes the interrupted restores of a workspace before another writer goes
// on. What cannot be completed does not stop that writer: it is noted. The error is that of ctx.
func CompleteFirst(ctx context.Context, w *store.Store, verb string) error {
	hurried := *w.Restoring()
	hurried.Opts.Wait = min(w.Opts.Wait, patience)
	_, left, err := Complete(ctx, &hurried, verb)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, u := range left {
		w.Opts.Note(u.Incomplete())
	}
	if err != nil {
		w.Opts.Note(incomplete("files", err))
	}
	return nil
}
