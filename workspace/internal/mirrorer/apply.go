package mirrorer

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
)

// Apply applies changes.
func Apply(ctx context.Context, w *store.Store, c mirror.Changes) (*mirror.Applied, error) {
	a := &applying{changes: c, done: &mirror.Applied{}}
	if err := a.commit(ctx, w, a.steps()); err != nil {
		return nil, err
	}
	if len(c.Explorations)+len(c.Learnings)+len(c.Origins) > 0 {
		if err := w.Make(); err != nil {
			return nil, err
		}
	}
	if err := a.takeExplorations(ctx, w); err != nil {
		return nil, err
	}
	if err := a.takeLearnings(ctx, w); err != nil {
		return nil, err
	}
	if err := takeOrigins(ctx, w, c.Origins); err != nil {
		return nil, err
	}
	return a.done, nil
}

// An applying applies changes.
type applying struct {
	changes mirror.Changes
	done    *mirror.Applied
}

// A step stages one operation. It returns errLater, and stages nothing, if a file that it changes
// is part of the batch already. Any other error ends the whole call.
type step func(tx *store.Tx) ([]mirror.Left, error)

// errLater is the error of a step that needs the steps before it to be committed.
var errLater = errors.New("a file of the operation is part of the batch")

// steps returns the operations in an order in which what others refer to comes first.
func (a *applying) steps() (list []step) {
	c := &a.changes
	for _, f := range c.Attachments {
		list = append(list, func(tx *store.Tx) ([]mirror.Left, error) { return takeAttachment(tx, f) })
	}
	titled := map[string]bool{}
	for _, n := range parentsFirst(c) {
		titled[n.ID] = true
		list = append(list, func(tx *store.Tx) ([]mirror.Left, error) {
			if n.Shell == nil {
				return a.grow(tx, mirror.NewMessages{Session: n.ID, Messages: n.Messages})
			}
			return a.takeSession(tx, n)
		})
	}
	for _, id := range sorted(c.Titles) {
		if !titled[id] {
			list = append(list, func(tx *store.Tx) ([]mirror.Left, error) { return a.grow(tx, mirror.NewMessages{Session: id}) })
		}
	}
	for _, sh := range c.Shells {
		list = append(list, func(tx *store.Tx) ([]mirror.Left, error) { return reshell(tx, sh) })
	}
	for _, m := range c.Metadata {
		list = append(list, func(tx *store.Tx) ([]mirror.Left, error) { return annotate(tx, m) })
	}
	for _, u := range undoneBySession(c.Undone) {
		list = append(list, func(tx *store.Tx) ([]mirror.Left, error) { return shrink(tx, u.session, u.messages) })
	}
	if len(c.AddBookmarks)+len(c.DropBookmarks) > 0 {
		list = append(list, a.takeBookmarks)
	}
	for _, name := range c.DropAgents {
		list = append(list, func(tx *store.Tx) ([]mirror.Left, error) { return dropAgent(tx, name) })
	}
	for _, g := range c.Agents {
		list = append(list, func(tx *store.Tx) ([]mirror.Left, error) { return takeAgent(tx, g) })
	}
	if len(c.Removed) > 0 {
		list = append(list, a.removals()...)
	}
	return list
}

// A flushed is what one commit did.
type flushed struct {
	steps int // how many steps were executed
	left  []mirror.Left
}

// commit executes the steps, with as many in one commit as it allows.
func (a *applying) commit(ctx context.Context, w *store.Store, steps []step) error {
	var group operation.Seq
	named := map[string]bool{}
	for len(steps) > 0 {
		rest := steps
		made, err := store.CreateGroup(ctx, w, operation.Pull, group, func(tx *store.Tx) (f flushed, err error) {
			for f.steps < len(rest) && !tx.Full() {
				tx.Begin(operation.Operation{Verb: operation.Pull, Args: store.Args{"remote": a.changes.Remote}})
				left, err := rest[f.steps](tx)
				if errors.Is(err, errLater) && f.steps > 0 {
					return f, nil
				}
				if err != nil {
					return f, err
				}
				f.left = append(f.left, left...)
				f.steps++
			}
			return f, nil
		})
		if err != nil {
			return err
		}
		group = cmp.Or(group, made.Group)
		for _, o := range made.Made {
			for _, id := range o.Sessions {
				if !named[id] {
					named[id] = true
					a.done.Sessions = append(a.done.Sessions, id)
				}
			}
		}
		a.done.Left = append(a.done.Left, made.Prepared.left...)
		steps = steps[made.Prepared.steps:]
	}
	a.done.Operation = group
	return nil
}

// staged reports whether the batch has a file of one of the sessions.
func staged(tx *store.Tx, ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return tx.Batch.Touches(session.FileName(id)) })
}

// leave returns the result of a step that stages nothing.
func leave(what, why string) ([]mirror.Left, error) {
	return []mirror.Left{{What: what, Why: why}}, nil
}

// leaveFor is leave with an error as the reason, unless the error concerns the whole call.
func leaveFor(tx *store.Tx, what string, err error) ([]mirror.Left, error) {
	if ended := tx.View.Ctx.Err(); ended != nil {
		return nil, ended
	}
	if store.IsChanged(err) || errors.Is(err, store.ErrGone) {
		return nil, err
	}
	return leave(what, err.Error())
}

// validID returns why id cannot be the id of a new session, "" if it can.
func validID(v *store.View, id string) string {
	switch {
	case !sessionid.Valid(id):
		return "invalid session id"
	case v.Index.Err(id) != nil || v.IsThere(session.FileName(id)):
		return "its file cannot be read"
	case v.IsPenguin(id):
		return "a checkpoint of Penguin has this id"
	}
	uuid := sessionid.UUID(id)
	if uuid != id && v.Has(uuid) {
		return uuid + " has the same UUID"
	}
	if sessionid.IsUUID(id) { // the UUID of any other is not that of a session by chance
		if other, ok := v.ByUUID(uuid); ok && other != id {
			return other + " has the same UUID"
		}
	}
	return ""
}

// sorted returns the keys of a map in order.
func sorted(m map[string]string) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// An undoneIn lists the messages of one session whose append was undone.
type undoneIn struct {
	session  string
	messages []string
}

func undoneBySession(undone []mirror.Ref) (list []undoneIn) {
	at := map[string]int{}
	for _, u := range undone {
		n, ok := at[u.Session]
		if !ok {
			n = len(list)
			at[u.Session] = n
			list = append(list, undoneIn{session: u.Session})
		}
		list[n].messages = append(list[n].messages, u.Message)
	}
	return list
}
