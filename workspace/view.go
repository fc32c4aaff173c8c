package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bough-dev/bough/checkpoint"
	"github.com/bough-dev/bough/index"
	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/session"
	"github.com/google/uuid"
)

// A view is a workspace at one moment, in the hands of one method.
type view struct {
	*Workspace
	root    *os.Root
	folder  session.Folder
	index   *index.Index
	penguin map[string]checkpoint.Penguin
	open    map[string]*session.Session // read so far
}

func (w *Workspace) load(root *os.Root) (*view, error) {
	x, err := index.Load(root)
	if err != nil {
		return nil, err
	}
	if x.Trouble != "" {
		w.opts.Note(x.Trouble + "; the sessions are read from their files")
	}
	v := &view{
		Workspace: w,
		root:      root,
		folder:    session.NewFolder(root),
		index:     x,
		penguin:   map[string]checkpoint.Penguin{},
		open:      map[string]*session.Session{},
	}
	x.Aliases = map[string]string{}
	for _, cp := range checkpoint.ListPenguin(root) {
		v.penguin[cp.ID] = cp
		if cp.Session != "" {
			x.Aliases[cp.ID] = cp.Session
		}
	}
	return v, nil
}

// session reads a session, or one of Penguin's checkpoints.
func (v *view) session(id string) (*session.Session, error) {
	if s := v.open[id]; s != nil {
		return s, nil
	}
	if err := v.index.Err(id); err != nil {
		return nil, err
	}
	var s *session.Session
	var err error
	if v.isPenguin(id) {
		s, err = checkpoint.ReadPenguin(v.root, id)
	} else {
		s, err = v.folder.Read(id)
	}
	if errors.Is(err, session.ErrNotFound) {
		gone := notFound("session", id)
		gone.Err = errGone
		return nil, gone
	}
	if err != nil {
		return nil, err
	}
	v.open[id] = s
	return s, nil
}

func (v *view) isPenguin(id string) bool {
	_, ok := v.penguin[id]
	return ok && v.index.Entry(id) == nil
}

// kind returns what the session is; Penguin's checkpoints are checkpoints.
func (v *view) kind(id string) session.Kind {
	if e := v.index.Entry(id); e != nil {
		return e.Kind()
	}
	return session.Checkpoint
}

// resolve finds the session that name means: an id, else an exact title, else a
// unique piece of an id.
func (v *view) resolve(name string) (string, error) {
	candidates := v.named(name)
	if len(candidates) == 0 && strings.TrimSpace(name) != "" {
		candidates = v.matching(func(id, _ string) bool { return strings.Contains(id, name) })
	}
	switch len(candidates) {
	case 0:
		return "", notFound("session", name)
	case 1:
		return candidates[0], v.index.Err(candidates[0])
	}
	return "", ambiguous("session", name, candidates)
}

// named returns the session whose id is name, else those with that title, else
// Penguin's checkpoints with that name: Penguin names one like the branch that
// it made of it.
func (v *view) named(name string) []string {
	if v.index.Entry(name) != nil || v.index.Err(name) != nil || v.isPenguin(name) {
		return []string{name}
	}
	ids := v.matching(func(_, title string) bool { return title == name && title != "" })
	if own := slices.DeleteFunc(slices.Clone(ids), v.isPenguin); len(own) > 0 {
		return own
	}
	return ids
}

// matching returns the ids of all sessions and of Penguin's checkpoints that
// match.
func (v *view) matching(match func(id, title string) bool) []string {
	var ids []string
	add := func(id, title string) {
		if match(id, title) {
			ids = append(ids, id)
		}
	}
	for _, e := range v.index.Entries() {
		add(e.ID, cmp.Or(e.Title, session.DefaultTitle(e.ID)))
	}
	for _, e := range v.index.Unusable() {
		add(e.ID, "")
	}
	for _, id := range v.penguinIDs() {
		add(id, v.penguin[id].Name)
	}
	return ids
}

// penguinIDs returns the ids of Penguin's checkpoints that are not sessions
// too, oldest first.
func (v *view) penguinIDs() []string {
	var ids []string
	for id := range v.penguin {
		if v.isPenguin(id) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(v.penguin[a].CreatedAt.Compare(v.penguin[b].CreatedAt), cmp.Compare(a, b))
	})
	return ids
}

