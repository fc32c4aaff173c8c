package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
)

// maxApplied is how many bytes of messages are applied at once.
const maxApplied = 128 << 20

// Pull reads what other machines sent and applies it to the workspace, as one operation unless it is
// very much. What is new in the workspace is recorded before, and is sent by the next Push.
func (r *Remote) Pull(ctx context.Context, o PullOptions) (*Result, error) {
	return r.pull(ctx, "pull", o, false)
}

// Sync does Pull and Push. If it cannot read from the store, it still sends.
func (r *Remote) Sync(ctx context.Context, o PullOptions) (*Result, error) {
	return r.pull(ctx, "sync", o, true)
}

func (r *Remote) pull(ctx context.Context, verb string, o PullOptions, push bool) (*Result, error) {
	scope, err := scopeOf(o)
	if err != nil {
		return nil, err
	}
	j, err := r.begin(ctx, verb, o.DryRun)
	if err != nil {
		return nil, err
	}
	defer j.end()
	err = j.pull(scope, o)
	if push {
		err = errors.Join(err, j.upload())
	}
	if push && err == nil {
		j.tidy()
	}
	if err := errors.Join(err, j.save()); err != nil {
		return nil, err
	}
	return j.done(), nil
}

func scopeOf(o PullOptions) (plan.Scope, error) {
	scope := plan.Scope{Session: o.Session}
	for _, kind := range o.Only {
		if !slices.Contains(Kinds, kind) {
			return scope, &fault.Error{Code: fault.Usage, Message: fmt.Sprintf("unknown kind %q", kind)}
		}
		if scope.Kinds == nil {
			scope.Kinds = map[string]bool{}
		}
		scope.Kinds[kind] = true
	}
	return scope, nil
}

