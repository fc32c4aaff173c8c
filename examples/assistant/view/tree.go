package view

import (
	"slices"
	"strconv"

	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
)

// A Tree is the sidebar: conversations with their branches and checkpoints.
type Tree struct {
	Roots []string
	Rows  map[string]Row
	Open  string // the id of the selected row
}

// A Row is one conversation, branch or checkpoint.
type Row struct {
	ID       string
	Title    string
	Kind     session.Kind
	Messages int
	Running  bool     // the assistant is answering in it
	End      bool     // one of several ends of the conversation above it
	Children []string // branches and checkpoints, oldest first
}

// kind returns the kind of the row in words.
func (r Row) kind() string {
	switch {
	case r.End:
		return "One end of the conversation"
	case r.Kind == session.Checkpoint:
		return "Checkpoint, read-only"
	case r.Kind == session.Branch:
		return "Branch"
	}
	return "Conversation"
}

// Count returns the number of messages, "" for none.
func (r Row) Count() string {
	if r.Messages == 0 {
		return ""
	}
	return strconv.Itoa(r.Messages)
}

func treeOf(f Facts) Tree {
	t := Tree{Rows: map[string]Row{}, Open: f.Line()}
	t.Roots = t.add(f.Sessions.Roots)
	slices.Reverse(t.Roots) // the newest conversation first
	t.addEnds(f)
	if row, ok := t.Rows[f.Agent.Session]; ok && f.isRunning() {
		row.Running = true
		t.Rows[row.ID] = row
	}
	return t
}

// add adds rows for entries and returns their ids. A continuation has no row: it
// is part of the conversation that it continues.
func (t *Tree) add(entries []workspace.TreeEntry) (ids []string) {
	for _, e := range entries {
		row := Row{ID: e.ID, Title: e.Title, Kind: e.Kind, Messages: e.MessageCount}
		row.Children = t.add(t.absorb(&row, e.Children))
		if row.Messages == 0 {
			row.Title = "New conversation" // instead of one that is derived from the id
		}
		t.Rows[row.ID] = row
		ids = append(ids, row.ID)
	}
	return ids
}

// addEnds adds the ends of the open conversation, if it has several: another
// program may have continued an earlier message.
func (t *Tree) addEnds(f Facts) {
	if len(f.Ends) < 2 {
		return
	}
	above := t.Rows[t.Open]
	ids := make([]string, len(f.Ends))
	for i, l := range f.Ends {
		row := Row{ID: EndRef(above.ID, l.ID), Title: l.Text, Kind: above.Kind, Messages: l.Depth, End: true}
		t.Rows[row.ID], ids[i] = row, row.ID
		if l.ID == f.end() {
			t.Open = row.ID
		}
	}
	above.Children = append(ids, above.Children...)
	t.Rows[above.ID] = above
}

// absorb returns the entries below row, with those below its continuations in
// place of these, whose messages it adds to row.
func (t *Tree) absorb(row *Row, entries []workspace.TreeEntry) (below []workspace.TreeEntry) {
	for _, e := range entries {
		if e.Kind != session.Continuation {
			below = append(below, e)
			continue
		}
		row.Messages += e.MessageCount - e.HeaderCount
		below = append(below, t.absorb(row, e.Children)...)
	}
	return below
}

// lineOf returns the first file of the conversation that has the file id, "" if
// there is none.
func lineOf(entries []workspace.TreeEntry, id string) string {
	for _, e := range entries {
		if e.ID == id {
			return id
		}
		found := lineOf(e.Children, id)
		if i := slices.IndexFunc(e.Children, func(c workspace.TreeEntry) bool { return c.ID == found }); i >= 0 && e.Children[i].Kind == session.Continuation {
			return e.ID
		}
		if found != "" {
			return found
		}
	}
	return ""
}
