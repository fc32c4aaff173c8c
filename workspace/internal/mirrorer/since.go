package mirrorer

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/workspace/bookmark"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/mirror"
	"github.com/tidwall/gjson"
)

// addSince adds to the facts the operations of users after since, oldest first, the number of the last
// line of the log, and what undos of pulls took back.
func addSince(f *mirror.Facts, v *store.View, since operation.Seq) error {
	log, err := operation.Open(v.Root)
	if err != nil {
		return err
	}
	defer log.Close()
	var all []*operation.Operation
	redone := map[operation.Seq]bool{} // undos of pulls
	var failed error
	for o := range v.Operations(log, &failed) {
		f.Last = max(f.Last, o.Seq)
		if o.Seq <= since {
			break
		}
		all = append(all, o)
		if o.Verb == operation.Redo && ofPull(o) {
			redone[o.Undoes] = true
		}
	}
	if failed != nil {
		return failed
	}
	undone := undoneBy(v, log, all, &failed)
	var texts operation.Filler
	for _, o := range slices.Backward(all) {
		full, ok := texts.Fill(o)
		if !ok {
			full, _ = operation.Full(v.Operations(log, &failed), o)
			texts.Fill(full)
		}
		switch {
		case o.Auto, o.Verb == operation.External, o.Verb == operation.Pull:
		case !ofPull(o):
			f.Since = append(f.Since, told(v, full, undone[o.Undoes]))
		case o.Verb == operation.Undo && !redone[o.Seq]:
			withdraw(f, o)
		}
	}
	return failed
}

// ofPull reports whether an operation took back a pull, or repeated what that took back.
func ofPull(o *operation.Operation) bool { return o.Undoes != 0 && o.Args["verb"] == operation.Pull }

// withdraw adds to the facts from which sessions an undo of a pull took something.
func withdraw(f *mirror.Facts, o *operation.Operation) {
	for _, c := range o.Changes {
		id := store.SessionOf(c.File)
		took := c.Is == nil || slices.ContainsFunc(c.Splices, func(s operation.Splice) bool { return len(idsIn(s.Old)) > 0 })
		if id == "" || c.Link || !took {
			continue
		}
		if f.Withdrawn == nil {
			f.Withdrawn = map[string]bool{}
		}
		f.Withdrawn[id] = true
	}
}

// changedSince returns the ids of the sessions that operations after since are about. ok is false if
// there may be other changes: of a program that bough has not noted, or of operations that are no longer
// in the log.
func changedSince(v *store.View, since operation.Seq) (ids []string, ok bool, err error) {
	if !v.Index.Unchanged() {
		return nil, false, nil
	}
	log, err := operation.Open(v.Root)
	if err != nil {
		return nil, false, err
	}
	defer log.Close()
	next := operation.Seq(0) // the operation after the one that is read
	for line, err := range log.Newest() {
		switch {
		case err != nil, next != 0 && line.Seq != next-1:
			return nil, false, nil
		case line.Seq <= since:
			return ids, line.Seq == since, nil
		}
		next = line.Seq
		ids = append(ids, line.Sessions...)
		for _, c := range slices.Concat(line.Changes, line.Seen) {
			if id := store.SessionOf(c.File); id != "" {
				ids = append(ids, id)
			}
		}
	}
	return nil, false, nil
}

// sourcesSince returns the sessions to which operations after since brought content from elsewhere, see
// [mirror.Facts], and those that only users of the workspace changed.
func sourcesSince(v *store.View, since operation.Seq, remote string) (brought, written []string, err error) {
	log, err := operation.Open(v.Root)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	seen := map[string]bool{} // by other programs
	var failed error
	for o := range v.Operations(log, &failed) {
		if o.Seq <= since {
			break
		}
		for _, c := range o.Seen {
			seen[store.SessionOf(c.File)] = true
		}
		elsewhere := o.Verb == operation.Pull && o.Args["remote"] != remote || o.Verb == "import" || o.Verb == "doctor --merge-copies"
		for _, c := range o.Changes {
			switch id := store.SessionOf(c.File); {
			case id == "" || c.Link:
			case elsewhere || c.Was == nil && c.Moved != "":
				brought = append(brought, id)
			case o.Verb != operation.Pull && o.Verb != operation.External:
				written = append(written, id)
			}
		}
		if elsewhere && o.Compacted {
			brought = append(brought, o.Sessions...)
		}
	}
	written = slices.DeleteFunc(written, func(id string) bool { return seen[id] })
	return brought, written, failed
}

// undoneBy returns the undos among the operations that a redo in ops takes back, by number.
func undoneBy(v *store.View, log *operation.Log, ops []*operation.Operation, failed *error) map[operation.Seq]*operation.Operation {
	var redone []operation.Seq
	for _, o := range ops {
		if o.Verb == operation.Redo {
			redone = append(redone, o.Undoes)
		}
	}
	if len(redone) == 0 {
		return nil
	}
	return operation.Find(v.Operations(log, failed), redone)
}

