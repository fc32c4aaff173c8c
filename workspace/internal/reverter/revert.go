package reverter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// revert stages the inverse of op, which has the changes of target: its files
// in reverse order, then the links that follow from them, then the head. The
// edit of a session must be first, because an interrupted edit is not
// completed; the file of an agent then follows it.
func revert(tx *store.Tx, op, target *operation.Operation) error {
	op, err := tx.View.WithTexts(op)
	if err != nil {
		return err
	}
	var sessions, links, rest []operation.Change
	edited := slices.ContainsFunc(op.Changes, func(c operation.Change) bool { return len(c.Splices) > 0 && !c.Link })
	for _, c := range slices.Backward(op.Changes) {
		switch {
		case c.Link:
			links = append(links, c)
		case c.File == store.HeadFile, edited && store.IsAgent(c.File):
			rest = append(rest, c)
		default:
			sessions = append(sessions, c)
		}
	}
	alone := len(op.Changes) == 1
	if alone && store.SessionOf(op.Changes[0].File) == "" {
		tx.Op.Sessions = slices.Clone(op.Sessions) // the operation is about these even if their files do not change
	}
	for _, c := range slices.Concat(sessions, links, rest) {
		if err := revertOne(tx, c, alone, op); err != nil {
			return err
		}
	}
	message := ""
	if target.Verb == "append" {
		message, _ = target.Args["message"].(string)
	}
	return loseHead(tx, message)
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

func revertOne(tx *store.Tx, c operation.Change, alone bool, op *operation.Operation) error {
	id := store.SessionOf(c.File)
	switch {
	case strings.HasSuffix(c.File, store.BackupSuffix) && tx.Batch.Touches(c.File):
		return nil // the copy was moved with its session
	case c.Is == nil:
		return revertMove(tx, c, op)
	case id == "" || store.RecipeOf(c.File) != "" && c.Was != nil:
		return revertSmall(tx, c, alone, op)
	case store.RecipeOf(c.File) != "":
		return revertPacked(tx, c, op)
	}
	if c.Kept != "" {
		return revertWhole(tx, c, op)
	}
	o, err := tx.View.Outline(id)
	if store.Explain(err) != nil && store.Explain(err).Code == fault.NotFound {
		if c.Link {
			return nil
		}
		return newer(op, "%s does not exist", c.File)
	}
	if err != nil {
		return err
	}
	switch same := store.StateOf(o).Same(c.Is); {
	case !same && c.Link:
		return tx.SetContinuedTo(o)
	case !same:
		return newer(op, "%s was changed since", c.File)
	case c.Was == nil:
		return revertMade(tx, o)
	}
	splices := make([]sessions.Splice, len(c.Splices))
	for i, s := range c.Splices {
		splices[i] = sessions.Splice{At: s.At, Old: []byte(s.Old), New: s.New}
	}
	if err := tx.Edit(sessions.Revert(o, splices), c.Link); err != nil {
		return err
	}
	if is := store.StateOf(tx.View.Outlines[id]); !is.Same(c.Was) {
		return newer(op, "%s would differ from its earlier state", c.File)
	}
	return nil
}

// revertWhole restores a file that was replaced as a whole, and keeps the
// replacement in the trash.
func revertWhole(tx *store.Tx, c operation.Change, op *operation.Operation) error {
	before, err := durable.ReadFile(tx.View.Root, c.Kept)
	if err != nil || !store.StateOfBytes(before, nil).Same(c.Was) {
		return newer(op, "%s was changed", c.Kept)
	}
	is, err := tx.View.StateNow(c.File)
	if err != nil || !is.Same(c.Is) {
		return newer(op, "%s was changed since", c.File)
	}
	if err := tx.KeepCopy(c.File); err != nil {
		return err
	}
	now, err := tx.View.Root.Stat(c.File)
	if err != nil {
		return err
	}
	info, err := tx.Batch.Replace(c.File, durable.Bytes(before))
	if err != nil {
		return err
	}
	tx.Batch.Expect(durable.Identify(now))
	to, err := tx.InTrash(c.File)
	tx.Changes(store.SessionOf(c.File), operation.Change{File: c.File, Was: c.Is, Is: store.StateOfBytes(before, info), Kept: to})
	return err
}

// revertMade moves a created or restored session to the trash. It is refused if
// other sessions were copied from it, except that a repeated removal may leave
// snapshots, as the first one did.
func revertMade(tx *store.Tx, o *session.Outline) error {
	if tx.View.IsPacked(o.ID) {
		return tx.RemovePlain(o.ID) // its recipe is restored
	}
	if err := tx.View.MayRemove([]string{o.ID}, tx.Op.Verb == operation.Redo); err != nil {
		return err
	}
	return tx.Remove(o.ID)
}

// revertPacked moves the recipe of a created or restored packed checkpoint to the trash.
func revertPacked(tx *store.Tx, c operation.Change, op *operation.Operation) error {
	is, err := tx.View.StateNow(c.File)
	if errors.Is(err, fs.ErrNotExist) {
		return newer(op, "%s does not exist", c.File)
	}
	if err != nil {
		return err
	}
	if !is.Same(c.Is) {
		return newer(op, "%s was changed since", c.File)
	}
	id := store.RecipeOf(c.File)
	if !tx.View.IsPacked(id) {
		return tx.Discard(c.File) // its plain file is restored
	}
	if err := tx.View.MayRemove([]string{id}, tx.Op.Verb == operation.Redo); err != nil {
		return err
	}
	return tx.Remove(id)
}

// revertMove restores a file from the trash.
func revertMove(tx *store.Tx, c operation.Change, op *operation.Operation) error {
	switch {
	case !tx.View.IsThere(c.Moved):
		return newer(op, "%s is no longer in the trash", c.File)
	case c.File == store.HeadFile && tx.View.IsThere(c.File): // the head was moved since and stays
		return nil
	case tx.View.IsThere(c.File):
		return newer(op, "%s exists again", c.File)
	}
	if id := store.SessionOf(c.File); id != "" {
		if other, ok := tx.View.ByUUID(sessionid.UUID(id)); ok && other != id {
			return newer(op, "%s now has the UUID of %s", other, id)
		}
	}
	if is, err := tx.View.StateNow(tx.View.HeldBy(c)); err != nil || !is.Same(c.Was) {
		return newer(op, "%s has changed since it was removed", c.Moved)
	}
	if store.IsAgent(c.File) {
		data, err := durable.ReadFile(tx.View.Root, c.Moved)
		if err != nil {
			return err
		}
		if !tx.View.HasTrees(c.File, data) {
			return newer(op, "a tree of %s does not exist", c.File)
		}
	}
	if err := tx.BringBack(c); err != nil {
		return err
	}
	tx.Changes(store.SessionOf(c.File), operation.Change{File: c.File, Is: c.Was, Moved: c.Moved, After: c.Before})
	return nil
}

// revertSmall reverts a change of a file that is not a session.
func revertSmall(tx *store.Tx, c operation.Change, alone bool, op *operation.Operation) error {
	data, err := durable.ReadFile(tx.View.Root, c.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if name, ok := agent.NameOf(c.File); ok && tx.View.Works(name) {
		return store.Working(name, nil)
	}
	switch {
	case err != nil || !store.StateOfBytes(data, nil).Same(c.Is):
		switch {
		case err == nil && c.File == bookmark.Path:
			return revertBookmarks(tx, c, data, op)
		case err == nil && store.IsAgent(c.File) && c.Was != nil:
			return revertAgent(tx, c, data, op)
		case store.IsAgent(c.File), alone && c.File != store.HeadFile:
			return newer(op, "%s was changed since", c.File)
		case alone:
			return newer(op, "the head was moved since")
		}
		return nil
	case c.Was == nil:
		if err := tx.Discard(c.File); err != nil {
			return err
		}
		tx.Op.Changes[len(tx.Op.Changes)-1].Before = string(data)
		return nil
	case !store.StateOfBytes([]byte(c.Before), nil).Same(c.Was): // the content was not text
		return newer(op, "the previous content of %s is unknown", c.File)
	case store.IsAgent(c.File) && !overIn(c.File, []byte(c.Before)): // the turn must not continue
		return revertAgent(tx, c, data, op)
	case store.IsAgent(c.File) && !tx.View.HasTrees(c.File, []byte(c.Before)):
		return newer(op, "a tree of %s does not exist", c.File)
	case c.File == store.HeadFile && pointsNowhere(tx.View, []byte(c.Before), ""):
		return tx.Discard(c.File)
	}
	return tx.ReplaceSmall(c.File, data, []byte(c.Before))
}

// revertBookmarks reverts the change of a bookmark, and keeps later changes of
// other bookmarks.
func revertBookmarks(tx *store.Tx, c operation.Change, now []byte, op *operation.Operation) error {
	var before []byte
	if c.Was != nil {
		before = []byte(c.Before)
	}
	data, ok := bookmark.Revert(now, before, []byte(c.After))
	if !ok {
		return newer(op, "%s was changed since", c.File)
	}
	return tx.ReplaceSmall(c.File, now, data)
}

// revertAgent reverts a change of an agent that has changed since.
func revertAgent(tx *store.Tx, c operation.Change, now []byte, op *operation.Operation) error {
	name, _ := agent.NameOf(c.File)
	data, ok := agent.Revert(name, now, []byte(c.Before), []byte(c.After))
	switch {
	case !ok:
		return newer(op, "%s was changed since", c.File)
	case !tx.View.HasTrees(c.File, data):
		return newer(op, "a tree of %s does not exist", c.File)
	}
	return tx.ReplaceSmall(c.File, now, data)
}

// overIn reports whether the agent in data has no unfinished turn. file is the
// path of data.
func overIn(file string, data []byte) bool {
	name, _ := agent.NameOf(file)
	a, err := agent.Decode(name, data)
	return err != nil || store.Settled(a)
}

// loseHead unsets the head if it is in a removed session, or at the removed
// message, "" for none.
func loseHead(tx *store.Tx, message string) error {
	if tx.Batch.Touches(store.HeadFile) {
		return nil // the head does not change, or another operation unsets it
	}
	data, err := durable.ReadFile(tx.View.Root, store.HeadFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case tx.Op.Verb == operation.Redo:
		message = ""
	}
	if pointsNowhere(tx.View, data, message) {
		return tx.Discard(store.HeadFile)
	}
	return nil
}

// pointsNowhere reports whether a head is in no existing session, or at the
// removed message.
func pointsNowhere(v *store.View, data []byte, message string) bool {
	var h store.StoredHead
	if json.Unmarshal(data, &h) != nil || h.Session == "" {
		return false
	}
	return v.Index.Entry(h.Session) == nil && !v.IsPenguin(h.Session) || message != "" && string(h.Message) == message
}
