package ui

import (
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/cmd/bough/internal/list"
	"github.com/bough-dev/bough/internal/treerows"
)

// A tree is the left side: the conversations with their checkpoints and branches.
type tree struct {
	source treerows.Source
	loaded bool
	err    string
	filter treerows.Filter
	open   map[string]bool // rows that the user opened or closed
	rows   []treerows.Row
	list   *list.List // of rows
	wanted string     // the conversation to move to when it is listed, "" for none
}

// set lists the rows again; the cursor stays at its row.
func (t *tree) set() {
	at := t.selected().ID
	t.rows = nil
	if t.source.Forest != nil {
		t.rows = treerows.Rows(t.source, treerows.Options{Filter: t.filter, Open: t.open})
	}
	t.list = list.New(make([]list.Item, len(t.rows)))
	if i := slices.IndexFunc(t.rows, func(r treerows.Row) bool { return r.ID == at }); i >= 0 {
		t.list.Select(i)
	}
	if t.wanted != "" {
		t.show(t.wanted)
	}
}

// selected returns the row at the cursor, the zero Row if there is none.
func (t *tree) selected() treerows.Row {
	if t.list == nil || t.list.Selected() < 0 {
		return treerows.Row{}
	}
	return t.rows[t.list.Selected()]
}

// show moves the cursor to the row of a conversation, as soon as it is listed.
func (t *tree) show(session string) {
	t.wanted = session
	i := slices.IndexFunc(t.rows, func(r treerows.Row) bool {
		return r.Session == session && (r.Kind == treerows.Session || r.Kind == treerows.Copy || r.Kind == treerows.Checkpoint)
	})
	if i < 0 {
		return
	}
	t.wanted = ""
	if t.selected().Session != session {
		t.list.Select(i)
	}
}

// fold closes the row at the cursor or, if it is closed, moves to the row above it.
func (t *tree) fold() {
	r := t.selected()
	switch {
	case r.Expanded:
		t.open[r.ID] = false
		t.set()
	case r.Parent >= 0 && r.ID != "":
		t.list.Select(r.Parent)
	}
}

// unfold opens the row at the cursor, and reports whether its messages have to be read first.
func (t *tree) unfold() (reads bool) {
	r := t.selected()
	if !r.Expandable {
		return false
	}
	t.open[r.ID] = true
	t.set()
	return t.source.Messages[r.Session] == nil
}

// opened returns the conversations that the user opened.
func (t *tree) opened() (sessions []string) {
	for id, open := range t.open {
		if kind, session, _ := strings.Cut(id, "/"); open && (kind == string(treerows.Session) || kind == string(treerows.Copy)) {
			sessions = append(sessions, session)
		}
	}
	slices.Sort(sessions)
	return sessions
}

// nextFilter chooses the next filter.
func (t *tree) nextFilter() {
	filters := treerows.Filters[:]
	t.filter = filters[(slices.Index(filters, t.filter)+1)%len(filters)]
	t.set()
}

// lines returns the visible rows.
func (t *tree) lines(columns, height int, focused bool, now time.Time) []string {
	if t.list == nil {
		return nil
	}
	items, cursor := t.list.Window(height)
	lines := make([]string, len(items))
	for row, i := range items {
		text, about := rowText(t.rows[i], now)
		text = fit(text, max(columns-width(about), columns*2/3))
		about = fit(about, columns-width(text))
		switch {
		case row == cursor && focused:
			lines[row] = reverse(pad(text+about, columns))
		case row == cursor:
			lines[row] = bold(text) + dim(about)
		case t.rows[i].Kind == treerows.Checkpoint || t.rows[i].Kind == treerows.Bookmark:
			lines[row] = yellow(text) + dim(about)
		default:
			lines[row] = text + dim(about)
		}
	}
	return lines
}

// rowText returns a row as text, and what is known about it.
func rowText(r treerows.Row, now time.Time) (text, about string) {
	mark := "  "
	switch {
	case r.Expanded:
		mark = "▾ "
	case r.Expandable:
		mark = "▸ "
	}
	kind := map[treerows.Kind]string{treerows.Checkpoint: "◆ ", treerows.Bookmark: "★ ", treerows.Copy: "↳ ", treerows.Branch: "├ "}[r.Kind]
	title := line(r.Title)
	if title == "" {
		title = "(no text)"
	}
	text = strings.Repeat("  ", r.Level-1) + mark + kind + title
	if r.Head {
		text += " *"
	}
	var facts []string
	switch r.Kind {
	case treerows.Fork:
		facts = append(facts, itoa(r.Count)+" replies")
	case treerows.Session, treerows.Copy, treerows.Branch:
		facts = append(facts, itoa(r.Count))
	}
	if a := age(r.Time, now); a != "" && r.Kind != treerows.Message && r.Kind != treerows.Bookmark {
		facts = append(facts, a)
	}
	for _, l := range r.Labels {
		facts = append(facts, "★ "+line(l))
	}
	if r.Orphaned {
		facts = append(facts, "its origin is gone")
	}
	if len(facts) > 0 {
		about = "  " + strings.Join(facts, " · ")
	}
	return text, about
}
