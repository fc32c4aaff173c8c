package remote

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/stream"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/mirror"
)

// facts returns the facts of the workspace: only what changed since the last comparison, if that is
// known.
func (j *job) facts() (*mirror.Facts, error) {
	if j.config.Share {
		return j.sharedFacts()
	}
	known := mirror.Known{Since: j.Here.Since, Versions: j.Here.Versions, Changed: j.Here.Since > 0, Also: j.Here.Again, Projects: j.Here.Projects}
	f, err := j.w.Mirror().Facts(j.ctx, known)
	if err == nil && !j.Here.Fits(f) {
		known.Changed = false
		f, err = j.w.Mirror().Facts(j.ctx, known)
	}
	return f, err
}

// record compares the workspace with the state, and appends what differs to the own stream. Seen is
// what had been applied to the workspace.
func (j *job) record(f *mirror.Facts, seen stream.Cursors) error {
	b := &batch{}
	if !j.dry {
		b.writer = j.writer
	}
	if err := j.renote(f); err != nil {
		return err
	}
	compared, newNotes, unread, err := j.addSessions(b, f)
	if err != nil {
		return err
	}
	if err := b.add(j.Here.OpsSince(f, j.view(), j.notes.of)...); err != nil {
		return err
	}
	if err := j.dropPurged(b); err != nil {
		return err
	}
	if err := j.addFiles(b, f); err != nil {
		return err
	}
	if err := j.addRest(b, f); err != nil {
		return err
	}
	if j.notes.err != nil {
		return j.notes.err
	}
	if j.dry {
		if len(b.entries) > 0 {
			j.result.Sent.Records++
			j.result.Sent.Bytes += int64(b.inline)
		}
		return nil
	}
	if err := j.append(b, seen, newNotes); err != nil {
		return err
	}
	if unsent := j.writer.Unsent(); len(unsent) > 0 {
		j.Compared = unsent[len(unsent)-1].Seq
	}
	if len(b.entries) > 0 || len(compared)+len(f.Gone) > 0 || j.Here.Since != f.Last {
		j.changed = true
	}
	j.Here.Compared(f)
	j.Here.Bookmarks = slices.DeleteFunc(j.Here.Bookmarks, func(b bookmark.Bookmark) bool { return j.view().IsPurged(b.Session) })
	for id, s := range compared {
		j.Here.SetSession(id, s)
	}
	j.Here.Again = append(j.Here.Again, unread...)
	return nil
}

// addSessions adds the operations for sessions to a batch. It returns how they were compared, notes of
// the messages in the batch, and the ids of the sessions that could not be read.
func (j *job) addSessions(b *batch, f *mirror.Facts) (compared map[string]plan.Session, newNotes map[string][]plan.Note, unread []string, err error) {
	compared, newNotes = map[string]plan.Session{}, map[string][]plan.Note{}
	// A snapshot finds what this batch publishes of its sources.
	notes := func(id string) plan.Notes {
		known := j.notes.of(id)
		if len(newNotes[id]) == 0 {
			return known
		}
		all := make(plan.Notes, len(known)+len(newNotes[id]))
		for k, n := range known {
			all[k] = n
		}
		for _, n := range newNotes[id] {
			all[n.ID] = n
		}
		return all
	}
	var list []mirror.Session
	for _, s := range f.Sessions {
		switch {
		case !j.Here.Unread(s):
		case j.view().IsPurged(s.ID):
			compared[s.ID] = plan.Session{Version: s.Version}
		default:
			list = append(list, s)
		}
	}
	messagesOf := j.readAhead(list)
	for i, s := range list {
		messages, err := messagesOf(i)
		if errors.Is(err, fault.NotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			if j.ctx.Err() != nil {
				return nil, nil, nil, err
			}
			j.opts.note(s.ID + " is not sent: " + err.Error())
			unread = append(unread, s.ID)
			continue
		}
		if j.config.Share {
			messages = j.alone(s.ID, messages, f)
		}
		t := j.Here.OpsFor(f, s, messages, j.view().Session(s.ID), j.own(), notes)
		if err := j.checkQuota(s.ID, messages, t.Notes); err != nil {
			if j.ctx.Err() != nil {
				return nil, nil, nil, err
			}
			j.opts.note(s.ID + " is not sent, because other machines would not apply it: " + err.Error())
			compared[s.ID] = plan.Session{Version: s.Version} // until it changes
			continue
		}
		for _, op := range t.Ops {
			op, large := fits(op)
			for _, l := range large {
				j.opts.note("a message of " + s.ID + " is not sent: " + l)
			}
			if op.Do == record.Add && len(op.Items) == 0 {
				continue
			}
			if err := b.add(op); err != nil {
				return nil, nil, nil, err
			}
		}
		if err := j.publishOpen(s.ID, messages, t.Notes); err != nil {
			return nil, nil, nil, err
		}
		newNotes[s.ID] = t.Notes
		compared[s.ID] = t.Is
		if t.Missing {
			j.Here.SetPending(s.ID, true)
		}
	}
	return compared, newNotes, unread, nil
}

