package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/fault"
)

// UndoOptions select the operations to undo or redo.
type UndoOptions struct {
	// In selects the newest operation that changed the file of this session. Empty
	// means the newest operation.
	In string
	// Count is how many operations are undone; a group counts once. Zero means one.
	Count int
	// To is the number of an operation: all later operations are undone. Zero means
	// that Count applies. Redo ignores To.
	To events.Seq
}

// Undo undoes the newest operation that is not undone, with its whole group, or
// as many as o says. It returns the operations that undid them. It is refused
// if newer changes would be lost. If an error occurs between several
// operations, the next Undo continues with the rest.
func (w *Workspace) Undo(ctx context.Context, o UndoOptions) (*Operations, error) {
	return undoAll(ctx, w.store, o)
}

// undoAll reverts as many operations as o says, newest first.
func undoAll(ctx context.Context, w *base, o UndoOptions) (*Operations, error) {
	if o.Count <= 1 && o.To == 0 {
		return w.undoOne(ctx, o)
	}
	rounds, err := w.planUndo(ctx, o)
	if err != nil {
		return nil, err
	}
	done := &Operations{Operations: []Operation{}}
	for n := range rounds {
		round, err := w.undoOne(ctx, o)
		if err != nil && n > 0 {
			return nil, &fault.Error{
				Code:    explanation(err).Code,
				Message: fmt.Sprintf("undid %d of %d changes: %v", n, rounds, err),
				Next:    fault.Do(fault.ListOperations),
				Err:     err,
			}
		}
		if err != nil {
			return nil, err
		}
		done.Operations = slices.Concat(round.Operations, done.Operations)
	}
	return done, nil
}

// planUndo returns how many operations or groups are to be undone. If one of
// them needs a purged file, it returns an error before anything changes.
func (w *base) planUndo(ctx context.Context, o UndoOptions) (int, error) {
	return read(ctx, w, func(v *View) (rounds int, err error) {
		id, err := v.loggedSession(o.In)
		if err != nil {
			return 0, err
		}
		log, err := operation.Open(v.root)
		if err != nil {
			return 0, err
		}
		defer log.Close()
		var failed error
		newest := v.operations(log, &failed)
		if o.To != 0 && len(operation.Find(newest, []events.Seq{o.To})) == 0 {
			return 0, cmp.Or(failed, error(&fault.Error{Code: fault.NotFound, Message: fmt.Sprintf("no operation %d", o.To), Next: fault.Do(fault.ListOperations)}))
		}
		groups := map[events.Seq]bool{}
		for target := range operation.AllUndoable(newest, id, lost(v)) {
			counted := o.In == "" && groups[target.Group]
			if o.To != 0 && target.Seq <= o.To || o.To == 0 && rounds == o.Count && !counted {
				break
			}
			if v.purged(target.As) {
				return 0, newer(target.Operation, "its files were deleted from the trash")
			}
			if !counted {
				rounds++
			}
			groups[target.Group] = target.Group != 0
		}
		if rounds == 0 && failed == nil {
			return 0, nothingTo("undo")
		}
		return rounds, failed
	})
}

func (w *base) undoOne(ctx context.Context, o UndoOptions) (*Operations, error) {
	return w.takeBack(ctx, operation.Undo, o, func(t *takingBack, v *View, newest iter.Seq[*operation.Operation], id string) error {
		if t.of != 0 {
			t.targets = operation.UndoablesOf(newest, t.of, lost(v))
			return nil
		}
		if t.targets, t.group = operation.Undoables(newest, id, lost(v)); len(t.targets) == 0 {
			return nothingTo("undo")
		}
		if first := t.targets[0]; v.purged(first.As) {
			return newer(first.Operation, "its files were deleted from the trash")
		}
		return nil
	})
}

// Redo repeats the operation, with its group, that the newest undo reverted. It
// is refused if there was another operation since.
func (w *Workspace) Redo(ctx context.Context, o UndoOptions) (*Operations, error) {
	return redo(ctx, w.store, o)
}

