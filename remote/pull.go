package remote

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
)

// Pull reads the records of the other machines and applies them to the workspace: as one group of
// operations, or as several if they have more than 128 MiB. It first records the changes of the
// workspace, which the next Push sends.
func (r *Remote) Pull(ctx context.Context, o PullOptions) (*Result, error) {
	return r.pull(ctx, "pull", o, false)
}

// Sync does Pull and Push. If it cannot read from the store, it still sends. If it cannot send, the result with
// the error is what it received.
func (r *Remote) Sync(ctx context.Context, o PullOptions) (*Result, error) {
	return r.pull(ctx, "sync", o, true)
}

func (r *Remote) pull(ctx context.Context, verb string, o PullOptions, push bool) (*Result, error) {
	return r.withoutAhead(ctx, verb, func(without *fetched) (*Result, error) {
		result, err := r.pullOnce(ctx, verb, o, push, without)
		if isForked(err) {
			return r.pullOnce(ctx, verb, o, push, without)
		}
		return result, err
	})
}

// withoutAhead calls do, which pulls. While its error is an *aheadError, it calls do again, which then reads all anew,
// without the streams with these bases.
func (r *Remote) withoutAhead(ctx context.Context, verb string, do func(without *fetched) (*Result, error)) (*Result, error) {
	result, err := do(nil)
	without := &fetched{}
	for ahead := new(aheadError); errors.As(err, &ahead); {
		without.bad, without.problems = append(without.bad, ahead.machines...), append(without.problems, ahead.problems...)
		if err := r.forget(ctx, verb); err != nil {
			return nil, err
		}
		result, err = do(without)
	}
	return result, err
}

// forget has all of the remote read anew.
func (r *Remote) forget(ctx context.Context, verb string) error {
	unlock, err := lock(ctx, r.root, verb)
	if err != nil {
		return err
	}
	defer unlock()
	return resetStored(r.root)
}

// pullOnce pulls, without some streams as [job.pull] says.
func (r *Remote) pullOnce(ctx context.Context, verb string, o PullOptions, push bool, without *fetched) (*Result, error) {
	scope, err := scopeOf(o)
	if err != nil {
		return nil, err
	}
	j, err := r.begin(ctx, verb, o.DryRun)
	if err != nil {
		return nil, err
	}
	defer j.end()
	if err := j.setFiles(o.Files); err != nil {
		return nil, err
	}
	if slices.Contains(o.Only, "files") {
		if j.config.Share {
			return nil, noFiles(j.name)
		}
		j.files = true
	}
	if err := j.confirm(); err != nil {
		return nil, err
	}
	pulled := j.pull(scope, o, without)
	var sent error
	if push {
		sent = j.upload()
	}
	if push && pulled == nil && sent == nil {
		sent = j.tidy()
	}
	if err := errors.Join(j.save(), j.erase()); pulled != nil || err != nil {
		return nil, errors.Join(pulled, sent, err)
	}
	result := j.done()
	return result, errors.Join(sent, j.remember(verb, result))
}

func scopeOf(o PullOptions) (plan.Scope, error) {
	scope := plan.Scope{Session: o.Session}
	if err := checkKinds(o.Only); err != nil {
		return scope, err
	}
	for _, kind := range o.Only {
		if scope.Kinds == nil {
			scope.Kinds = map[string]bool{}
		}
		scope.Kinds[kind] = true
	}
	return scope, nil
}

// confirm returns an error if the stream of this machine is forked. Another problem is that of the store, which the
// exchange meets too.
func (j *job) confirm() error {
	if j.dry {
		return nil
	}
	if err := j.writer.Confirm(j.ctx); isForked(err) {
		return err
	}
	return nil
}

// pull reads, without the streams that are bad in without, if it is not nil. Then it records the changes here, and then joins
// and applies what was read: so the time between looking at the workspace and changing it is short.
func (j *job) pull(scope plan.Scope, o PullOptions, without *fetched) error {
	old := maps.Clone(j.Cursors)
	if without != nil {
		without.lost = j.behind()
	}
	var err error
	got := j.cached(o)
	if got == nil {
		got, err = j.fetch(o, without)
	}
	if err != nil {
		f, factsErr := j.facts() // changes here can be recorded and sent without it
		if factsErr != nil {
			return err
		}
		if j.complete() != nil {
			return err
		}
		return errors.Join(err, j.record(f, old))
	}
	if err := j.prefetch(got, scope); err != nil {
		return err
	}
	f, err := j.facts()
	if err != nil {
		return err
	}
	whole := j.complete() == nil
	if whole {
		if err := j.record(f, old); err != nil {
			return err
		}
	}
	before := j.view()
	conflicts := plan.NewConflicts(before)
	if err := j.joinAll(o, got, conflicts); err != nil {
		return err
	}
	if err := j.readAll(); err != nil {
		return err
	}
	if !whole {
		if err := j.record(f, j.Cursors); err != nil {
			return err
		}
	}
	j.result.Conflicts = append(j.result.Conflicts, conflicts.List(j.view())...)
	if j.dry {
		j.result.Sessions = append(j.result.Sessions, j.Here.Wanted(f, j.view(), scope)...)
		return nil
	}
	if err := j.save(); err != nil {
		return err
	}
	return j.apply(f, scope)
}