// A line is the tree of messages of a line, and where in it a session is.
type line struct {
	*session.Tree
	part int // of the session that was asked for
}

// id returns the id of the session that the line was asked for by.
func (l *line) id() string { return l.Parts[l.part].ID }

// line opens the line that session id is in. With partial, a line whose first
// files are missing is taken as far as it is there.
func (v *view) line(id string, partial bool) (*line, error) {
	ids, err := v.lineIDs(id)
	if err != nil {
		if !partial || len(ids) == 0 {
			return nil, err
		}
		v.opts.Note(err.Error() + "; what is there is taken")
	}
	parts := make([]*session.Session, len(ids))
	for i, id := range ids {
		if parts[i], err = v.session(id); err != nil {
			return nil, err
		}
	}
	t, err := session.NewTree(parts)
	if err != nil {
		return nil, err
	}
	return &line{t, slices.Index(ids, id)}, nil
}

// lineIDs returns the files of the line that id is in. A checkpoint is a line
// of its own, whatever another program made of it; one of Penguin's that is not
// flattened goes after what it continues.
func (v *view) lineIDs(id string) ([]string, error) {
	switch {
	case v.kind(id) != session.Checkpoint:
		ids, err := v.index.Line(id)
		return ids, v.locate(err)
	case !v.isPenguin(id):
		return []string{id}, nil
	}
	s, err := v.session(id)
	if err != nil {
		return nil, err
	}
	if s.Meta.Snapshot || len(s.Meta.ContinuedFrom) == 0 {
		return []string{id}, nil
	}
	from := s.Meta.ContinuedFrom[0]
	if v.index.Entry(from) == nil {
		return []string{id}, cmp.Or(v.index.Err(from), error(&index.MissingError{ID: from, From: id}))
	}
	all, err := v.index.Line(from)
	var ids []string
	for at := from; slices.Contains(all, at); at = v.index.Origin(at) {
		ids = append(ids, at)
	}
	slices.Reverse(ids)
	return append(ids, id), err
}

// locate adds to an error about links where in the file the link stands.
func (v *view) locate(err error) error {
	var missing *index.MissingError
	var ring *index.CycleError
	switch {
	case errors.As(err, &missing):
		if s, err := v.session(missing.From); err == nil {
			missing.Offset = s.LinkOffset()
		}
	case errors.As(err, &ring):
		if s, err := v.session(ring.IDs[0]); err == nil {
			ring.Offset = s.LinkOffset()
		}
	}
	return err
}

// A place is where a REF points: a node of a line, -1 in an empty conversation.
type place struct {
	*line
	node int
}

// messageID returns the id of the message at p, "" in an empty conversation.
func (p *place) messageID() string {
	if p.node < 0 {
		return ""
	}
	return p.Message(p.node).ID
}

// source returns the session whose file holds the message at p.
func (p *place) source() *session.Session {
	if p.node < 0 {
		return p.Parts[p.part]
	}
	return p.Parts[p.Nodes[p.node].Part]
}

// place finds what a REF means: SESSION, SESSION@MESSAGE, or TREE/NODE. Without
// a message it is the newest leaf of the session and what continues it.
func (v *view) place(ref string, partial bool) (*place, error) {
	id, message, err := v.split(ref)
	if err != nil {
		return nil, err
	}
	return v.placeIn(id, message, partial)
}

// split takes a REF apart. A title may hold the separators, so the whole of it
// is tried first.
func (v *view) split(ref string) (id, message string, err error) {
	i := strings.LastIndex(ref, "@")
	if i < 0 {
		i = strings.LastIndex(ref, "/")
	}
	if i < 0 || len(v.named(ref)) > 0 {
		id, err = v.resolve(ref)
		return id, "", err
	}
	if ref[i+1:] == "" {
		return "", "", &Error{Code: Usage, Message: fmt.Sprintf("%q names no message after the %c", ref, ref[i])}
	}
	id, err = v.resolve(ref[:i])
	return id, ref[i+1:], err
}

func (v *view) placeIn(id, message string, partial bool) (*place, error) {
	l, err := v.line(id, partial)
	if err != nil {
		return nil, err
	}
	if message == "" {
		return &place{l, l.Newest(l.part)}, nil
	}
	node, err := l.find(message)
	if err == nil {
		return &place{l, node}, nil
	}
	if Explain(err).Code != NotFound {
		return nil, err
	}
	return v.placeAbove(id, message, err)
}

