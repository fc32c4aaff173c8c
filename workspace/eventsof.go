package workspace

import (
	"encoding/json"
	"slices"

	"github.com/bough-dev/bough/internal/operation"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace/bookmark"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/internal/store"
)

// eventsOf returns the events of an operation.
func eventsOf(o *operation.Operation) []events.Event {
	var list []events.Event
	add := func(t events.Type, id, message, role string) {
		list = append(list, events.Event{
			Seq: o.Seq, Time: store.TimeOf(o.Time), Type: t, Session: session.ID(id), Message: session.ID(message), Role: role,
			Verb: o.Verb, External: o.Verb == operation.External,
		})
	}
	text := func(name string) string {
		s, _ := o.Args[name].(string)
		return s
	}
	if o.Verb == operation.External {
		return external(o)
	}
	imported, _ := store.Argument[[]store.AddedMessage](o, store.ArgMessages)
	for _, c := range o.Changes {
		if c.File == bookmark.Path {
			bookmarked(c, func(t events.Type, b bookmark.Bookmark) {
				add(t, b.Session, b.Message, "")
				list[len(list)-1].Label = b.Label
			})
			continue
		}
		if store.IsAgent(c.File) {
			if name, was, is := agentMove(c); is != was && is.Tree != "" {
				add(events.HeadMoved, is.Tree, is.Node, "")
				list[len(list)-1].Agent = name
			}
			continue
		}
		if exchanged(o, c) {
			if c.Is != nil {
				add(events.SessionChanged, store.SessionOf(c.File), "", "")
			}
			continue
		}
		t, id, message, ok := eventOf(o.Verb, c)
		grown := slices.ContainsFunc(imported, func(m store.AddedMessage) bool { return m.Session == id })
		if ok && !(grown && t == events.SessionChanged) { // the events of the messages cover it
			add(t, id, message, "")
		}
	}
	for _, m := range imported {
		e := events.Event{Seq: o.Seq, Time: store.TimeOf(o.Time), Type: events.MessageAdded, Session: session.ID(m.Session), Message: session.ID(m.Message), Role: m.Role, Verb: o.Verb}
		list = append(list, m.Addition.Events(e)...)
	}
	if message := text("message"); message != "" && len(o.Sessions) > 0 && (o.Verb == "append" || o.Args["chat"] != nil) {
		at := slices.IndexFunc(list, func(e events.Event) bool { return e.Type == events.HeadMoved })
		if at < 0 {
			at = len(list)
		}
		added, _ := store.Argument[store.Addition](o, store.ArgAdded)
		for i := range list {
			if added.Copy && list[i].Type == events.SessionCreated {
				list[i].Type = events.BranchCreated
			}
		}
		e := events.Event{
			Seq: o.Seq, Time: store.TimeOf(o.Time), Type: events.MessageAdded, Session: session.ID(o.Sessions[0]), Message: session.ID(message),
			Role: text("role"), Agent: text("agent"), Verb: o.Verb,
		}
		list = slices.Insert(list, at, added.Events(e)...)
	}
	list = append(list, store.QueueEvents(o)...)
	for _, r := range replacedIn(o) {
		add(events.MessageReplaced, r.Session, r.By, "")
		list[len(list)-1].Replaces = session.ID(r.Message)
	}
	return chatEvents(o, list)
}

// exchanged reports whether c creates or removes one of the two files of a checkpoint that
// was packed or unpacked: o has the opposite change of the other one.
func exchanged(o *operation.Operation, c operation.Change) bool {
	id := store.SessionOf(c.File)
	return id != "" && slices.ContainsFunc(o.Changes, func(d operation.Change) bool {
		return d.File != c.File && store.SessionOf(d.File) == id && (c.Was == nil) == (d.Is == nil) && (c.Is == nil) == (d.Was == nil)
	})
}

func replacedIn(o *operation.Operation) []store.Replacement {
	list, _ := store.Argument[[]store.Replacement](o, "replaced")
	return list
}

// eventOf returns the event for the change of a file. ok is false if the change
// only follows from others.
func eventOf(verb string, c operation.Change) (t events.Type, id, message string, ok bool) {
	id = store.SessionOf(c.File)
	switch {
	case c.File == store.HeadFile:
		var h store.StoredHead
		if json.Unmarshal([]byte(c.After), &h) != nil {
			h = store.StoredHead{}
		}
		return events.HeadMoved, h.Session, string(h.Message), true
	case id == "", c.Link:
		return "", "", "", false
	case c.Is == nil:
		return events.SessionRemoved, id, "", true
	case c.Was == nil && verb == "checkpoint":
		return events.CheckpointCreated, id, "", true
	case c.Was == nil && isBranching(verb):
		return events.BranchCreated, id, "", true
	case c.Was == nil:
		return events.SessionCreated, id, "", true
	case verb == "rename":
		return events.SessionRenamed, id, "", true
	case verb == "append":
		return "", "", "", false // the event of the message covers it
	}
	return events.SessionChanged, id, "", true
}

// isBranching reports whether a new session of a verb is a branch.
func isBranching(verb string) bool {
	return slices.Contains([]string{"branch", "copy", "agent branch", "pick", "edit", "prune-context"}, verb)
}

// external returns the events for changes by other programs.
func external(o *operation.Operation) (list []events.Event) {
	var f store.Foreign
	data, err := json.Marshal(o.Args)
	if err != nil || json.Unmarshal(data, &f) != nil {
		return nil
	}
	event := func(t events.Type, id string) events.Event {
		return events.Event{Seq: o.Seq, Time: store.TimeOf(o.Time), Type: t, Session: session.ID(id), Verb: o.Verb, External: true}
	}
	grown := map[string]bool{}
	for _, m := range f.Messages {
		grown[m.Session] = true
	}
	for _, id := range f.Added {
		list = append(list, event(events.SessionCreated, id))
	}
	for _, id := range f.Changed {
		if !grown[id] {
			list = append(list, event(events.SessionChanged, id))
		}
	}
	for _, m := range f.Messages {
		e := event(events.MessageAdded, m.Session)
		e.Message, e.Role = session.ID(m.Message), m.Role
		list = append(list, m.Addition.Events(e)...)
	}
	for _, id := range f.Removed {
		list = append(list, event(events.SessionRemoved, id))
	}
	return list
}

// bookmarked adds the events for a change of the bookmarks file.
func bookmarked(c operation.Change, add func(events.Type, bookmark.Bookmark)) {
	read := func(text string) *bookmark.File {
		f, err := bookmark.Decode([]byte(text))
		if err != nil {
			return &bookmark.File{} // missing or unreadable
		}
		return f
	}
	was, is := read(c.Before), read(c.After)
	for _, b := range was.Bookmarks {
		if len(is.Labelled(b.Label)) == 0 {
			add(events.BookmarkRemoved, b)
		}
	}
	for _, b := range is.Bookmarks {
		if !slices.Contains(was.Bookmarks, b) {
			add(events.NodeBookmarked, b)
		}
	}
}
