package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/bough-dev/bough/convert/transcript"
	"github.com/bough-dev/bough/internal/title"
	"github.com/bough-dev/bough/remote/join"
	"github.com/bough-dev/bough/remote/plan"
	"github.com/bough-dev/bough/remote/record"
	"github.com/bough-dev/bough/remote/seal"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// Share adds to what a share has: for the reference of a session its line, with its continuations and
// branches in place; for that of a message the path to it, which becomes a branch, a session of its own,
// unless the share has the path. It returns the first sessions of the lines; the next Push sends them. The
// remote must be a share, see [AddOptions].
func (r *Remote) Share(ctx context.Context, refs []string) ([]string, error) {
	lines, err := linesOf(ctx, r.w, refs)
	if err != nil {
		return nil, err
	}
	have, err := r.Lines()
	if err != nil {
		return nil, err
	}
	all, added := make([]string, len(lines)), []string{}
	for i, line := range lines {
		if all[i] = line.id; line.path != nil {
			if all[i], err = lineWith(ctx, r.w, have, line.path); err != nil {
				return nil, err
			}
			if all[i] != "" {
				continue // to name a path does not name all of the line that has it
			}
			// The title of a branch would be that of the conversation, which is not shared.
			snap, err := r.w.Branch(ctx, refs[i], workspace.SnapshotOptions{KeepHead: true, Name: line.title})
			if err != nil {
				return nil, err
			}
			all[i] = snap.ID
			have = append(have, snap.ID)
		}
		added = append(added, all[i])
	}
	return all, r.addLines(ctx, added)
}

// addLines adds lines to those that a share has.
func (r *Remote) addLines(ctx context.Context, lines []string) error {
	unlock, err := lock(ctx, r.root, "remote share")
	if err != nil {
		return err
	}
	defer unlock()
	c, err := readConfig(r.root, r.name)
	if err != nil {
		return err
	}
	if !c.Share {
		return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the remote %q has all of the workspace", r.name)}
	}
	named := func(id string) bool {
		line, err := r.w.Mirror().Line(ctx, id)
		return err == nil && slices.Contains(lines, line)
	}
	return writeParts(r, &c, union(c.Lines, lines...), slices.DeleteFunc(slices.Clone(c.Taken), named))
}

// A shareable is what a reference shares: a line, or a path to a message without the rest of its
// conversation.
type shareable struct {
	id    string   // the first session of the line; "" for a path
	path  []string // the ids of its messages, from the root
	title string   // of a path: the first words of its user
}