// pull reads, then records what is new here, and then joins and applies what was read: so the time
// between looking at the workspace and changing it is short.
func (j *job) pull(scope plan.Scope, o PullOptions) error {
	old := maps.Clone(j.Cursors)
	got, err := j.fetch(o)
	if err != nil {
		f, factsErr := j.facts() // what is new here can be recorded and sent without
		if factsErr != nil {
			return err
		}
		if j.complete() != nil || j.behind() {
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
	whole := j.complete() == nil && !j.behind()
	if whole {
		if err := j.record(f, old); err != nil {
			return err
		}
	}
	before := j.view()
	conflicts := plan.NewConflicts(before)
	j.join(got, conflicts)
	if err := j.complete(); err != nil {
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

// complete returns an error if a base was read and not all that its machine had seen: then the state
// may show what was dropped.
func (j *job) complete() error {
	if len(j.state.Missing()) == 0 {
		return nil
	}
	return &fault.Error{Code: fault.Failed, Message: "not all of the remote could be read", Hint: "pull again"}
}

// behind reports whether the state lacks records that this workspace has sent: the process ended before
// it was stored.
func (j *job) behind() bool {
	have := j.state.Vector()
	for m, c := range j.writer.Published() {
		if have[m] < c.Seq {
			return true
		}
	}
	return false
}

// fetched is what was read of the streams.
type fetched struct {
	sent    []*record.Record // own ones of which it was not known that they are in the store
	bases   []*join.Base
	records []*record.Record
	next    stream.Cursors
}

// fetch reads what is new in the store.
func (j *job) fetch(o PullOptions) (*fetched, error) {
	got := &fetched{next: maps.Clone(j.Cursors)}
	lost := j.behind()
	for more := true; more; {
		q := stream.Request{Have: got.next, Own: j.writer.Own(), Scope: stream.Names}
		switch {
		case o.Whole || !j.isKnown():
			q.Scope = stream.Whole
		case o.Known:
			q.Scope = stream.Known
		}
		if lost {
			q.Own = stream.Own{} // the own stream is read as the others
		}
		f, err := j.stream.Fetch(j.ctx, q)
		if err != nil {
			return nil, err
		}
		for _, r := range j.writer.Unsent() {
			other := func(o *record.Record) bool { return o.Machine == r.Machine && o.Seq == r.Seq }
			if !lost && r.Seq <= f.Next[r.Machine].Seq && !slices.ContainsFunc(f.Records, other) {
				got.sent = append(got.sent, r)
			}
		}
		if f.Copied && !lost {
			if err := j.becomeAnother(); err != nil {
				return nil, err
			}
		}
		j.take(got, f)
		more = f.More && len(f.Records)+len(f.Bases) > 0
		j.result.Problems = f.Problems
		j.Unknown = j.Unknown || f.Unknown
	}
	return got, nil
}

// isKnown reports whether all machines know this one: then they delete no record that it has not seen.
// Otherwise the next record of a stream may be gone, and only a listing shows the base that replaces it.
func (j *job) isKnown() bool {
	own := j.writer.Machine()
	if j.writer.Published()[own].Seq == 0 {
		return false
	}
	return !slices.ContainsFunc(j.view().Machines, func(m join.Machine) bool {
		return m.ID == own && m.Retired || m.ID != own && !m.Retired && m.Seen[own] == 0
	})
}

// take adds what was fetched to got, up to what cannot be understood of each machine.
func (j *job) take(got *fetched, f *stream.Fetched) {
	bad := map[record.Machine]bool{}
	for _, b := range f.Bases {
		base, err := join.DecodeBase(b.Content)
		if err == nil && (base.Machine != b.Machine || base.Seq != b.Seq) {
			err = errors.New("it is the base of other records")
		}
		if err != nil {
			bad[b.Machine] = true
			j.result.Problems = append(j.result.Problems, &stream.Problem{Kind: stream.Malformed, Machine: b.Machine, Seq: b.Seq, Detail: err.Error()})
			continue
		}
		got.bases = append(got.bases, base)
	}
	for _, r := range f.Records {
		if !bad[r.Machine] {
			got.records = append(got.records, r)
		}
	}
	for m, c := range f.Next {
		if !bad[m] {
			got.next[m] = c
		}
	}
	j.result.Got.Records += len(f.Records)
}

// prefetch reads the packs of new messages into the cache.
func (j *job) prefetch(got *fetched, scope plan.Scope) error {
	if j.dry || !scope.Has("sessions") || len(got.bases) > 0 {
		return nil
	}
	const most = 16
	seen := map[string]bool{}
	for _, r := range got.records {
		for _, op := range r.Ops {
			id, ok := plan.SessionOf(op.Entity)
			if !ok || op.Body == nil || op.Body.Pack == "" || seen[op.Body.Pack] || len(seen) == most || scope.Session != "" && id != scope.Session {
				continue
			}
			seen[op.Body.Pack] = true
			for _, err := range j.packs.Items(j.ctx, op.Body) {
				if j.ctx.Err() != nil {
					return err
				}
				break // an error is reported when the session is applied
			}
		}
	}
	return nil
}

// join adds what was fetched to the state, and marks the sessions that it touches.
func (j *job) join(got *fetched, conflicts *plan.Conflicts) {
	if len(got.sent)+len(got.bases)+len(got.records) == 0 {
		if !maps.EqualFunc(j.Cursors, got.next, func(a, b stream.Cursor) bool { return a.Seq == b.Seq && a.Missing == b.Missing }) {
			j.Cursors, j.changed = got.next, true
		}
		return
	}
	j.changed, j.known = true, nil
	for _, r := range got.sent {
		if j.state.Add(r) == nil { // after a renewal it may not be in the state
			j.joined = append(j.joined, joinable{record: r})
		}
	}
	for _, b := range got.bases {
		j.state.AddBase(b)
		j.joined = append(j.joined, joinable{base: b})
	}
	for _, r := range got.records {
		conflicts.See(j.state, r)
		if err := j.state.Add(r); err != nil {
			got.next[r.Machine] = j.Cursors[r.Machine] // to be read again
			j.result.Problems = append(j.result.Problems, &stream.Problem{Kind: stream.Malformed, Machine: r.Machine, Seq: r.Seq, Detail: err.Error()})
			continue
		}
		j.joined = append(j.joined, joinable{record: r})
		if len(r.Ops) > 1 { // otherwise it says only what its machine has seen
			j.Owed++
		}
		for _, op := range r.Ops {
			if op.Do == record.Drop && op.Field == "messages" {
				j.Owed += ackAfter // its machine deletes them when all have seen that
			}
			if id, ok := plan.SessionOf(op.Entity); ok && op.Do != record.Remove {
				j.Here.Pending[id] = j.Here.Pending[id] || op.Field != "messages" && op.Field != "title" && op.Field != "newest"
			}
		}
	}
	for _, r := range j.writer.Unsent() {
		_ = j.state.Add(r) // those that waited for an own one; the others are there
	}
	j.Cursors = got.next
	for _, s := range j.view().Sessions {
		if len(got.bases) > 0 || len(s.Undone) > 0 {
			j.Here.Pending[s.ID] = true
		}
	}
}

// apply applies the state to the workspace.
func (j *job) apply(f *mirror.Facts, scope plan.Scope) error {
	a := &applying{job: j, facts: f, scope: scope, there: map[string]bool{}}
	for _, s := range f.Sessions {
		a.there[s.ID] = true
	}
	a.begin()
	for _, id := range j.Here.Wanted(f, j.view(), scope) {
		if err := a.session(id); err != nil {
			return err
		}
	}
	j.Here.TakeRest(&a.changes, f, j.view(), scope)
	if err := a.attachments(); err != nil {
		return err
	}
	return a.flush()
}

// An applying collects changes and applies them.
type applying struct {
	*job
	facts *mirror.Facts
	scope plan.Scope
	there map[string]bool

	changes mirror.Changes
	size    int
	told    map[string][]plan.Note // of the sessions in changes
	whole   []string               // sessions that lack nothing after the changes
}

func (a *applying) begin() {
	a.changes = mirror.Changes{Remote: a.name}
	a.size, a.told, a.whole = 0, map[string][]plan.Note{}, nil
}

// session adds what the workspace lacks of a session.
func (a *applying) session(id string) error {
	in := a.view().Session(id)
	all := !a.there[id] || a.Here.Pending[id]
	items, notes, err := a.items(id, in.Runs, all)
	if err == nil && all && a.there[id] == false && in.Shell == nil {
		err = errors.New("it has no shell")
	}
	if err != nil {
		return a.leave(id, err)
	}
	var local []mirror.Message
	if a.there[id] {
		if local, err = a.w.Mirror().Messages(a.ctx, id); err != nil {
			return a.leave(id, err)
		}
	}
	a.view().Take(&a.changes, id, items, local, a.there[id])
	a.told[id] = notes
	a.whole = append(a.whole, id)
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
	a.Here.Pending[id] = true
	a.result.Left = append(a.result.Left, mirror.Left{What: id, Why: err.Error()})
	return nil
}

// flush applies the changes.
func (a *applying) flush() error {
	c := &a.changes
	for _, id := range a.whole {
		a.Here.Pending[id] = true // until the changes are applied
	}
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
	for id, list := range a.told {
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
	for _, id := range a.whole {
		if !slices.ContainsFunc(left, func(l mirror.Left) bool { return plan.Concerns(l, id) }) {
			delete(a.Here.Pending, id)
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
		len(c.Agents)+len(c.DropAgents)+len(c.Explorations)+len(c.Learnings)+len(c.Attachments) == 0
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