// placeAbove finds a message in the lines that id's own line was copied from,
// the nearest first.
func (v *view) placeAbove(id, message string, notFound error) (*place, error) {
	lineage, _ := v.index.Lineage(id)
	seen := map[string]bool{}
	own, _ := v.lineIDs(id)
	for _, file := range own {
		seen[file] = true
	}
	for _, from := range slices.Backward(lineage) {
		if seen[from] || v.index.Entry(from) == nil {
			continue
		}
		l, err := v.line(from, true)
		if err != nil {
			continue
		}
		for _, part := range l.Parts {
			seen[part.ID] = true
		}
		if node, err := l.find(message); err == nil {
			return &place{l, node}, nil
		}
	}
	return nil, notFound
}

// find returns the node of the message that name means: an id, else a unique
// piece of one.
func (l *line) find(name string) (int, error) {
	nodes := l.Find(name)
	if len(nodes) == 0 && name != "" {
		for n := range l.Nodes {
			if strings.Contains(l.Message(n).ID, name) {
				nodes = append(nodes, n)
			}
		}
	}
	switch len(nodes) {
	case 0:
		return -1, notFound("message", name)
	case 1:
		return nodes[0], nil
	}
	var ids []string
	for _, n := range nodes {
		ids = append(ids, l.Message(n).ID+" in "+l.Parts[l.Nodes[n].Part].ID)
	}
	return -1, ambiguous("message", name, ids)
}

// lineage returns the ids from the root to id.
func (v *view) lineage(id string) ([]string, error) {
	if !v.isPenguin(id) {
		list, err := v.index.Lineage(id)
		return list, v.locate(err)
	}
	from := v.penguin[id].Session
	if v.index.Entry(from) == nil {
		if from == "" {
			return []string{id}, nil
		}
		return []string{from, id}, nil
	}
	list, err := v.index.Lineage(from)
	return append(list, id), err
}

// now returns the time for something new in l, nil for a line that begins: at
// least a microsecond after the newest message of each of its files.
func (v *view) now(l *line) time.Time {
	t := v.opts.Now().Truncate(time.Microsecond)
	if l == nil {
		return t
	}
	for _, part := range l.Parts {
		if n := len(part.Messages); n > 0 {
			if last, ok := part.Messages[n-1].Time(); ok && !t.After(last) {
				t = last.Truncate(time.Microsecond).Add(time.Microsecond)
			}
		}
	}
	return t
}

// newID returns a session id that is not taken.
func (v *view) newID() (string, error) {
	const tries = 100
	for range tries {
		id, err := session.NewID(v.opts.Now(), v.opts.Random)
		if err != nil || v.index.Entry(id) == nil && v.index.Err(id) == nil {
			return id, err
		}
	}
	return "", fmt.Errorf("%d new session ids were all taken", tries)
}

// newMessageID returns a UUID, version 4.
func (v *view) newMessageID() (string, error) {
	id, err := uuid.NewRandomFromReader(v.opts.Random)
	return id.String(), err
}

// mayWrite reports whether sessions can be written, and the head too if the
// caller is going to move it: a verb that cannot be completed is not begun.
func (v *view) mayWrite(head bool) error {
	if err := durable.MakeDir(v.root, session.Dir); err != nil {
		return err
	}
	if err := durable.Probe(v.root, session.Dir+"/"+session.IndexFile); err != nil {
		return err
	}
	if head {
		return durable.Probe(v.root, headFile)
	}
	return nil
}

// create writes a new session file and takes it into the index.
func (v *view) create(id string, pieces [][]byte) (*session.Session, error) {
	if err := v.folder.Create(id, pieces); err != nil {
		return nil, err
	}
	return v.takeIn(id)
}

// replace writes a session file that is there and takes it into the index.
func (v *view) replace(id string, pieces [][]byte) (*session.Session, error) {
	if err := v.folder.Replace(id, pieces); err != nil {
		return nil, err
	}
	return v.takeIn(id)
}

func (v *view) takeIn(id string) (*session.Session, error) {
	s, err := v.folder.Read(id)
	if err != nil {
		return nil, err
	}
	v.open[id] = s
	return s, v.index.Put(v.root, s)
}

// path returns the absolute path of a file of the workspace.
func (v *view) path(name string) string { return filepath.Join(v.dir, filepath.FromSlash(name)) }