func redo(ctx context.Context, w *base, o UndoOptions) (*Operations, error) {
	return w.takeBack(ctx, operation.Redo, o, func(t *takingBack, _ *View, newest iter.Seq[*operation.Operation], id string) error {
		var newer *operation.Operation
		if t.of != 0 {
			t.targets = operation.RedoablesOf(newest, t.of)
		} else {
			t.targets, newer = operation.Redoables(newest, id)
		}
		switch {
		case newer != nil:
			return nothingTo(fmt.Sprintf("redo: operation %d (%s) came after the last undo", newer.Seq, newer.Verb))
		case len(t.targets) == 0 && t.of == 0:
			return nothingTo("redo")
		}
		var undone []events.Seq
		for _, target := range t.targets {
			undone = append(undone, target.Undoes)
		}
		t.original = operation.Find(newest, undone)
		return nil
	})
}

func nothingTo(do string) error {
	return &fault.Error{Code: fault.Refused, Message: "nothing to " + do, Next: fault.Do(fault.ListOperations)}
}

// lost returns a function that reports whether a session or agent that an
// operation created no longer exists in v, so that undo skips the operation.
// Undo does not skip, but refuses, an operation whose files were purged from
// the trash; see purged.
func lost(v *View) func(*operation.Operation) bool {
	return func(op *operation.Operation) bool {
		return slices.ContainsFunc(op.Changes, func(c operation.Change) bool {
			return c.Is != nil && (sessionOf(c.File) != "" || isAgent(c.File)) && !v.isThere(c.File)
		})
	}
}

// purged reports whether a session or an agent that an operation moved to the
// trash was deleted there.
func (v *View) purged(op *operation.Operation) bool {
	return slices.ContainsFunc(op.Changes, func(c operation.Change) bool {
		return c.Is == nil && (sessionOf(c.File) != "" || isAgent(c.File)) && !v.isThere(c.Moved)
	})
}

// revert stages the inverse of op, which has the changes of target: its files
// in reverse order, then the links that follow from them, then the head. The
// edit of a session must be first, because an interrupted edit is not
// completed; the file of an agent then follows it.
func (tx *Tx) revert(op, target *operation.Operation) error {
	op, err := tx.View.withTexts(op)
	if err != nil {
		return err
	}
	var sessions, links, rest []operation.Change
	edited := slices.ContainsFunc(op.Changes, func(c operation.Change) bool { return len(c.Splices) > 0 && !c.Link })
	for _, c := range slices.Backward(op.Changes) {
		switch {
		case c.Link:
			links = append(links, c)
		case c.File == headFile, edited && isAgent(c.File):
			rest = append(rest, c)
		default:
			sessions = append(sessions, c)
		}
	}
	alone := len(op.Changes) == 1
	if alone && sessionOf(op.Changes[0].File) == "" {
		tx.op.Sessions = slices.Clone(op.Sessions) // the operation is about these even if their files do not change
	}
	for _, c := range slices.Concat(sessions, links, rest) {
		if err := tx.revertOne(c, alone, op); err != nil {
			return err
		}
	}
	message := ""
	if target.Verb == "append" {
		message, _ = target.Args["message"].(string)
	}
	return tx.loseHead(message)
}

// newer returns the error for an operation that cannot be undone because of
// later changes.
func newer(op *operation.Operation, format string, a ...any) error {
	return &fault.Error{
		Code:    fault.Refused,
		Message: fmt.Sprintf("cannot undo operation %d (%s): %s", op.Seq, op.Verb, fmt.Sprintf(format, a...)),
		Hint:    "nothing was changed", Next: fault.Do(fault.UndoInSession),
	}
}

func (tx *Tx) revertOne(c operation.Change, alone bool, op *operation.Operation) error {
	id := sessionOf(c.File)
	switch {
	case strings.HasSuffix(c.File, backupSuffix) && tx.batch.Touches(c.File):
		return nil // the copy was moved with its session
	case c.Is == nil:
		return tx.revertMove(c, op)
	case id == "":
		return tx.revertSmall(c, alone, op)
	}
	if c.Kept != "" {
		return tx.revertWhole(c, op)
	}
	o, err := tx.View.outline(id)
	if explanation(err) != nil && explanation(err).Code == fault.NotFound {
		if c.Link {
			return nil
		}
		return newer(op, "%s does not exist", c.File)
	}
	if err != nil {
		return err
	}
	switch same := stateOf(o).Same(c.Is); {
	case !same && c.Link:
		return tx.setContinuedTo(o)
	case !same:
		return newer(op, "%s was changed since", c.File)
	case c.Was == nil:
		return tx.revertMade(o)
	}
	splices := make([]session.Splice, len(c.Splices))
	for i, s := range c.Splices {
		splices[i] = session.Splice{At: s.At, Old: []byte(s.Old), New: s.New}
	}
	if err := tx.edit(o.Revert(splices), c.Link); err != nil {
		return err
	}
	if is := stateOf(tx.View.outlines[id]); !is.Same(c.Was) {
		return newer(op, "%s would differ from its earlier state", c.File)
	}
	return nil
}

