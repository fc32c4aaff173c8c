package mirrorer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/agents"
	"github.com/bough-dev/bough/workspace/fault"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/mirror"
)

// Facts returns what the workspace has. It takes no lock. A session that cannot be read is
// omitted with a note.
func Facts(ctx context.Context, w *store.Store, all mirror.Known) (*mirror.Facts, error) {
	return store.Read(ctx, w, func(v *store.View) (*mirror.Facts, error) {
		known := all
		f := &mirror.Facts{Whole: true, Origins: v.Origins(), Projects: sumText(rawjson.Compact(v.Projects()))}
		if known.Projects != f.Projects { // sessions may have other projects
			known.Changed, known.Versions = false, nil
		}
		known.Changed = known.Changed && known.Lines == nil
		var list []*index.Entry
		if known.Changed {
			ids, ok, err := changedSince(v, known.Since)
			if err != nil {
				return nil, err
			}
			if f.Whole = !ok; ok {
				list, f.Gone = entriesOf(v, append(ids, known.Also...))
			}
		}
		if f.Whole {
			if err := v.Whole(); err != nil {
				return nil, err
			}
			v.NoteUnusable()
			list = originsFirst(v.Index, v.Index.Entries())
			for _, e := range v.Index.Unusable() {
				f.Unread = append(f.Unread, e.ID)
			}
			if known.Lines != nil {
				list, f.Others = onlyLines(v, list, known.Lines)
				f.Others = append(f.Others, f.Unread...)
			}
		}
		var versions map[string]string
		if f.Whole && known.Versions != nil {
			versions = known.Versions()
		}
		if err := describeAll(v, f, list, versions); err != nil {
			return nil, err
		}
		f.Count = v.Index.Count()
		var err error
		f.Bookmarks = v.BookmarksIfAny().Bookmarks
		if h, ok := v.Head(); ok {
			f.Head = &mirror.Head{Session: h.Session, Message: string(h.Message)}
		}
		if f.Agents, err = agentsOf(v); err != nil {
			return nil, err
		}
		if f.Explorations, err = explorationsOf(v); err != nil {
			return nil, err
		}
		if f.Learnings, err = learningsOf(v); err != nil {
			return nil, err
		}
		if f.Attachments, err = attachmentsOf(v); err != nil {
			return nil, err
		}
		if known.Lines != nil {
			for i := range f.Sessions {
				f.Sessions[i].Line = v.FirstFile(f.Sessions[i].ID)
			}
			if f.Brought, f.Written, err = sourcesSince(v, known.Since, known.Remote); err != nil {
				return nil, err
			}
		}
		return f, addSince(f, v, known.Since)
	})
}

// onlyLines returns the entries of the sessions of lines, and the ids of the others.
func onlyLines(v *store.View, entries []*index.Entry, lines []string) (list []*index.Entry, others []string) {
	in := make(map[string]bool, len(lines))
	for _, id := range lines {
		in[id] = true
	}
	for _, e := range entries {
		if in[v.FirstFile(e.ID)] {
			list = append(list, e)
		} else {
			others = append(others, e.ID)
		}
	}
	return list, others
}

// Line returns the first session of the line of the session that a user calls by a name.
func Line(ctx context.Context, w *store.Store, name string) (string, error) {
	return store.Read(ctx, w, func(v *store.View) (string, error) {
		id, err := v.Resolve(name)
		if err != nil {
			return "", err
		}
		if e := v.Index.Entry(id); e == nil || e.Kind() == session.Checkpoint && e.Auto {
			return "", &fault.Error{Code: fault.Refused, Message: id + " is an automatic checkpoint or one of Penguin, which does not travel"}
		}
		return v.FirstFile(id), nil
	})
}

// describeAll adds the sessions of entries to the facts.
func describeAll(v *store.View, f *mirror.Facts, list []*index.Entry, versions map[string]string) error {
	for _, e := range list {
		if err := v.Ctx.Err(); err != nil {
			return err
		}
		if e.Err != nil {
			v.Store.Opts.Note(e.Err.Error())
			f.Unread = append(f.Unread, e.ID)
			continue
		}
		s := mirror.Session{ID: e.ID, Kind: e.Kind(), Version: e.Version()}
		s.Auto = s.Kind == session.Checkpoint && e.Auto
		if !isKnown(v.Index, e, versions) {
			if err := describe(v, &s); err != nil {
				if err := v.Ctx.Err(); err != nil {
					return err
				}
				if store.IsChanged(err) || errors.Is(err, store.ErrGone) {
					return err
				}
				v.Store.Opts.Note(err.Error())
				f.Unread = append(f.Unread, e.ID)
				continue
			}
		}
		f.Sessions = append(f.Sessions, s)
	}
	return nil
}

