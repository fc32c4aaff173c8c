package folders

import (
	"slices"

	"github.com/bough-dev/bough/internal/blame"
	"github.com/bough-dev/bough/internal/filetree"
	"github.com/bough-dev/bough/internal/pack"
	"github.com/bough-dev/bough/internal/states"
	"github.com/bough-dev/bough/workspace/origin"
)

// A trail goes back through the states of a folder.
type trail struct {
	*reading
	trees    trees
	folders  map[string][]*states.State // by folder, oldest first
	authors  map[string][]author        // by folder
	roots    map[string]string          // see conversationOf
	messages map[string]bool            // sessions whose messages were added, see [reading.addMessages]
	turns    map[*run]*turnMessages     // those that were read
	called   map[string]*origin.Turn    // by message with a call
}

func (r *reading) trail() *trail {
	t := &trail{
		reading: r, trees: trees{r.Get, map[pack.ID]filetree.Tree{}}, folders: map[string][]*states.State{},
		authors: map[string][]author{}, roots: map[string]string{}, messages: map[string]bool{},
		turns: map[*run]*turnMessages{}, called: map[string]*origin.Turn{},
	}
	for _, st := range r.list {
		t.folders[st.Folder] = append(t.folders[st.Folder], st)
	}
	return t
}

// conversationOf returns a name for the conversation of a state: that of the root of its
// lineage, "" if the state belongs to none.
func (t *trail) conversationOf(st *states.State) string {
	if st.SessionID == "" {
		return ""
	}
	root, ok := t.roots[st.SessionID]
	if !ok {
		root = st.SessionID
		if lineage, err := t.view.LineageOf(st.SessionID); err == nil && len(lineage) > 0 {
			root = lineage[0]
		}
		t.roots[st.SessionID] = root
	}
	return root
}

// authorsIn returns what changed a folder before each of its states and after the last one.
func (t *trail) authorsIn(folder string) []author {
	list, ok := t.authors[folder]
	if !ok {
		list = authorsOf(t.folders[folder], t.conversationOf)
		t.authors[folder] = list
	}
	return list
}

// authorOf returns what changed a folder before a state.
func (t *trail) authorOf(st *states.State) author {
	return t.authorsIn(st.Folder)[slices.Index(t.folders[st.Folder], st)]
}

// A point is a path of a state.
type point struct {
	state *states.State
	index int // of the state in its folder
	path  string
	entry filetree.Entry // zero if the state has nothing there
}

func (t *trail) at(folder string, index int, path string) point {
	st := t.folders[folder][index]
	return point{st, index, path, t.trees.entry(st.Tree, path)}
}

// before returns the point before p, where the file may have another name. ok is false if there
// is none.
//
// A restore brings back what an earlier state had, so the point before it is in that state if the
// file is the same. What a folder began with may be from another one, such as that from which a
// branch was made.
func (t *trail) before(p point) (prev point, ok bool) {
	first := p.index == 0
	if !first {
		prev = t.at(p.state.Folder, p.index-1, p.path)
	}
	if first || p.state.Since != "" && !same(prev.entry, p.entry) {
		if from, ok := t.source(p); ok {
			return from, true
		}
	}
	if first {
		return point{}, false
	}
	if prev.entry.Type == 0 {
		if name, ok := t.renamed(prev.state, p); ok {
			return t.at(p.state.Folder, prev.index, name), true
		}
	}
	return prev, true
}

// source returns the newest earlier point with the same file at the same path, of the same
// folder if there is one.
func (t *trail) source(p point) (point, bool) {
	for i := p.index - 2; i >= 0; i-- {
		if from := t.at(p.state.Folder, i, p.path); same(from.entry, p.entry) {
			return from, true
		}
	}
	older := slices.Index(t.list, p.state)
	for _, st := range slices.Backward(t.list[:max(older, 0)]) {
		if st.Folder == p.state.Folder || !same(t.trees.entry(st.Tree, p.path), p.entry) {
			continue
		}
		return t.at(st.Folder, slices.Index(t.folders[st.Folder], st), p.path), true
	}
	return point{}, false
}

// renamed returns the path of a file that the state before has and that of p lacks: one with the
// content of p, of several the first with the same name, else the one that has most lines in
// common with it, if that is at least half of them.
func (t *trail) renamed(before *states.State, p point) (name string, ok bool) {
	if p.entry.Type != filetree.File || p.entry.Size == 0 {
		return "", false
	}
	var others []filetree.Change
	for c, err := range filetree.Diff(t.Get, before.Tree, p.state.Tree) {
		switch {
		case err != nil:
			return name, ok
		case c.Kind != filetree.Deleted || c.From.Type != filetree.File:
		case !same(c.From, p.entry):
			others = append(others, c)
		case c.From.Name == p.entry.Name:
			return c.Path, true
		case !ok:
			name, ok = c.Path, true
		}
	}
	if ok {
		return name, true
	}
	return t.similar(others, p.entry)
}

// similar returns the path of the deleted file with most lines in common with another one, which
// are at least half of the lines of both.
func (t *trail) similar(deleted []filetree.Change, e filetree.Entry) (name string, ok bool) {
	const most = 100 // files that are compared
	text, _, err := t.textOf(e)
	if err != nil || len(deleted) > most {
		return "", false
	}
	best := 0.5
	for _, c := range deleted {
		if c.From.Size > 2*e.Size || e.Size > 2*c.From.Size {
			continue
		}
		other, _, err := t.textOf(c.From)
		if err != nil {
			continue
		}
		if like := blame.Likeness(other, text); like >= best {
			name, ok, best = c.Path, true, like
		}
	}
	return name, ok
}

// same reports whether two entries are the same content.
func same(a, b filetree.Entry) bool { return a.Type == b.Type && a.ID == b.ID }
