package remote

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"

	"github.com/bough-dev/bough/workspace/merge"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
)

// sharedFacts returns the facts of the lines of a share alone, with the attachments that messages of this
// workspace name. A message of another machine sends no attachment: a SHA-256 is not a secret, and the file
// may be one.
func (j *job) sharedFacts() (*mirror.Facts, error) {
	f, err := j.linesFacts()
	if err != nil {
		return nil, err
	}
	j.Here.Alone(f)
	sums := regexp.MustCompile("[0-9a-f]{64}") // the SHA-256 of attachments
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
			for _, sum := range sums.FindAll(m.Raw, -1) {
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
