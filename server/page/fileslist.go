package page

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/sentence"
	"github.com/bough-dev/bough/internal/spoken"
	"github.com/bough-dev/bough/session"
	"github.com/bough-dev/bough/workspace"
	"github.com/bough-dev/bough/workspace/files"
)

// A folderState is a state of a folder as the page shows it.
type folderState struct {
	ID      string
	Href    string // what it has
	Dir     string
	Folder  string // the last name of Dir
	Moment  string // why it was taken
	Time    moment
	About   string // how much it has
	Words   string // the first words of its message, "" if they are unknown
	Message string // the address of its message, "" if it belongs to none
	Changes string // the address of what changed since the state before it
	Since   string // the address of what changed since then
	Restore string // the address of the plan to restore it
}

func (c *request) folderState(st *files.State) folderState { return newFolderState(st, c.opts.Now()) }

func newFolderState(st *files.State, now time.Time) folderState {
	s := folderState{
		ID: st.ID, Href: stateAddress(st.ID, ""), Dir: st.Dir, Folder: filepath.Base(st.Dir), Moment: sentence.Moment(st.At),
		Time: momentOf(st.Time, now), About: count(st.Files, "file") + ", " + bytesText(st.Bytes),
		Changes: differenceAddress("", st.ID), Since: differenceAddress(st.ID, files.Now), Restore: restoreAddress(st.ID),
	}
	if st.Message != "" {
		s.Message = messageAddress(string(st.Session), string(st.Message))
	}
	return s
}

// stateAddress returns the address of what a state has at a path, "" for all of it.
func stateAddress(id, path string) string {
	u := url.URL{Path: "/files/" + id}
	if path != "" && path != "." {
		u.Path += "/" + path
	}
	return u.String()
}

// rawAddress returns the address of the bytes of a file of a state.
func rawAddress(id, path string) string {
	return (&url.URL{Path: "/files/raw/" + id + "/" + path}).String()
}

// differenceAddress returns the address of what changed between two states. If from is empty,
// it is the state of the folder before the other one.
func differenceAddress(from, to string) string {
	q := url.Values{"to": {to}}
	if from != "" {
		q.Set("from", from)
	}
	return "/files/diff?" + q.Encode()
}

// statesAddress returns the address of the states of a path of a conversation.
func statesAddress(session, leaf string) string {
	q := url.Values{"session": {session}}
	if leaf != "" {
		q.Set("leaf", leaf)
	}
	return "/files?" + q.Encode()
}

// A statesPage is a list of states, the newest first.
type statesPage struct {
	Title   string // of the conversation, "" for all
	Href    string // of the conversation
	Summary string
	Folders []string // if there are several
	States  []folderState
	More    string // the address of all, "" if these are all
	All     string // the address of the states of all conversations, "" if these are
}

// statesLimit is how many states the page lists at first.
const statesLimit = 100

// showStates lists the states of a conversation, or of all.
func showStates(c *request) (view, error) {
	ctx, id, leaf := c.r.Context(), c.r.FormValue("session"), c.r.FormValue("leaf")
	var list []files.State
	said := map[string]string{}
	p := statesPage{}
	if id == "" {
		all, err := c.workspace.States(ctx, "")
		if err != nil {
			return view{}, err
		}
		list = all.States
	} else {
		shown, err := c.workspace.Show(ctx, refOf(id, leaf), partial())
		if err != nil {
			return view{}, err
		}
		p.Title, p.All = clip(shown.Entry.Title), "/files"
		p.Href = location{Session: shown.Entry.ID, Leaf: leaf}.String()
		for _, m := range shown.Messages {
			said[m.ID] = spoken.Words(m)
		}
		if list, err = c.statesAround(ctx, shown); err != nil {
			return view{}, err
		}
	}
	slices.SortStableFunc(list, func(a, b files.State) int { return b.Time.Compare(a.Time) })
	for _, st := range list {
		if !slices.Contains(p.Folders, st.Dir) {
			p.Folders = append(p.Folders, st.Dir)
		}
	}
	p.Summary = count(len(list), "state")
	if limit := statesLimit; len(list) > limit && c.r.FormValue("all") == "" {
		list = list[:limit]
		q := c.r.URL.Query()
		q.Set("all", "1")
		p.More = "/files?" + q.Encode()
	}
	for i := range list {
		s := c.folderState(&list[i])
		s.Words = clip(said[string(list[i].Message)])
		p.States = append(p.States, s)
	}
	return view{Template: "states", Title: "Files" + cmp.Or(" of "+p.Title, ""), Data: p}, nil
}

// hasFiles reports whether there is a state at a REF or before it.
func (c *request) hasFiles(ref string) bool { return c.folderAt(ref) != "" }

// folderAt returns the folder of the newest state at a REF or before it, "" if there is none.
func (c *request) folderAt(ref string) string {
	shown, err := c.workspace.Show(c.r.Context(), ref, partial())
	if err != nil {
		return ""
	}
	marks, err := c.workspace.FileMarks(c.r.Context(), shown)
	if err != nil || len(marks) == 0 {
		return ""
	}
	return marks[len(marks)-1].State.Dir
}

// statesAround returns the states of a conversation, and those that the messages of a path of it
// have from where they were copied.
func (c *request) statesAround(ctx context.Context, path *workspace.Conversation) ([]files.State, error) {
	own, err := c.workspace.States(ctx, path.Entry.ID)
	if err != nil {
		return nil, err
	}
	marks, err := c.workspace.FileMarks(ctx, path)
	if err != nil {
		return nil, err
	}
	list := own.States
	for _, m := range slices.Backward(marks) { // so that a state belongs to the first message that has it
		m.State.Session, m.State.Message = session.ID(path.Entry.ID), m.Message
		if i := slices.IndexFunc(list, func(st files.State) bool { return st.ID == m.State.ID }); i >= 0 {
			list[i].Session, list[i].Message = m.State.Session, m.Message
		} else {
			list = append(list, m.State)
		}
	}
	return list, nil
}