// revertWhole restores a file that was replaced as a whole, and keeps the
// replacement in the trash.
func (tx *Tx) revertWhole(c operation.Change, op *operation.Operation) error {
	before, err := durable.ReadFile(tx.View.root, c.Kept)
	if err != nil || !stateOfBytes(before, nil).Same(c.Was) {
		return newer(op, "%s was changed", c.Kept)
	}
	is, err := tx.View.stateNow(c.File)
	if err != nil || !is.Same(c.Is) {
		return newer(op, "%s was changed since", c.File)
	}
	if err := tx.keepCopy(c.File); err != nil {
		return err
	}
	now, err := tx.View.root.Stat(c.File)
	if err != nil {
		return err
	}
	info, err := tx.batch.Replace(c.File, durable.Bytes(before))
	if err != nil {
		return err
	}
	tx.batch.Expect(durable.Identify(now))
	to, err := tx.inTrash(c.File)
	tx.changes(sessionOf(c.File), operation.Change{File: c.File, Was: c.Is, Is: stateOfBytes(before, info), Kept: to})
	return err
}

// revertMade moves a created or restored session to the trash. It is refused if
// other sessions were copied from it, except that a repeated removal may leave
// snapshots, as the first one did.
func (tx *Tx) revertMade(o *session.Outline) error {
	if err := tx.View.mayRemove([]string{o.ID}, tx.op.Verb == operation.Redo); err != nil {
		return err
	}
	return tx.remove(o.ID)
}

// revertMove restores a file from the trash.
func (tx *Tx) revertMove(c operation.Change, op *operation.Operation) error {
	switch {
	case !tx.View.isThere(c.Moved):
		return newer(op, "%s is no longer in the trash", c.File)
	case c.File == headFile && tx.View.isThere(c.File): // the head was moved since and stays
		return nil
	case tx.View.isThere(c.File):
		return newer(op, "%s exists again", c.File)
	}
	if id := sessionOf(c.File); id != "" {
		if other, ok := tx.View.byUUID(sessionid.UUID(id)); ok && other != id {
			return newer(op, "%s now has the UUID of %s", other, id)
		}
	}
	if is, err := tx.View.stateNow(tx.View.heldBy(c)); err != nil || !is.Same(c.Was) {
		return newer(op, "%s has changed since it was removed", c.Moved)
	}
	if isAgent(c.File) {
		data, err := durable.ReadFile(tx.View.root, c.Moved)
		if err != nil {
			return err
		}
		if !tx.View.hasTrees(c.File, data) {
			return newer(op, "a tree of %s does not exist", c.File)
		}
	}
	if err := tx.bringBack(c); err != nil {
		return err
	}
	tx.changes(sessionOf(c.File), operation.Change{File: c.File, Is: c.Was, Moved: c.Moved, After: c.Before})
	return nil
}

// heldBy returns the path of the file that c moved: its present path or, if it
// is a symbolic link, its target relative to the original folder.
func (v *View) heldBy(c operation.Change) string {
	if to, err := v.root.Readlink(c.Moved); err == nil {
		return path.Join(path.Dir(c.File), filepath.ToSlash(to))
	}
	return c.Moved
}

// bringBack stages the move of a file from the trash to its original path, and
// adds it to the index if it is a session.
func (tx *Tx) bringBack(c operation.Change) error {
	if err := tx.batch.Move(c.Moved, c.File); err != nil {
		return err
	}
	id := sessionOf(c.File)
	if id == "" {
		return nil
	}
	held := tx.View.heldBy(c)
	data, err := durable.ReadFile(tx.View.root, held)
	if err != nil {
		return err
	}
	info, err := tx.View.root.Stat(held)
	if err != nil {
		return err
	}
	s, err := session.Decode(id, data)
	if err != nil {
		return nil // it was damaged before
	}
	s.Outline.Written(info)
	tx.View.outlines[id] = s.Outline
	tx.View.index.Put(s.Outline.Summary(), s.Outline.Stat)
	return nil
}

