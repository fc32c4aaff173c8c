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
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/task"
	"github.com/bough-dev/bough/workspace/usage"
)

var usageKinds = []usage.Kind{
	usage.UsageRoots, usage.UsageContinuations, usage.UsageBranches, usage.UsageCheckpoints, usage.UsageAutoCheckpoints, usage.UsagePenguin, usage.UsageDamaged,
	usage.UsageIndex, usage.UsageAttachments, usage.UsageAgents, usage.UsageExplorations, usage.UsageOperations, usage.UsageTasks, usage.UsageTrash, usage.UsageCaches, usage.UsageOther,
}

// usagePlaces are the files and folders of a workspace other than session
// files, with their kinds. A file precedes its folder.
var usagePlaces = []struct {
	name string
	kind usage.Kind
}{
	{session.Dir + "/" + session.IndexFile, usage.UsageIndex},
	{index.JournalPath, usage.UsageIndex},
	{session.Dir, usage.UsageOther},
	{"checkpoints", usage.UsagePenguin},
	{filesDir, usage.UsageAttachments},
	{agent.Dir, usage.UsageAgents},
	{turnsDir, usage.UsageAgents},
	{explorationsDir, usage.UsageExplorations},
	{stateDir + "/" + explorationsDir, usage.UsageExplorations},
	{learningsPath, usage.UsageExplorations},
	{operation.Path, usage.UsageOperations},
	{task.Path, usage.UsageTasks},
	{trashDir, usage.UsageTrash},
	{session.CacheDir, usage.UsageCaches},
	{stateDir, usage.UsageOther},
	{headFile, usage.UsageOther},
	{bookmark.Path, usage.UsageOther},
}

// Usage returns how much disk space the workspace takes, and the limit largest
// conversations; 0 means all. It counts unreadable files, but no special files.
func (w *Workspace) Usage(ctx context.Context, limit int) (*usage.Report, error) {
	return read(ctx, w.store, func(v *View) (*usage.Report, error) {
		if err := v.whole(); err != nil {
			return nil, err
		}
		u := &usage.Report{Path: w.store.dir}
		kinds := map[usage.Kind]*usage.Files{}
		sizes := map[string]int64{}
		for _, kind := range usageKinds {
			kinds[kind] = &usage.Files{Kind: kind}
		}
		err := v.eachFile(func(name string, size int64) {
			if id := sessionOf(name); id != "" {
				sizes[id] = size
			}
			k := kinds[v.usageKind(name)]
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
		u.Conversations = v.conversationUsage(sizes)
		if limit > 0 && len(u.Conversations) > limit {
			u.More = len(u.Conversations) - limit
			u.Conversations = u.Conversations[:limit]
		}
		return u, v.measureConversations(u.Conversations)
	})
}

// eachFile calls f with each regular file of the workspace and its size. It
// skips files that disappear or cannot be read.
func (v *View) eachFile(f func(name string, size int64)) error {
	var tops []string
	for _, p := range usagePlaces {
		if top, _, _ := strings.Cut(p.name, "/"); !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
	}
	for _, top := range tops {
		err := fs.WalkDir(v.root.FS(), top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return v.ctx.Err()
			}
			if info, err := d.Info(); err == nil {
				f(name, info.Size())
			}
			return v.ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// usageKind returns the kind of a file of the workspace.
func (v *View) usageKind(name string) usage.Kind {
	if id := sessionOf(name); id != "" {
		e := v.index.Entry(id)
		switch {
		case e == nil:
			return usage.UsageDamaged
		case e.Kind() == session.Checkpoint && e.Auto:
			return usage.UsageAutoCheckpoints
		case e.Kind() == session.Checkpoint:
			return usage.UsageCheckpoints
		case e.Kind() == session.Branch:
			return usage.UsageBranches
		case e.Kind() == session.Continuation:
			return usage.UsageContinuations
		}
		return usage.UsageRoots
	}
	for _, p := range usagePlaces {
		if name == p.name || strings.HasPrefix(name, p.name+"/") {
			return p.kind
		}
	}
	return usage.UsageOther
}

// conversationUsage returns all conversations, largest first. sizes has the
// sizes of session files.
func (v *View) conversationUsage(sizes map[string]int64) []usage.Conversation {
	list := []usage.Conversation{}
	at := map[string]int{} // index in list, by first session
	for id, size := range sizes {
		first := v.firstFile(id)
		n, ok := at[first]
		if !ok {
			n = len(list)
			at[first] = n
			list = append(list, usage.Conversation{Session: first, Title: sessionid.DefaultTitle(first), Damaged: true})
			if e := v.index.Entry(first); e != nil {
				list[n].Kind, list[n].Title, list[n].Damaged = e.Kind(), v.title(e), false
			}
		}
		c := &list[n]
		c.Bytes += size
		c.Files++
		if e := v.index.Entry(id); e != nil {
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
func (v *View) measureConversations(list []usage.Conversation) error {
	at := map[string]int{}
	for i := range list {
		at[list[i].Session] = i
	}
	for _, e := range v.index.Entries() {
		n, ok := at[v.firstFile(e.ID)]
		if !ok {
			continue
		}
		err := v.measureFile(e.ID, &list[n])
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

func (v *View) measureFile(id string, c *usage.Conversation) error {
	o, err := v.outline(id)
	if err != nil {
		return err
	}
	c.Records += int64(records.SourcesSize(o.Own(ownSources)))
	return v.folder.Each(o, func(_ int, m session.Message) error {
		text, records := records.Sizes(m.Raw)
		c.Text += int64(text)
		c.Records += int64(records)
		return v.ctx.Err()
	})
}
