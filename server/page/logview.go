package page

import (
	"path"
	"strings"
	"time"

	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/events"
	"github.com/bough-dev/bough/workspace/history"
	"github.com/bough-dev/bough/workspace/trash"
)

// A logPage is the list of operations.
type logPage struct {
	Rows []logRow
	More string // the address of all of them, "" if these are all
}

// A logRow is an operation in the log, or a group of operations that are undone together.
type logRow struct {
	Seq    events.Seq // of the newest
	Text   string
	Href   string // of the conversation that was changed, "" if there are several or it is gone
	Mark   string
	Time   moment
	Undone bool
	Undo   events.Seq // the operation, if an undo would undo it
	Redo   events.Seq // the operation, if a redo would repeat what it undid
}

// logLimit is how many operations the log shows at first.
const logLimit = 100

// showLog lists the operations.
func showLog(c *request) (view, error) {
	ctx := c.r.Context()
	log, err := c.workspace.Log(ctx, history.LogOptions{})
	if err != nil {
		return view{}, err
	}
	titles, err := c.titles()
	if err != nil {
		return view{}, err
	}
	var next events.Seq
	if planned, err := c.workspace.Undo(ctx, history.UndoOptions{DryRun: true}); err == nil && len(planned.Operations) > 0 {
		next = planned.Operations[0].Seq
	}
	limit := logLimit
	if c.r.FormValue("all") != "" {
		limit = len(log.Operations)
	}
	rows := logRows(log.Operations, titles, next, c.opts.Now())
	p := logPage{Rows: rows[:min(limit, len(rows))]}
	if len(rows) > limit {
		p.More = "/log?all=1"
	}
	return view{Template: "log", Title: "Log", Data: p}, nil
}

// titles returns the titles of the sessions by id.
func (c *request) titles() (map[string]string, error) {
	trees, err := c.trees()
	if err != nil {
		return nil, err
	}
	titles := map[string]string{}
	eachEntry(trees.Roots, func(e workspace.TreeEntry, _ *workspace.TreeEntry) { titles[e.ID] = e.Title })
	return titles, nil
}

// logRows returns the rows of a log, which is newest first. next is the operation that an
// undo would undo.
func logRows(log []history.Operation, titles map[string]string, next events.Seq, now time.Time) (rows []logRow) {
	groups := map[events.Seq][]history.Operation{}
	for _, op := range log {
		if op.Group != 0 {
			groups[op.Group] = append(groups[op.Group], op)
		}
	}
	for i, op := range log {
		group := []history.Operation{op}
		if op.Group != 0 {
			if group = groups[op.Group]; group[0].Seq != op.Seq {
				continue
			}
		}
		row := logRow{Seq: op.Seq, Time: ageOf(op.Time, now), Text: sentence.Describe(op, log[i:], titles, len(group)), Undone: true}
		for _, one := range group {
			row.Undone = row.Undone && one.Undone
			if one.Seq == next {
				row.Undo = next
			}
		}
		if len(group) == 1 && !row.Undone {
			row.Href = changedAddress(op, titles)
		}
		switch {
		case row.Undone:
			row.Mark = "undone"
		case op.Args["auto"] == true:
			row.Mark = "automatic"
		}
		if len(rows) == 0 && op.Verb == "undo" && !op.Undone {
			row.Redo = op.Seq
		}
		rows = append(rows, row)
	}
	return rows
}

// changedAddress returns the address of the first conversation that an operation changed and that
// exists, "" if there is none. titles are those of the sessions by id.
func changedAddress(op history.Operation, titles map[string]string) string {
	for _, id := range op.Sessions {
		if _, exists := titles[id]; exists {
			return location{Session: id}.String()
		}
	}
	return ""
}

// A trashPage is the list of the files in the trash.
type trashPage struct {
	Summary string
	Files   []trashRow
}

// A trashRow is a file in the trash.
type trashRow struct {
	Session  string
	Title    string
	About    string
	Time     moment
	Restores bool
	Why      string // it cannot be restored here
}

// showTrash lists the trash.
func showTrash(c *request) (view, error) {
	list, err := c.workspace.Trash(c.r.Context())
	if err != nil {
		return view{}, err
	}
	log, err := c.workspace.Log(c.r.Context(), history.LogOptions{})
	if err != nil {
		return view{}, err
	}
	p := trashPage{Summary: count(len(list.Files), "file"), Files: trashRows(list.Files, log.Operations, c.opts.Now())}
	return view{Template: "trash", Title: "Trash", Data: p}, nil
}

// fileText returns what a file of the workspace that is no session has.
func fileText(file string) string {
	name := strings.TrimSuffix(path.Base(file), ".json")
	switch path.Dir(file) {
	case "agents":
		return "Agent " + name
	case "explorations":
		return "Exploration " + name
	}
	switch name {
	case "head":
		return "Position of the head"
	case "bookmarks":
		return "Bookmarks"
	case "config":
		return "Settings"
	case "session_index":
		return "List of conversations"
	}
	return path.Base(file)
}

// trashRows returns the rows of the files in the trash, given the log, newest first.
func trashRows(files []trash.File, log []history.Operation, now time.Time) (rows []trashRow) {
	last := map[string]history.Operation{} // the newest operation on each session
	for _, op := range log {
		for _, id := range op.Sessions {
			if _, known := last[id]; !known {
				last[id] = op
			}
		}
	}
	listed := map[string]bool{}
	for _, f := range files {
		id := string(f.Session)
		row := trashRow{Session: id, Title: clip(f.Title), About: bytesText(f.Bytes), Time: ageOf(f.RemovedAt, now)}
		if row.Title == "" {
			row.Title = fileText(f.File)
		}
		switch op := last[id]; {
		case id == "":
			row.Why = "Undo in the log restores it."
		case listed[id]:
			row.Why = "An older version."
		case op.Verb == "rm" && !op.Undone:
			row.Restores = true
		case op.Verb == "undo":
			row.Why = "An undo removed it; redo in the log restores it."
		default:
			row.Why = "Undo in the log restores it."
		}
		listed[id] = true
		rows = append(rows, row)
	}
	return rows
}
