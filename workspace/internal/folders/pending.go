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

// A pending is the operation that a restore belongs to. It is in the journal, so that any process that
// completes the restore completes the operation too.
type pending struct {
	Verb     string          `json:"verb"`
	Args     store.Args      `json:"args"`
	Sessions []string        `json:"sessions"`
	Undoes   operation.Seq   `json:"undoes,omitempty"`
	Before   string          `json:"before"` // IDs of states
	To       string          `json:"to"`
	Head     *store.HeadMove `json:"head,omitempty"`
	Add      *Addition       `json:"add,omitempty"`
	After    operation.Seq   `json:"after"` // the newest operation when the restore began
}

func pendingOf(tx *store.Tx, before string, g *goal) *pending {
	return &pending{tx.Op.Verb, tx.Op.Args, tx.Op.Sessions, tx.Op.Undoes, before, g.target.ID, tx.HeadMove, g.add, tx.Seq}
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
	return h.end(j)
}

// complete completes an interrupted restore in tx, and reports whether its journal must be
// removed after the commit. It calls begin before it changes files.
func (h *Held) complete(tx *store.Tx, begin func() error) (noted bool, err error) {
	j := h.journal(tx.View.Root)
	data, err := j.Note()
	if err != nil {
		return false, damagedJournal(err)
	}
	folder, err := h.open()
	if err != nil {
		return false, err
	}
	defer folder.Close()
	if err := begin(); err != nil {
		return false, err
	}
	report, err := restore.Resume(folder, j)
	if err != nil {
		return false, err
	}
	if data == nil {
		return false, nil
	}
	p := &pending{}
	if err := json.Unmarshal(data, p); err != nil {
		return false, damagedJournal(fmt.Errorf("%s: %w", j.Name, err))
	}
	since, err := p.since(tx.View.Root)
	if err != nil || since.logged {
		return since.logged, err
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
	note := completed(h.Path, report)
	if p.Add != nil {
		// Stage moves the head too, unless it was moved since.
		again := *p.Add
		again.Advance = again.Advance && !since.headMoved
		if _, err := again.Stage(tx); err != nil {
			note += "; its message could not be added: " + err.Error()
		}
		p.Head = nil
	}
	switch {
	case p.Head != nil && since.headMoved:
		note += "; the head was moved since, and stays"
	case p.Head != nil:
		err = tx.RepeatHeadMove(p.Head)
	}
	tx.View.Store.Opts.Note(note)
	return true, err
}

// completed says that an interrupted restore of a folder was completed, and which paths it
// could not change.
func completed(dir string, report *restore.Report) string {
	text := "an interrupted restore of " + dir + " was completed"
	if len(report.Kept) > 0 {
		text += ", but " + some(keptOf(report.Kept)) + " could not be changed"
	}
	return text
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

// A since says what the log has since a restore began.
type since struct {
	logged    bool // the operation of the restore
	headMoved bool // a later one that moved the head, or may have
}

func (p *pending) since(root *os.Root) (out since, err error) {
	log, err := operation.Open(root)
	if err != nil {
		return out, err
	}
	defer log.Close()
	for line, err := range log.Newest() {
		if _, damaged := errors.AsType[*operation.DamageError](err); damaged {
			continue
		}
		if err != nil {
			return out, err
		}
		if line.Files != nil && line.Files.Before == p.Before {
			return since{logged: true}, nil
		}
		isHead := func(c operation.Change) bool { return c.File == store.HeadFile }
		if line.Seq > p.After && (line.Compacted || slices.ContainsFunc(line.Changes, isHead)) {
			out.headMoved = true
		}
	}
	return out, nil
}

func damagedJournal(err error) error {
	return &fault.Error{Code: fault.Damaged, Message: err.Error(), Hint: "a restore was interrupted, and its journal is damaged", Next: fault.Do(fault.Examine), Err: err}
}