// entriesOf returns the entries of sessions, with those of the sessions that they continue, and the
// ids of those that do not exist.
func entriesOf(v *store.View, ids []string) (list []*index.Entry, gone []string) {
	seen := map[string]bool{}
	for n := 0; n < len(ids); n++ {
		id := ids[n]
		if seen[id] {
			continue
		}
		seen[id] = true
		e := v.Index.Entry(id)
		if e == nil {
			if err := v.Index.Err(id); err != nil {
				list = append(list, &index.Entry{ID: id, Err: err})
			} else {
				gone = append(gone, id)
			}
			continue
		}
		list = append(list, e)
		if e.Kind() == session.Continuation {
			ids = append(ids, v.Index.Origin(id))
		}
	}
	return originsFirst(v.Index, list), gone
}

// originsFirst returns entries, of each session once: a session follows its origin, and otherwise an
// older one comes first.
func originsFirst(x *index.Index, entries []*index.Entry) (list []*index.Entry) {
	byID := make(map[string]*index.Entry, len(entries))
	for _, e := range entries {
		byID[e.ID] = e
	}
	slices.SortStableFunc(entries, func(a, b *index.Entry) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	done := map[string]bool{}
	for _, e := range entries {
		var path []*index.Entry
		for ; e != nil && !done[e.ID]; e = byID[x.Origin(e.ID)] {
			done[e.ID] = true
			path = append(path, e)
		}
		slices.Reverse(path)
		list = append(list, path...)
	}
	return list
}

// isKnown reports whether versions has those of a session and of all that continue it.
func isKnown(x *index.Index, e *index.Entry, versions map[string]string) bool {
	version := e.Version()
	if version == "" || versions[e.ID] != version {
		return false
	}
	if e.Kind() == session.Continuation || e.Kind() == session.Checkpoint {
		return true
	}
	ids, err := x.Line(e.ID)
	return err == nil && !slices.ContainsFunc(ids, func(id string) bool {
		part := x.Entry(id)
		return part == nil || versions[id] != part.Version()
	})
}

// describe sets the fields of a session that need its file.
func describe(v *store.View, s *mirror.Session) error {
	o, err := v.Outline(s.ID)
	if err != nil {
		return err
	}
	file, err := v.Folder.Open(o)
	if err != nil {
		return err
	}
	s.Title, s.Shell, s.Project = o.Meta.Title, shellOf(file), v.ProjectOf(s.ID)
	if origin, ok := v.Origins().Session(s.ID); ok {
		s.Origin = &origin
	}
	if s.Kind == session.Continuation {
		return nil
	}
	if l, err := v.Line(s.ID, true); err == nil && l.Broken == nil {
		if n := l.Newest(0); n >= 0 {
			s.Newest = l.ID(n)
		}
	}
	return nil
}

func agentsOf(v *store.View) (list []mirror.Agent, err error) {
	err = v.EachAgent(func(name string, a *agents.Agent, err error) error {
		if err != nil {
			v.Store.Opts.Note(err.Error())
			return nil
		}
		is := agentOf(a)
		if origin, ok := v.Origins().Agent(a.ID); ok {
			is.Origin = &origin
		}
		list = append(list, is)
		return nil
	})
	return list, err
}

// keptHere are the members of an agent's file that only its own machine has.
var keptHere = []string{"name", "tree_ids", "trees", "head", "queue", "turn"}

// agentOf returns an agent without what only its machine has.
func agentOf(a *agents.Agent) mirror.Agent {
	m := mirror.Agent{Name: a.Name, Head: &mirror.Head{Session: a.Head.Tree, Message: a.Head.Node}}
	members, _ := rawjson.Members(a.File, rawjson.Root(a.File)) // it was decoded
	var pairs []rawjson.Pair
	for _, member := range members {
		value := member.Value.Of(a.File)
		if member.Key == "trees" {
			for _, tree := range rawjson.Elements(a.File, member.Value) {
				m.Trees = append(m.Trees, rawjson.Dense(tree.Of(a.File)))
			}
		}
		if !slices.Contains(keptHere, member.Key) {
			pairs = append(pairs, rawjson.Pair{Key: member.Key, Value: rawjson.Dense(value)})
		}
	}
	m.Settings = rawjson.AppendLine(nil, pairs)
	return m
}

// learningsOf returns the complete lines of the file of learnings.
func learningsOf(v *store.View) (list []json.RawMessage, err error) {
	data, err := store.ReadRegular(v.Root, store.LearningsPath)
	for line := range bytes.Lines(data) {
		text, whole := bytes.CutSuffix(line, []byte("\n"))
		if whole && rawjson.Check(text) == nil {
			list = append(list, text)
		}
	}
	return list, err
}

func attachmentsOf(v *store.View) (list []string, err error) {
	entries, err := durable.ReadDir(v.Root, lines.FilesDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if lines.ValidSum(e.Name()) {
			list = append(list, e.Name())
		}
	}
	return list, err
}