// told returns what an operation did. redone is the undo that it repeats, nil if it is not a redo.
func told(v *store.View, o, redone *operation.Operation) mirror.Operation {
	is := store.OperationOf(o, false)
	m := mirror.Operation{Seq: o.Seq, Time: is.Time, Verb: o.Verb, Line: rawjson.Compact(is)}
	repair := strings.HasPrefix(o.Verb, "doctor") // it moves files that cannot be read: others may have them whole
	for _, c := range o.Changes {
		if name, ok := agent.NameOf(c.File); ok && !repair {
			if c.Is == nil {
				m.Agents = append(m.Agents, name)
			}
			m.Trees = append(m.Trees, treesTaken(c)...)
		}
		if c.File == bookmark.Path && !repair {
			m.Unmarked = append(m.Unmarked, unmarked(c)...)
		}
		id := store.SessionOf(c.File)
		switch {
		case id == "" || c.Link:
		case c.Is == nil && repair:
		case c.Is == nil:
			if !v.Has(id) && !slices.Contains(m.Removed, id) { // otherwise it was packed, unpacked or restored
				m.Removed = append(m.Removed, id)
			}
		case c.Was == nil && c.Moved != "":
			if v.Has(id) && !slices.Contains(m.Returned, id) {
				m.Returned = append(m.Returned, id)
			}
		case o.Verb == operation.Undo:
			m.Undone = append(m.Undone, messagesOf(v, id, c, false)...)
		}
	}
	if redone != nil {
		for _, c := range redone.Changes {
			if id := store.SessionOf(c.File); id != "" && !c.Link {
				m.Redone = append(m.Redone, messagesOf(v, id, c, true)...)
			}
		}
	}
	list, _ := store.Argument[[]store.Replacement](o, "replaced")
	for _, r := range list {
		if v.Has(r.Session) && !hasMessage(v, r.Session, r.Message) {
			m.Undone = append(m.Undone, mirror.Ref{Session: r.Session, Message: r.Message})
		}
	}
	return m
}

// unmarked returns the bookmarks that a change of their file removed.
func unmarked(c operation.Change) []bookmark.Bookmark {
	var was, is *bookmark.File
	var err error
	if was, err = bookmark.Decode([]byte(c.Before)); err != nil || c.Before == "" {
		return nil
	}
	if is, err = bookmark.Decode([]byte(c.After)); c.After != "" && err != nil {
		return nil
	}
	return slices.DeleteFunc(was.Bookmarks, func(b bookmark.Bookmark) bool {
		return c.After != "" && slices.ContainsFunc(is.Bookmarks, func(o bookmark.Bookmark) bool {
			return o.Session == b.Session && o.Message == b.Message && o.Label == b.Label
		})
	})
}

// treesTaken returns the ids of the trees that a change of the file of an agent took from it.
func treesTaken(c operation.Change) (ids []string) {
	if c.Before == "" || c.After == "" {
		return nil
	}
	for _, id := range gjson.Get(c.Before, "trees.#.id").Array() {
		if !slices.ContainsFunc(gjson.Get(c.After, "trees.#.id").Array(), func(o gjson.Result) bool { return o.Str == id.Str }) {
			ids = append(ids, id.Str)
		}
	}
	return ids
}

// messagesOf returns the messages that a change of a session removed, as far as the session has
// them now, or lacks them.
func messagesOf(v *store.View, id string, c operation.Change, has bool) (list []mirror.Ref) {
	if !v.Has(id) {
		return nil
	}
	for _, splice := range c.Splices {
		for _, message := range idsIn(splice.Old) {
			if hasMessage(v, id, message) == has {
				list = append(list, mirror.Ref{Session: id, Message: message})
			}
		}
	}
	return list
}

// idsIn returns the ids of the messages in text, a part of an array of messages.
func idsIn(text string) (ids []string) {
	for start, end := range objectsIn(text) {
		if raw := text[start:end]; json.Valid([]byte(raw)) || rawjson.Check([]byte(raw)) == nil {
			if id := gjson.Get(raw, "id"); id.Type == gjson.String && gjson.Get(raw, "role").Exists() {
				ids = append(ids, id.String())
			}
		}
	}
	return ids
}

// objectsIn returns the offsets of the objects that follow each other in text, after commas and
// white space.
func objectsIn(text string) func(yield func(start, end int) bool) {
	return func(yield func(start, end int) bool) {
		for at := 0; at < len(text); {
			switch text[at] {
			case ',', ' ', '\n', '\t', '\r':
				at++
				continue
			case '{':
			default:
				return
			}
			end, ok := rawjson.First([]byte(text[at:]))
			if !ok || !yield(at, at+end) {
				return
			}
			at += end
		}
	}
}

// hasMessage reports whether the file of a session has a message.
func hasMessage(v *store.View, id, message string) bool {
	o, err := v.Outline(id)
	return err == nil && indexOf(o, message) >= 0
}

// indexOf returns the index of a message in a file, -1 if it does not have it.
func indexOf(o *session.Outline, message string) int {
	for i := range o.Len() {
		if !o.Brief() && o.MessageID(i) == message {
			return i
		}
	}
	return -1
}