// linesOf returns what references share.
func linesOf(ctx context.Context, w *workspace.Workspace, refs []string) ([]shareable, error) {
	list := make([]shareable, len(refs))
	for i, ref := range refs {
		id, err := w.Mirror().Line(ctx, ref)
		if list[i].id = id; errors.Is(err, fault.NotFound) {
			list[i], err = pathTo(ctx, w, ref)
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func pathTo(ctx context.Context, w *workspace.Workspace, ref string) (to shareable, err error) {
	shown, err := w.Show(ctx, ref, session.ReadOptions{})
	if err != nil {
		return to, err
	}
	if len(shown.Messages) == 0 {
		return to, &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("%q has no messages", ref)}
	}
	for i := range shown.Messages {
		to.path = append(to.path, shown.Messages[i].ID)
		if name, ok := title.Of(transcript.FromSession(shown.Messages[i], "")); ok && to.title == "" {
			to.title = name
		}
	}
	to.title = cmp.Or(to.title, "Shared")
	return to, nil
}

// lineWith returns that of the lines whose first session has a path of messages, such as the branch that
// was made when the path was shared before; "" if there is none.
func lineWith(ctx context.Context, w *workspace.Workspace, lines, path []string) (string, error) {
	for _, id := range lines {
		messages, err := w.Mirror().Messages(ctx, id)
		if errors.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return "", err
		}
		if hasPath(messages, path) {
			return id, nil
		}
	}
	return "", nil
}

// hasPath reports whether messages have a path from the root.
func hasPath(messages []mirror.Message, path []string) bool {
	parents := map[string]session.ID{}
	for _, m := range messages {
		parents[m.ID] = m.Parent
	}
	var before session.ID
	for _, id := range path {
		if parent, ok := parents[id]; !ok || parent != before {
			return false
		}
		before = session.ID(id)
	}
	return true
}

// Lines returns the first sessions of the lines that this workspace sends to a share: those that were
// named, and those that came from it.
func (r *Remote) Lines() ([]string, error) {
	c, err := readConfig(r.root, r.name)
	return c.Lines, err
}

// writeParts writes which lines a share has, and which sessions came from it, if they differ.
func writeParts(r *Remote, c *config, lines, taken []string) error {
	if slices.Equal(lines, c.Lines) && slices.Equal(taken, c.Taken) {
		return nil
	}
	c.Lines, c.Taken = lines, taken
	return writeConfig(r.root, *c)
}

// union returns list with those of more that it lacks.
func union(list []string, more ...string) []string {
	for _, id := range more {
		if !slices.Contains(list, id) {
			list = append(slices.Clip(list), id)
		}
	}
	return list
}

// checkKeyOf returns an error if the key of a remote to add would let its users read more than it: if the key of a
// share opens another remote of the workspace, or if a new share has a key that existed before, because others
// may have copies of that.
func checkKeyOf(w *workspace.Workspace, key *seal.KeyFile, a AddOptions, absent bool) error {
	if key.Made || !absent && !a.Share {
		return nil
	}
	list, err := List(w)
	if err != nil {
		return err
	}
	for _, info := range list {
		root, err := openFolder(w, info.Name)
		if err != nil {
			return err
		}
		c, err := readConfig(root, info.Name)
		root.Close()
		if err != nil {
			return err
		}
		if (a.Share || c.Share) && c.checkKey(key.Key) == nil {
			return &fault.Error{Code: fault.Refused, Message: fmt.Sprintf("the key is that of the remote %q: with it, others could read both", info.Name),
				Hint: "a share needs a key of its own; a file that does not exist is made"}
		}
	}
	if a.Share && absent {
		return &fault.Error{Code: fault.Refused, Message: "the file of the key exists already: " + a.Key,
			Hint: "what it opens, others could read; a new share needs a key of its own, in a file that does not exist"}
	}
	return nil
}

// sharedFacts returns the facts of the lines of a share alone, with the attachments that messages of this
// workspace name. A message of another machine sends no attachment: a SHA-256 is not a secret, and the file
// may be one.
func (j *job) sharedFacts() (*mirror.Facts, error) {
	f, err := j.linesFacts()
	if err != nil {
		return nil, err
	}
	j.Here.Alone(f)
	stored, named := f.Attachments, map[string]bool{}
	for _, s := range f.Sessions {
		if s.Shell == nil || len(stored) == 0 {
			continue // nothing is new in it
		}
		messages, err := j.w.Mirror().Messages(j.ctx, s.ID)
		if err != nil {
			if j.ctx.Err() != nil {
				return nil, err
			}
			continue // it is not sent, and a note says why
		}
		sentByOthers, err := j.sentByOthers(s.ID)
		if isMissing(err) {
			continue // any message may be one of others
		}
		if err != nil {
			return nil, err
		}
		for _, m := range messages {
			if sentByOthers(m.ID) {
				continue
			}
			for _, sum := range sums().FindAll(m.Raw, -1) {
				named[string(sum)] = true
			}
		}
	}
	f.Attachments = slices.DeleteFunc(slices.Clone(stored), func(sum string) bool { return !named[sum] })
	return f, nil
}

// alone returns the messages of a session as a share has them: those that were not sent yet, without what
// bough noted of conversations that are not shared.
func (j *job) alone(id string, messages []mirror.Message, f *mirror.Facts) []mirror.Message {
	known := j.notes.of(id)
	list := slices.Clone(messages)
	for i, m := range list {
		if known.Has(m.ID) {
			continue
		}
		raw, dropped := aloneMessage(f, m.Raw)
		list[i].Raw = raw
		if slices.Contains(dropped, merge.Own) {
			j.opts.note(fmt.Sprintf("the message %s@%s is of a merge: its text may name the merged conversation, which is not shared", id, m.ID))
		}
	}
	return list
}

// aloneMessage returns the stored form of a message without the members of metadata.bough that name a
// session which is not among those of the facts, and the names of these members.
func aloneMessage(f *mirror.Facts, raw json.RawMessage) (alone json.RawMessage, dropped []string) {
	in := func(id string) bool {
		return slices.ContainsFunc(f.Sessions, func(s mirror.Session) bool { return s.ID == id })
	}
	gjson.GetBytes(raw, "metadata.bough").ForEach(func(key, value gjson.Result) bool {
		if namesOther(value, in) {
			dropped = append(dropped, key.Str)
		}
		return true
	})
	for _, key := range dropped {
		if without, err := sjson.DeleteBytes(slices.Clone(raw), "metadata.bough."+gjson.Escape(key)); err == nil {
			raw = without
		}
	}
	return raw, dropped
}

// namesOther reports whether a value has a member session_id, at any depth, of a session that is not shared.
func namesOther(value gjson.Result, shared func(session string) bool) (found bool) {
	if !value.IsObject() && !value.IsArray() {
		return false
	}
	value.ForEach(func(key, v gjson.Result) bool {
		found = key.Str == "session_id" && !shared(v.Str) || namesOther(v, shared)
		return !found
	})
	return found
}

// linesFacts returns the facts of the lines of a share, without those that [job.unshare] omits.
func (j *job) linesFacts() (*mirror.Facts, error) {
	for {
		f, err := j.w.Mirror().Facts(j.ctx, mirror.Known{
			Since: j.Here.Since, Versions: j.Here.Versions, Projects: j.Here.Projects, Lines: append([]string{}, j.config.Lines...), Remote: j.name,
		})
		if err != nil {
			return nil, err
		}
		if len(j.config.Taken) == 0 {
			return f, nil
		}
		if err := j.renote(f); err != nil { // what was applied is known by its notes
			return nil, err
		}
		again, err := j.unshare(f)
		if err != nil || !again {
			return f, err
		}
	}
}

// unshare takes out of the share the lines with a session that came from it and is no longer what the share
// has with what was added here: others may have sent it under the id of a private session, which came
// later, from another remote or by another program. A user who names the line shares it. It reports
// whether the lines are others than those of the facts.
func (j *job) unshare(f *mirror.Facts) (bool, error) {
	there := map[string]bool{}
	for _, id := range f.Others {
		there[id] = true
	}
	out := map[string]bool{}
	for _, s := range f.Sessions {
		there[s.ID] = true
		if out[s.Line] || !slices.Contains(j.config.Taken, s.ID) && !slices.Contains(j.config.Taken, s.Line) {
			continue
		}
		apart, err := j.isApart(f, s)
		if err != nil {
			return false, err
		}
		if apart {
			out[s.Line] = true
			j.result.Unshared = append(j.result.Unshared, s.Line)
		}
	}
	lines := slices.DeleteFunc(slices.Clone(j.config.Lines), func(id string) bool {
		return out[id] || !there[id] && slices.Contains(j.config.Taken, id)
	})
	taken := slices.DeleteFunc(slices.Clone(j.config.Taken), func(id string) bool { return !there[id] || out[id] })
	again := len(lines) < len(j.config.Lines)
	if j.dry {
		j.config.Lines, j.config.Taken = lines, taken
		return again, nil
	}
	return again, writeParts(j.Remote, &j.config, lines, taken)
}

// isApart reports whether a session that came from the share has got content from elsewhere: by an
// operation of the log, or with a root that the share does not have and that no user of this workspace
// added.
func (j *job) isApart(f *mirror.Facts, s mirror.Session) (bool, error) {
	if slices.Contains(f.Brought, s.ID) {
		return true, nil
	}
	if !j.Here.Unread(s) || slices.Contains(f.Written, s.ID) {
		return false, nil
	}
	messages, err := j.w.Mirror().Messages(j.ctx, s.ID)
	if err != nil {
		return j.ctx.Err() == nil, j.ctx.Err() // what cannot be read is not sent
	}
	known := j.notes.of(s.ID)
	return slices.ContainsFunc(messages, func(m mirror.Message) bool {
		return m.Parent == "" && !m.Header && !known.Has(m.ID)
	}), nil
}

// sentByOthers returns a function that reports whether another machine sent a message of a session. The
// errors are those of [stream.Packs.Items].
func (j *job) sentByOthers(session string) (func(message string) bool, error) {
	published := j.writer.Published()
	ours, theirs := map[string]bool{}, map[string]bool{}
	if in := j.view().Session(session); in != nil {
		for _, run := range in.Runs {
			ids := theirs
			if _, own := published[run.Stamp.Machine]; own || run.Stamp.Machine == j.writer.Machine() {
				ids = ours
			}
			for it, err := range j.packs.Items(j.ctx, run.Body) {
				if err != nil {
					return nil, err
				}
				ids[it.ID] = true
			}
		}
	}
	known := j.notes.of(session) // also of runs that were dropped
	return func(id string) bool { return theirs[id] || known.Has(id) && !ours[id] }, nil
}

// sums returns what matches the SHA-256 of attachments.
func sums() *regexp.Regexp { return regexp.MustCompile("[0-9a-f]{64}") }

// sharedScope returns the part of a scope that a share may have.
func sharedScope(s plan.Scope) plan.Scope {
	kinds := map[string]bool{}
	for _, kind := range []string{"sessions", "bookmarks", "attachments"} {
		kinds[kind] = s.Has(kind)
	}
	return plan.Scope{Session: s.Session, Kinds: kinds}
}

// mayTake returns an error for a session of a share that this workspace has and does not share, or that
// continues one or an absent one: others must not get or change a session by naming it. A new line belongs
// to the share from now on, as long as it is here: [job.unshare] takes out what is not applied.
func (a *applying) mayTake(id string) error {
	if !a.config.Share {
		return nil
	}
	first := id
	for seen := map[string]bool{}; !seen[first]; {
		seen[first] = true
		if slices.Contains(a.facts.Others, first) {
			return &fault.Error{Code: fault.Damaged, Message: "it is in this workspace, which does not share it"}
		}
		in := a.view().Session(first)
		if in == nil || in.Shell == nil { // it may be in another remote, or in the trash
			return &fault.Error{Code: fault.Damaged, Message: fmt.Sprintf("it continues %s, which the share does not have", first)}
		}
		if !in.Continues() {
			break
		}
		first = join.OriginOf(in.Shell)
	}
	if a.dry || a.there(id) {
		return nil
	}
	return writeParts(a.Remote, &a.config, union(a.config.Lines, first), union(a.config.Taken, id))
}

// undone returns of which messages of a session the append was undone. In a share only this workspace
// undoes for itself.
func (a *applying) undone(in *join.Session) map[string]bool {
	if !a.config.Share {
		return in.Undone
	}
	published := a.writer.Published()
	return a.view().UndoneBy(in.ID, func(m record.Machine) bool {
		_, own := published[m]
		return own || m == a.writer.Machine()
	})
}

// restrict removes from changes what others of a share cannot change: shells, and which sessions exist.
func (a *applying) restrict() {
	if a.config.Share {
		a.changes.Shells, a.changes.Removed = nil, nil
	}
}