// revertSmall reverts a change of a file that is not a session.
func (tx *Tx) revertSmall(c operation.Change, alone bool, op *operation.Operation) error {
	data, err := durable.ReadFile(tx.View.root, c.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if name, ok := agent.NameOf(c.File); ok && tx.View.works(name) {
		return working(name, nil)
	}
	switch {
	case err != nil || !stateOfBytes(data, nil).Same(c.Is):
		switch {
		case err == nil && c.File == bookmark.Path:
			return tx.revertBookmarks(c, data, op)
		case err == nil && isAgent(c.File) && c.Was != nil:
			return tx.revertAgent(c, data, op)
		case isAgent(c.File), alone && c.File != headFile:
			return newer(op, "%s was changed since", c.File)
		case alone:
			return newer(op, "the head was moved since")
		}
		return nil
	case c.Was == nil:
		if err := tx.discard(c.File); err != nil {
			return err
		}
		tx.op.Changes[len(tx.op.Changes)-1].Before = string(data)
		return nil
	case !stateOfBytes([]byte(c.Before), nil).Same(c.Was): // the content was not text
		return newer(op, "the previous content of %s is unknown", c.File)
	case isAgent(c.File) && !overIn(c.File, []byte(c.Before)): // the turn must not continue
		return tx.revertAgent(c, data, op)
	case isAgent(c.File) && !tx.View.hasTrees(c.File, []byte(c.Before)):
		return newer(op, "a tree of %s does not exist", c.File)
	case c.File == headFile && tx.View.pointsNowhere([]byte(c.Before), ""):
		return tx.discard(c.File)
	}
	return tx.replaceSmall(c.File, data, []byte(c.Before))
}

// revertBookmarks reverts the change of a bookmark, and keeps later changes of
// other bookmarks.
func (tx *Tx) revertBookmarks(c operation.Change, now []byte, op *operation.Operation) error {
	var before []byte
	if c.Was != nil {
		before = []byte(c.Before)
	}
	data, ok := bookmark.Revert(now, before, []byte(c.After))
	if !ok {
		return newer(op, "%s was changed since", c.File)
	}
	return tx.replaceSmall(c.File, now, data)
}

// revertAgent reverts a change of an agent that has changed since.
func (tx *Tx) revertAgent(c operation.Change, now []byte, op *operation.Operation) error {
	name, _ := agent.NameOf(c.File)
	data, ok := agent.Revert(name, now, []byte(c.Before), []byte(c.After))
	switch {
	case !ok:
		return newer(op, "%s was changed since", c.File)
	case !tx.View.hasTrees(c.File, data):
		return newer(op, "a tree of %s does not exist", c.File)
	}
	return tx.replaceSmall(c.File, now, data)
}

// overIn reports whether the agent in data has no unfinished turn. file is the
// path of data.
func overIn(file string, data []byte) bool {
	name, _ := agent.NameOf(file)
	a, err := agent.Decode(name, data)
	return err != nil || settled(a)
}

// loseHead unsets the head if it is in a removed session, or at the removed
// message, "" for none.
func (tx *Tx) loseHead(message string) error {
	if tx.batch.Touches(headFile) {
		return nil // the head does not change, or another operation unsets it
	}
	data, err := durable.ReadFile(tx.View.root, headFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case tx.op.Verb == operation.Redo:
		message = ""
	}
	if tx.View.pointsNowhere(data, message) {
		return tx.discard(headFile)
	}
	return nil
}

// pointsNowhere reports whether a head is in no existing session, or at the
// removed message.
func (v *View) pointsNowhere(data []byte, message string) bool {
	var h storedHead
	if json.Unmarshal(data, &h) != nil || h.Session == "" {
		return false
	}
	return v.index.Entry(h.Session) == nil && !v.isPenguin(h.Session) || message != "" && string(h.Message) == message
}