// cached returns nothing new if the session that a pull applies is known, and that is enough; otherwise nil.
func (j *job) cached(o PullOptions) *fetched {
	if !o.Cached || j.complete() != nil || j.view().Session(o.Session) == nil {
		return nil
	}
	return &fetched{next: maps.Clone(j.Cursors)}
}

// join adds what was fetched to the state, and marks the sessions that it touches.
func (j *job) join(got *fetched, conflicts *plan.Conflicts) {
	if len(got.givenUp) > 0 {
		j.state.GiveUp(got.givenUp)
		j.joined = append(j.joined, joinable{lost: got.givenUp})
	}
	if len(got.sent)+len(got.bases)+len(got.records) == 0 {
		if !maps.EqualFunc(j.Cursors, got.next, func(a, b stream.Cursor) bool { return a.Seq == b.Seq && a.Missing == b.Missing }) {
			j.Cursors, j.changed = got.next, true
		}
		return
	}
	j.changed, j.known = true, nil
	touched, own := map[string]bool{}, map[string]bool{} // sessions: by others, and by this workspace
	for _, r := range got.sent {
		if j.state.Add(r) == nil { // after a renewal it may not be in the state
			j.joined = append(j.joined, joinable{record: r})
			touch(own, r)
		}
	}
	for _, b := range got.bases {
		for _, entity := range j.state.AddBase(b) {
			if id, ok := plan.SessionOf(entity); ok {
				touched[id] = true
				j.Here.SetPending(id, true)
			}
		}
		j.joined = append(j.joined, joinable{base: b})
	}
	others := len(got.bases) > 0
	for _, r := range got.records {
		conflicts.See(j.state, r)
		if err := j.state.Add(r); err != nil {
			got.next[r.Machine], got.bad = j.Cursors[r.Machine], append(got.bad, r.Machine) // to be read again
			p := &stream.Problem{Kind: stream.Malformed, Machine: r.Machine, Seq: r.Seq, Detail: err.Error()}
			got.problems, j.result.Problems = append(got.problems, p), append(j.result.Problems, p)
			continue
		}
		j.joined = append(j.joined, joinable{record: r})
		if len(r.Ops) > 1 { // otherwise it says only what its machine has seen
			j.Owed++
		}
		compared := j.isCompared(r)
		if compared {
			touch(own, r)
		} else {
			touch(touched, r)
			others = true
		}
		for _, op := range r.Ops {
			if op.Do == record.Drop && (op.Field == "messages" || op.Field == "objects") || plan.IsPurge(op) {
				j.Owed += ackAfter // its machine deletes them when all have seen that
			}
			j.toErase = j.toErase || op.Do == record.Drop && (op.Field == "messages" || op.Field == "log") // a purge
			if id, ok := plan.SessionOf(op.Entity); ok && !compared {
				j.Here.SetPending(id, op.Do != record.Remove && op.Field != "messages" && op.Field != "title" && op.Field != "newest")
			}
		}
	}
	for _, r := range j.writer.Unsent() {
		_ = j.state.Add(r) // those that waited for an own one; the others are there
		touch(own, r)
	}
	j.Cursors = got.next
	if others { // first: what refers to something else now counts as their doing
		j.Here.Touch(j.view(), slices.Sorted(maps.Keys(touched)))
	}
	j.Here.TouchOwn(j.view(), slices.Sorted(maps.Keys(own)))
}

// isCompared reports whether a record is of this workspace, which has what it says: a process ended before it noted that it
// had uploaded it.
func (j *job) isCompared(r *record.Record) bool {
	own := j.writer.Machine()
	if r.Machine != own || r.Seq < j.From || r.Seq > j.Compared {
		return false
	}
	return r.Seq <= j.writer.Published()[own].Seq || slices.ContainsFunc(j.writer.Unsent(), func(u *record.Record) bool {
		return u.Seq == r.Seq && reflect.DeepEqual(u, r) // else another copy of the workspace wrote it
	})
}

// touch adds the sessions of a record to a set.
func touch(touched map[string]bool, r *record.Record) {
	for _, op := range r.Ops {
		if id, ok := plan.SessionOf(op.Entity); ok {
			touched[id] = true
		}
	}
}
