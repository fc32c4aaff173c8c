package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/bough-dev/bough/agent"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/internal/records"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/internal/folders"
	"github.com/bough-dev/bough/workspace/internal/importer"
	"github.com/bough-dev/bough/workspace/internal/store"
	"github.com/bough-dev/bough/workspace/lines"
	"github.com/bough-dev/bough/workspace/task"
	"github.com/bough-dev/bough/workspace/usage"
)

var usageKinds = []usage.Kind{
	usage.Roots, usage.Continuations, usage.Branches, usage.Checkpoints, usage.AutoCheckpoints, usage.Packed, usage.Penguin, usage.Damaged,
	usage.Index, usage.Attachments, usage.Agents, usage.Explorations, usage.States, usage.Operations, usage.Tasks, usage.Trash, usage.Caches, usage.Other,
}

// usagePlaces are the files and folders of a workspace other than session
// files, with their kinds. A file precedes its folder.
var usagePlaces = []struct {
	name string
	kind usage.Kind
}{
	{session.Dir + "/" + session.IndexFile, usage.Index},
	{index.JournalPath, usage.Index},
	{session.Dir, usage.Other},
	{sessions.PackedDir, usage.Packed},
	{"checkpoints", usage.Penguin},
	{lines.FilesDir, usage.Attachments},
	{agent.Dir, usage.Agents},
	{store.TurnsDir, usage.Agents},
	{store.ExplorationsDir, usage.Explorations},
	{store.StateDir + "/" + store.ExplorationsDir, usage.Explorations},
	{states.Dir, usage.States},
	{store.LearningsPath, usage.Explorations},
	{operation.Path, usage.Operations},
	{task.Path, usage.Tasks},
	{store.TrashDir, usage.Trash},
	{session.CacheDir, usage.Caches},
	{store.StateDir, usage.Other},
	{store.HeadFile, usage.Other},
	{bookmark.Path, usage.Other},
}

// Usage returns how much disk space the workspace takes, and the limit largest
// conversations; 0 means all. It counts unreadable files, but no special files.
func (w *Workspace) Usage(ctx context.Context, limit int) (*usage.Report, error) {
	return store.Read(ctx, w.store, func(v *store.View) (*usage.Report, error) {
		if err := v.Whole(); err != nil {
			return nil, err
		}
		u := &usage.Report{Path: w.store.Dir, StatesLimit: folders.Limit(w.store)}
		kinds := map[usage.Kind]*usage.Files{}
		sizes := map[string]int64{}
		for _, kind := range usageKinds {
			kinds[kind] = &usage.Files{Kind: kind}
		}
		err := eachFile(v, func(name string, size int64) {
			if id := store.SessionOf(name); id != "" && (store.RecipeOf(name) == "" || v.IsPacked(id)) {
				sizes[id] = size
			}
			k := kinds[usageKind(v, name)]
			k.Bytes += size
			k.Files++
			u.Bytes += size
			u.Files++
		})
		if err != nil {
			return nil, err
		}
		for _, kind := range usageKinds {
			u.Kinds = append(u.Kinds, *kinds[kind])
		}
		u.Conversations = conversationUsage(v, sizes)
		if limit > 0 && len(u.Conversations) > limit {
			u.More = len(u.Conversations) - limit
			u.Conversations = u.Conversations[:limit]
		}
		return u, measureConversations(v, u.Conversations)
	})
}

// eachFile calls f with each regular file of the workspace and its size. It
// skips files that disappear or cannot be read.
func eachFile(v *store.View, f func(name string, size int64)) error {
	var tops []string
	for _, p := range usagePlaces {
		if top, _, _ := strings.Cut(p.name, "/"); !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
	}
	for _, top := range tops {
		err := fs.WalkDir(v.Root.FS(), top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return v.Ctx.Err()
			}
			if info, err := d.Info(); err == nil {
				f(name, info.Size())
			}
			return v.Ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// usageKind returns the kind of a file of the workspace.
func usageKind(v *store.View, name string) usage.Kind {
	if id := store.SessionOf(name); id != "" && store.RecipeOf(name) == "" {
		e := v.Index.Entry(id)
		switch {
		case e == nil:
			return usage.Damaged
		case e.Kind() == session.Checkpoint && e.Auto:
			return usage.AutoCheckpoints
		case e.Kind() == session.Checkpoint:
			return usage.Checkpoints
		case e.Kind() == session.Branch:
			return usage.Branches
		case e.Kind() == session.Continuation:
			return usage.Continuations
		}
		return usage.Roots
	}
	for _, p := range usagePlaces {
		if name == p.name || strings.HasPrefix(name, p.name+"/") {
			return p.kind
		}
	}
	return usage.Other
}

// conversationUsage returns all conversations, largest first. sizes has the
// sizes of session files.
func conversationUsage(v *store.View, sizes map[string]int64) []usage.Conversation {
	list := []usage.Conversation{}
	at := map[string]int{} // index in list, by first session
	for id, size := range sizes {
		first := v.FirstFile(id)
		n, ok := at[first]
		if !ok {
			n = len(list)
			at[first] = n
			list = append(list, usage.Conversation{Session: first, Title: sessionid.DefaultTitle(first), Damaged: true})
			if e := v.Index.Entry(first); e != nil {
				list[n].Kind, list[n].Title, list[n].Damaged = e.Kind(), v.Title(e), false
			}
		}
		c := &list[n]
		c.Bytes += size
		c.Files++
		if e := v.Index.Entry(id); e != nil {
			c.Messages += e.MessageCount
		}
	}
	slices.SortFunc(list, func(a, b usage.Conversation) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Session, b.Session))
	})
	return list
}

// measureConversations reads conversations and sets how much of each is text
// and how much is records.
func measureConversations(v *store.View, list []usage.Conversation) error {
	at := map[string]int{}
	for i := range list {
		at[list[i].Session] = i
	}
	for _, e := range v.Index.Entries() {
		n, ok := at[v.FirstFile(e.ID)]
		if !ok {
			continue
		}
		err := measureFile(v, e.ID, &list[n])
		var damage *session.DamageError
		switch {
		case errors.As(err, &damage), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			list[n].Damaged = true
		case err != nil:
			return err
		}
	}
	return nil
}

func measureFile(v *store.View, id string, c *usage.Conversation) error {
	o, err := v.Outline(id)
	if err != nil {
		return err
	}
	c.Records += int64(records.SourcesSize(o.Own(importer.OwnSources)))
	return v.Folder.Each(o, func(_ int, m session.Message) error {
		text, records := records.Sizes(m.Raw)
		c.Text += int64(text)
		c.Records += int64(records)
		return v.Ctx.Err()
	})
}
