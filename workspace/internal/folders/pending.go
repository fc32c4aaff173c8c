package folders

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/restore"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// A pending is the operation that a restore belongs to. It is in the journal, so that whoever
// completes the restore completes the operation too.
type pending struct {
	Verb     string          `json:"verb"`
	Args     store.Args      `json:"args"`
	Sessions []string        `json:"sessions"`
	Undoes   operation.Seq   `json:"undoes,omitempty"`
	Before   string          `json:"before"` // IDs of states
	To       string          `json:"to"`
	Head     *store.HeadMove `json:"head,omitempty"`
}

func pendingOf(tx *store.Tx, before string, target *states.State) *pending {
	return &pending{tx.Op.Verb, tx.Op.Args, tx.Op.Sessions, tx.Op.Undoes, before, target.ID, tx.HeadMove}
}

func (p *pending) encode() []byte {
	data, _ := json.Marshal(p) // it has only strings and numbers
	return data
}

// unfinished returns the error of a restore that the next writer completes.
func unfinished(err error) error {
	return &fault.Error{
		Code: store.Explain(err).Code, Message: "the restore was interrupted: " + err.Error(),
		Hint: "nothing is lost", Next: fault.Do(fault.CompleteRestore), Err: err,
	}
}

// settle completes an interrupted restore of the folder.
func (h *Held) settle(ctx context.Context) error {
	if h.ID == "" {
		return nil
	}
	root, err := os.OpenRoot(h.w.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	j := h.journal(root)
	if is, err := j.Pending(); err != nil || !is {
		return err
	}
	l := newLasting(ctx)
	defer l.release()
	noted, err := store.Update(l, h.w, operation.Operation{Verb: "restore"}, func(tx *store.Tx) (bool, error) { return h.complete(tx, l.keep) })
	if err != nil || !noted {
		return err
	}
	return j.Remove()
}

// complete completes an interrupted restore in tx, and reports whether its journal must be
// removed after the commit. It calls begin before it changes files.
func (h *Held) complete(tx *store.Tx, begin func() error) (noted bool, err error) {
	j := h.journal(tx.View.Root)
	note, err := j.Note()
	if err != nil {
		return false, damagedJournal(err)
	}
	folder, err := os.OpenRoot(h.Path)
	if err != nil {
		return false, err
	}
	defer folder.Close()
	if err := begin(); err != nil {
		return false, err
	}
	if _, err := restore.Resume(folder, j); err != nil {
		return false, err
	}
	if note == nil {
		return false, nil
	}
	p := &pending{}
	if err := json.Unmarshal(note, p); err != nil {
		return false, damagedJournal(fmt.Errorf("%s: %w", j.Name, err))
	}
	if logged, err := p.isLogged(tx.View.Root); err != nil || logged {
		return logged, err
	}
	s := open(tx.View.Root)
	defer s.Close()
	before, err := s.State(p.Before)
	if errors.Is(err, fs.ErrNotExist) { // it was removed since
		before, err = &states.State{}, nil
	}
	if err != nil {
		return false, err
	}
	after, err := stateAfter(s, p.Before)
	if err == nil && after == nil {
		after, err = h.record(tx.View, s, states.State{Since: p.Before, SessionID: before.SessionID, MessageID: before.MessageID}, nil)
	}
	if err != nil {
		return false, err
	}
	tx.Op.Verb, tx.Op.Args, tx.Op.Sessions, tx.Op.Undoes = p.Verb, argsOf(p.Args, h.Path, p.Before, p.To), p.Sessions, p.Undoes
	tx.Op.Files = &operation.Restored{Folder: h.ID, Before: p.Before, After: after.ID}
	if p.Head != nil {
		err = tx.RepeatHeadMove(p.Head)
	}
	tx.View.Store.Opts.Note("an interrupted restore of " + h.Path + " was completed")
	return true, err
}

// stateAfter returns the state that was taken after a restore, nil if none was. before is the id
// of the one before it.
func stateAfter(s *states.Store, before string) (*states.State, error) {
	list, err := s.States()
	if _, damaged := errors.AsType[*states.RecordError](err); err != nil && !damaged {
		return nil, err
	}
	if i := slices.IndexFunc(list, func(st *states.State) bool { return st.Since == before }); i >= 0 {
		return list[i], nil
	}
	return nil, nil
}

// isLogged reports whether the operation was committed.
func (p *pending) isLogged(root *os.Root) (bool, error) {
	log, err := operation.Open(root)
	if err != nil {
		return false, err
	}
	defer log.Close()
	for line, err := range log.Newest() {
		if _, damaged := errors.AsType[*operation.DamageError](err); damaged {
			continue
		}
		if err != nil {
			return false, err
		}
		if line.Files != nil && line.Files.Before == p.Before {
			return true, nil
		}
	}
	return false, nil
}

func damagedJournal(err error) error {
	return &fault.Error{Code: fault.Damaged, Message: err.Error(), Hint: "a restore was interrupted, and its journal is damaged", Next: fault.Do(fault.Examine), Err: err}
}

// An Unfinished is an interrupted restore.
type Unfinished struct {
	ID, Dir string // of the folder
	Journal string // its path in the workspace
	Damage  error  // of the journal, nil if it can be read
	Away    bool   // the folder is not at Dir
}

// ListUnfinished returns the interrupted restores of a workspace, or those that are in
// progress.
func ListUnfinished(root *os.Root) (list []Unfinished, err error) {
	s := open(root)
	defer s.Close()
	known, err := s.Folders()
	if err != nil {
		return nil, err
	}
	for _, k := range known {
		j := restore.JournalOf(root, k.ID)
		is, err := j.Pending()
		if err != nil {
			return nil, err
		}
		if is {
			_, damage := j.Note()
			_, identity, err := states.IdentityOf(k.Path)
			list = append(list, Unfinished{k.ID, k.Path, j.Name, damage, err != nil || identity.File != k.Identity.File})
		}
	}
	return list, nil
}

// Complete completes the interrupted restores of a workspace, as far as their folders are
// there and their journals are not damaged, and returns those that it completed.
func Complete(ctx context.Context, w *store.Store, verb string) (done []Unfinished, err error) {
	root, err := w.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	list, err := ListUnfinished(root)
	if err != nil {
		return nil, err
	}
	for _, u := range list {
		if u.Damage != nil {
			continue
		}
		h, err := holdID(ctx, w, u.ID, verb)
		if store.IsNotFound(err) || errors.Is(err, fs.ErrPermission) { // it is not there
			continue
		}
		if err != nil {
			return done, err
		}
		h.Release()
		done = append(done, u)
	}
	return done, nil
}