// readAhead returns a function that returns the messages of the sessions of a list, one after the other. It
// reads many sessions at once, of some 16 MiB.
func (j *job) readAhead(list []mirror.Session) func(i int) ([]mirror.Message, error) {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	var ahead [][]mirror.Message
	return func(i int) (_ []mirror.Message, err error) {
		if len(ahead) == 0 {
			if ahead, err = j.w.Mirror().Several(j.ctx, ids[i:], 16<<20); err != nil {
				return nil, err
			}
		}
		messages := ahead[0]
		ahead = ahead[1:]
		return messages, nil
	}
}

// checkQuota returns an error if a machine that reads a session with messages takes more than it may: for those, and for
// the messages of the sessions of which it repeats some. Notes are those that a record would get.
func (j *job) checkQuota(id string, messages []mirror.Message, notes []plan.Note) error {
	published, quota := j.notes.of(id), &plan.Quota{Bytes: j.quotaLess}
	if err := quota.Take(slices.Collect(maps.Values(plan.ByID(messages)))...); err != nil {
		return err
	}
	repeated := map[string]bool{}
	for _, m := range messages {
		repeated[published[m.ID].In] = true
	}
	for _, n := range notes {
		repeated[n.In] = true
	}
	for _, source := range slices.Sorted(maps.Keys(repeated)) {
		if source == "" {
			continue
		}
		if _, err := j.local(source, quota); err != nil && !errors.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// publishOpen notes in the workspace which incomplete messages others will have.
func (j *job) publishOpen(id string, messages []mirror.Message, newNotes []plan.Note) error {
	var open []mirror.Ref
	for _, m := range messages {
		if plan.IsOpen(m) && slices.ContainsFunc(newNotes, func(n plan.Note) bool { return n.ID == m.ID }) {
			open = append(open, mirror.Ref{Session: id, Message: m.ID})
		}
	}
	if j.dry || open == nil {
		return nil
	}
	return j.w.Mirror().Publish(j.ctx, open)
}

// addRest adds all but the sessions to a batch.
func (j *job) addRest(b *batch, f *mirror.Facts) error {
	own := j.own()
	ops := j.Here.OtherOps(f, j.view(), own, j.hasMessage)
	for _, op := range ops {
		if sum, ok := strings.CutPrefix(op.Entity, "attachment/"); ok {
			data, err := j.w.Mirror().Attachment(j.ctx, sum)
			if err != nil {
				continue // damaged or gone, which doctor reports
			}
			op.Items = []record.Item{{Content: data}}
			whole, large := fits(op)
			for _, l := range large {
				j.opts.note("the attachment " + sum + " is not sent: " + l)
			}
			if op = whole; large != nil {
				continue
			}
		}
		if err := b.add(op); err != nil {
			return err
		}
	}
	if len(b.entries) > 0 || j.Owed >= ackAfter {
		return b.add(own.At())
	}
	return nil
}

// hasMessage reports whether a message was published, or the workspace has it. If that is not known, it
// returns true.
func (j *job) hasMessage(session, message string) bool {
	if j.notes.of(session).Has(message) {
		return true
	}
	messages, err := j.w.Mirror().Messages(j.ctx, session)
	if errors.Is(err, fault.NotFound) {
		return false
	}
	return err != nil || slices.ContainsFunc(messages, func(m mirror.Message) bool { return m.ID == message })
}

// ackAfter is after how many records of others a machine that changes nothing says what it has seen, so
// that they can delete garbage.
const ackAfter = 256

// append appends a batch to the own stream, and notes what was published.
func (j *job) append(b *batch, seen stream.Cursors, newNotes map[string][]plan.Note) error {
	ops, err := b.ops()
	if err != nil || len(ops) == 0 {
		return err
	}
	records, err := j.writer.Append(seen, j.state.Lost(), ops)
	if err != nil {
		return err
	}
	if err := j.noteBatch(b, ops); err != nil {
		return err
	}
	j.known, j.Owed = nil, 0
	touched := map[string]bool{}
	for _, r := range records {
		if err := j.state.Add(r); err != nil {
			return err
		}
		touch(touched, r)
	}
	j.Here.TouchOwn(j.view(), slices.Sorted(maps.Keys(touched)))
	for id, list := range newNotes {
		if err := j.notes.add(id, list); err != nil {
			return err
		}
	}
	return nil
}

// noteRuns notes the runs of an own record that is in the store, of whose messages there are notes. Before
// that, another copy of this machine may write a record of the same number.
func (j *job) noteRuns(r *record.Record) error {
	for i, op := range r.Ops {
		if id, ok := plan.SessionOf(op.Entity); ok && op.Do == record.Add && op.Field == "messages" {
			if err := j.notes.add(id, []plan.Note{plan.RunNote(r.Stamp(i))}); err != nil {
				return err
			}
		}
	}
	return nil
}

// upload sends the records that are not in the store.
func (j *job) upload() error {
	for !j.dry && len(j.writer.Unsent()) > 0 {
		err := j.send()
		var copied *stream.CopiedError
		if !errors.As(err, &copied) {
			return err
		}
		if err := j.renew(); err != nil {
			return err
		}
	}
	return nil
}

// send sends the records that are not in the store, as far as another copy of the machine does not have written
// its stream.
func (j *job) send() error {
	if err := j.save(); err != nil { // what is in the store is known here
		return err
	}
	unsent := j.writer.Unsent()
	err := j.writer.Upload(j.ctx)
	sent := unsent[:len(unsent)-len(j.writer.Unsent())]
	j.result.Sent.Records += len(sent)
	for _, r := range sent {
		j.joined = append(j.joined, joinable{record: r})
		if err := j.noteRuns(r); err != nil {
			return err
		}
	}
	if len(sent) > 0 {
		j.Cursors.Merge(j.writer.Published())
		j.changed = true
	}
	return err
}

// becomeAnother makes this workspace another machine, after it has sent what it can as the old one.
func (j *job) becomeAnother() error {
	if j.dry {
		j.result.Renewed = true
		return nil
	}
	err := j.send()
	if copied := new(stream.CopiedError); err != nil && !errors.As(err, &copied) {
		return err
	}
	return j.renew()
}

// Push sends what this workspace has and the remote does not. If there is nothing, it makes no
// request.
func (r *Remote) Push(ctx context.Context, o PushOptions) (*Result, error) {
	result, err := r.pushOnce(ctx, o)
	if isForked(err) {
		return r.pushOnce(ctx, o)
	}
	return result, err
}

func (r *Remote) pushOnce(ctx context.Context, o PushOptions) (*Result, error) {
	j, err := r.begin(ctx, "push", o.DryRun)
	if err != nil {
		return nil, err
	}
	defer j.end()
	if err := j.setFiles(o.Files); err != nil {
		return nil, err
	}
	if j.behind() {
		got, err := j.fetch(PullOptions{}, nil)
		if err == nil {
			err = j.joinAll(PullOptions{}, got, plan.NewConflicts(j.view()))
		}
		if err != nil {
			return nil, err
		}
	}
	if err := j.complete(); err != nil {
		return nil, err
	}
	f, err := j.facts()
	if err != nil {
		return nil, err
	}
	if err := j.record(f, j.Cursors); err != nil {
		return nil, err
	}
	if err := j.save(); err != nil {
		return nil, err
	}
	err = j.upload()
	if err == nil {
		err = j.tidy()
	}
	if err := errors.Join(err, j.save(), j.erase()); err != nil {
		return nil, err
	}
	result := j.done()
	return result, j.remember("push", result)
}

// isNoted reports whether there are notes of all messages of a run.
func isNoted(known plan.Notes, run join.Element) bool { return known.Has(plan.RunNote(run.Stamp).ID) }
