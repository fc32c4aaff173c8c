package remote

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
)

const (
	maxApplied  = 128 << 20 // bytes of sessions are applied at once
	sessionSize = 512       // bytes of a session beside its shell and messages
)

// apply applies the state to the workspace.
func (j *job) apply(f *mirror.Facts, scope plan.Scope) error {
	a := &applying{job: j, facts: f, scope: scope, there: j.Here.There(f), left: map[string]bool{}}
	all := scope.Session == "" && scope.Kinds == nil
	if j.config.Share {
		a.scope = sharedScope(scope)
		scope = a.scope
	}
	a.begin()
	suspects := j.Here.Suspects(f, scope)
	for _, id := range j.Here.Wanted(f, j.view(), scope) {
		if err := a.session(id); err != nil {
			return err
		}
	}
	j.Here.TakeRest(&a.changes, f, j.view(), scope)
	a.restrict()
	if err := a.attachments(); err != nil {
		return err
	}
	if err := a.flush(); err != nil {
		return err
	}
	for _, id := range suspects {
		if !a.left[id] {
			j.Here.Settle(id)
		}
	}
	if err := j.takeFiles(scope); err != nil {
		return err
	}
	if all {
		j.quiet()
	}
	return j.save()
}

// quiet removes from the result of a pull of all what the one before said: the messages that a session repeats are still
// not there, and may never come. They are looked for by each pull.
func (j *job) quiet() {
	j.result.Left = slices.DeleteFunc(j.result.Left, func(l mirror.Left) bool { return slices.Contains(j.paths, l) && slices.Contains(j.synced.Left, l) })
	if !slices.Equal(j.synced.Left, j.paths) {
		j.synced.Left, j.changed = j.paths, true
	}
}

// An applying collects changes and applies them.
type applying struct {
	*job
	facts *mirror.Facts
	scope plan.Scope
	there func(id string) bool
	left  map[string]bool // sessions of which something was not applied

	changes  mirror.Changes
	size     int
	newNotes map[string][]plan.Note // of the sessions in changes
	whole    []string               // sessions that lack nothing after the changes
}

func (a *applying) begin() {
	a.changes = mirror.Changes{Remote: a.name}
	a.size, a.newNotes, a.whole = 0, map[string][]plan.Note{}, nil
}

// session adds what the workspace lacks of a session.
func (a *applying) session(id string) error {
	if err := a.mayTake(id); err != nil {
		return a.leave(id, err)
	}
	in := a.view().Session(id)
	there := a.there(id)
	whole, _ := a.Here.Pending(id)
	before := len(a.result.Left)
	items, notes, err := a.items(id, in.Runs, whole || !there)
	a.left[id] = len(a.result.Left) > before // what it repeats is not there yet
	if err == nil && !there && in.Shell == nil {
		err = errors.New("it has no shell")
	}
	if err != nil {
		return a.leave(id, err)
	}
	var local []mirror.Message
	if there {
		if local, err = a.w.Mirror().Messages(a.ctx, id); err != nil {
			return a.leave(id, err)
		}
	}
	a.view().Take(&a.changes, id, items, local, there, a.undone(in))
	a.newNotes[id] = notes
	a.whole = append(a.whole, id)
	a.size += sessionSize + len(in.Shell)
	for _, it := range items {
		a.size += len(it.Raw)
	}
	if a.size > maxApplied {
		return a.flush()
	}
	return nil
}

// leave notes that a session is not applied now, unless the error concerns everything.
func (a *applying) leave(id string, err error) error {
	if a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	if !errors.Is(err, fault.NotFound) && !errors.Is(err, fault.Damaged) && !errors.Is(err, errPath) {
		return err
	}
	a.Here.SetPending(id, true)
	a.left[id] = true
	a.result.Left = append(a.result.Left, mirror.Left{What: id, Why: err.Error()})
	return nil
}

// flush applies the changes.
func (a *applying) flush() error {
	c := &a.changes
	a.Here.Begin(c, a.whole)
	if len(a.whole) > 0 {
		a.changed = true
		if err := a.save(); err != nil {
			return err
		}
	}
	if !empty(c) {
		total := int64(len(c.New) + len(c.Messages))
		a.report(Progress{Doing: "apply", Total: total})
		done, err := a.w.Mirror().Apply(a.ctx, *c)
		if err != nil {
			return err
		}
		a.report(Progress{Doing: "apply", Done: total, Total: total})
		a.changed = true
		a.Here.Applied(c, done, a.view())
		a.result.Left = append(a.result.Left, done.Left...)
		a.result.Sessions = append(a.result.Sessions, done.Sessions...)
		a.settle(done.Left)
	} else {
		a.settle(nil)
	}
	for id, list := range a.newNotes {
		if err := a.notes.add(id, list); err != nil {
			return err
		}
	}
	a.begin()
	return a.save()
}

// settle marks the sessions of the changes as no longer pending, but for those of which something was
// left.
func (a *applying) settle(left []mirror.Left) {
	for _, l := range left {
		a.left[plan.Concerns(l)] = true
	}
	for _, id := range a.whole {
		if !a.left[id] {
			a.Here.Settle(id)
		}
	}
}

func (j *job) report(p Progress) {
	if j.opts.Progress != nil {
		j.opts.Progress(p)
	}
}

func empty(c *mirror.Changes) bool {
	return len(c.New)+len(c.Messages)+len(c.Undone)+len(c.Removed)+len(c.Titles)+len(c.Shells)+len(c.AddBookmarks)+len(c.DropBookmarks)+
		len(c.Agents)+len(c.DropAgents)+len(c.Explorations)+len(c.Learnings)+len(c.Attachments)+len(c.Origins) == 0
}

// attachments reads the attachments of the changes.
func (a *applying) attachments() error {
	list := a.changes.Attachments
	a.changes.Attachments = nil
	for _, one := range list {
		i := slices.IndexFunc(a.view().Attachments, func(o join.Attachment) bool { return o.SHA256 == one.SHA256 })
		content, found, err := a.content(a.view().Attachments[i].Body)
		switch {
		case err != nil && !errors.Is(err, fault.NotFound) && !errors.Is(err, fault.Damaged):
			return err
		case err != nil || !found:
			a.result.Left = append(a.result.Left, mirror.Left{What: one.SHA256, Why: fmt.Sprint("it cannot be read: ", err)})
			continue
		}
		one.Data = content
		a.changes.Attachments = append(a.changes.Attachments, one)
		if a.size += len(content); a.size > maxApplied {
			rest := a.changes
			a.changes = mirror.Changes{Remote: a.name, Attachments: rest.Attachments}
			done, err := a.w.Mirror().Apply(a.ctx, a.changes)
			if err != nil {
				return err
			}
			a.result.Left = append(a.result.Left, done.Left...)
			rest.Attachments, a.changes, a.size = nil, rest, 0
			a.changes.Attachments = nil
		}
	}
	return nil
}

func (j *job) content(b *record.Body) (content []byte, found bool, err error) {
	for it, err := range j.packs.Items(j.ctx, b) {
		if err != nil {
			return nil, false, err
		}
		return it.Content, true, nil
	}
	return nil, false, nil
}
