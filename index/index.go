package index

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/rawjson"
	"github.com/bough-dev/bough/session"
)

// An Entry is what the index knows of one session.
type Entry struct {
	ID string
	session.Meta
	CreatedAt    time.Time
	LastActive   time.Time
	MessageCount int
	HeaderCount  int   // of those, how many repeat what the line already has
	Err          error // why the file cannot be used, nil if it can: damage, or no permission

	stat  session.Stat
	raw   []byte         // the entry as it stands in the index, nil if it does not
	fresh []rawjson.Pair // what the file says, in Penguin's order; nil if raw still says it
}

// DisplayTitle is the title of the session, or one made from its id.
func (e *Entry) DisplayTitle() string { return cmp.Or(e.Title, session.DefaultTitle(e.ID)) }

// Size is the size of the session's file in bytes.
func (e *Entry) Size() int64 { return e.stat.Size }

// An Index is the sessions of a workspace and their links.
type Index struct {
	// Trouble says in one sentence why the index file could not be used as it
	// was, "" if it could.
	Trouble string
	// Torn reports that the index file is there and is no JSON object.
	Torn bool
	// Old reports that the index file is older than a session file, which for
	// Penguin makes it out of date.
	Old bool

	entries  map[string]*Entry
	order    []string // as in the file, new ones at the end
	aliases  map[string]string
	sorted   []string // all ids, oldest session first; nil after a change
	children map[string][]string
	lineages map[string][]string // whole ones, as far as they were asked for
	absent   bool                // the file is not there
	dirty    bool                // the file does not say what the index knows
	newest   time.Time           // of the session files
}

// Load reads the index and makes it agree with the session files. It reads
// every file that the index does not describe as it now is, and writes nothing.
// Files that cannot be used are entries with an Err. An error means that the
// folder cannot be read.
//
// Aliases are ids under which other programs name a session as the origin of
// another: Penguin names its checkpoints. They may be nil.
func Load(root *os.Root, aliases map[string]string) (*Index, error) {
	folder := session.NewFolder(root)
	x := &Index{entries: map[string]*Entry{}, aliases: aliases, lineages: map[string][]string{}}
	stored, order := x.readFile(root)
	list, err := folder.List()
	if err != nil {
		return nil, err
	}
	for _, st := range list {
		e := stored[st.ID]
		if e == nil || !e.describes(st) {
			if e, err = x.reread(folder, st, e); errors.Is(err, session.ErrNotFound) {
				continue // gone since the listing
			} else if err != nil {
				return nil, err
			}
		}
		x.entries[st.ID] = e
		if st.ModTime.After(x.newest) {
			x.newest = st.ModTime
		}
	}
	if info, err := root.Stat(session.IndexPath); err == nil {
		x.Old = info.ModTime().Before(x.newest)
	}
	for _, id := range order {
		if x.entries[id] != nil {
			x.order = append(x.order, id)
		} else {
			x.outOfDate("it lists " + id + ", which is gone")
		}
	}
	if x.absent && len(x.entries) > 0 {
		x.Trouble = "the index is missing"
	}
	x.order = append(x.order, x.unlisted(stored)...)
	x.derive()
	return x, nil
}

// readFile takes what it can from the index file.
func (x *Index) readFile(root *os.Root) (stored map[string]*Entry, order []string) {
	data, err := root.ReadFile(session.IndexPath)
	if errors.Is(err, fs.ErrNotExist) {
		x.absent, x.dirty = true, true
		return nil, nil
	}
	if err != nil {
		x.Trouble, x.dirty = "the index cannot be read: "+err.Error(), true
		return nil, nil
	}
	stored, order, err = decode(data)
	if err != nil {
		x.Trouble, x.Torn, x.dirty = "the index is damaged ("+err.Error()+")", true, true
	}
	return stored, order
}

// reread makes the entry of a file that the index does not describe.
func (x *Index) reread(folder session.Folder, st session.Stat, old *Entry) (*Entry, error) {
	x.dirty = true
	e := &Entry{ID: st.ID, stat: st}
	if old != nil {
		e.raw = old.raw
	}
	if !session.ValidID(st.ID) {
		e.spoil(&session.DamageError{Path: session.FileName(st.ID), Problem: "the file's name cannot be a session id"})
		return e, nil
	}
	switch s, err := folder.Read(st.ID); {
	case errors.Is(err, session.ErrNotFound):
		return nil, err
	case err != nil:
		if old != nil {
			e.Meta, e.CreatedAt, e.LastActive = old.Meta, old.CreatedAt, old.LastActive
			if memberOf(old.raw, "bough") == nil {
				e.ContinuedFrom = nil // nobody recorded of what kind the session is
			}
		}
		e.spoil(err)
	default:
		e.take(s.Summary())
		if old != nil && old.Err == nil && old.differs(e) {
			x.outOfDate(st.ID + " changed")
		}
	}
	return e, nil
}

// unlisted returns the sessions that are not in the file, oldest first.
func (x *Index) unlisted(stored map[string]*Entry) []string {
	var ids []string
	for id := range x.entries {
		if stored[id] == nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, x.byAge)
	if len(ids) > 0 && stored != nil {
		x.outOfDate(ids[0] + " is not in it")
	}
	return ids
}

func (x *Index) outOfDate(why string) {
	x.dirty = true
	if x.Trouble == "" {
		x.Trouble = "the index is out of date: " + why
	}
}

// ids returns the ids of all entries, oldest session first.
func (x *Index) ids() []string {
	if x.sorted == nil {
		x.sorted = slices.SortedFunc(maps.Keys(x.entries), x.byAge)
	}
	return x.sorted
}

// byAge orders ids by when the sessions were made.
func (x *Index) byAge(a, b string) int {
	return cmp.Or(x.entries[a].CreatedAt.Compare(x.entries[b].CreatedAt), cmp.Compare(a, b))
}

// childrenOf returns the sessions whose continued_from names id, oldest first.
func (x *Index) childrenOf(id string) []string {
	if x.children == nil {
		x.derive()
	}
	return x.children[id]
}

// derive computes the children of every session. Of a file that cannot be read
// the index may still know what it continues; if it does not, what the file of
// the other session says has to do.
func (x *Index) derive() {
	x.children = map[string][]string{}
	ids := x.ids()
	for _, id := range ids {
		for _, to := range x.entries[id].Meta.ContinuedTo {
			if e := x.entries[to]; e != nil && e.Err != nil && len(e.ContinuedFrom) == 0 && to != id {
				e.ContinuedFrom = []string{id}
			}
		}
	}
	for _, id := range ids {
		if from := x.entries[id].ContinuedFrom; len(from) > 0 {
			x.children[from[0]] = append(x.children[from[0]], id)
		}
	}
}

// Entry returns the entry of a session that is there and whole, nil if there is
// none.
func (x *Index) Entry(id string) *Entry {
	if e := x.entries[id]; e != nil && e.Err == nil {
		return e
	}
	return nil
}

// Err returns why the file of id cannot be used, nil if it can or is not there.
func (x *Index) Err(id string) error {
	if e := x.entries[id]; e != nil {
		return e.Err
	}
	return nil
}

// Entries returns the sessions, oldest first.
func (x *Index) Entries() []*Entry {
	var list []*Entry
	for _, id := range x.ids() {
		if e := x.entries[id]; e.Err == nil {
			list = append(list, e)
		}
	}
	return list
}

// Unusable returns the files that cannot be used, by id.
func (x *Index) Unusable() []*Entry {
	var list []*Entry
	for _, id := range slices.Sorted(maps.Keys(x.entries)) {
		if e := x.entries[id]; e.Err != nil {
			list = append(list, e)
		}
	}
	return list
}

// ContinuedTo returns the sessions whose continued_from names id, oldest first.
func (x *Index) ContinuedTo(id string) []string { return x.childrenOf(id) }

// Dialect returns the dialect of the folder: bough's if it is empty or any
// session, or the entry of one that cannot be read, has a list for its
// continued_from; else Penguin's.
func (x *Index) Dialect() session.Dialect {
	for _, e := range x.entries {
		if e.ListLinks {
			return session.Bough
		}
	}
	if len(x.entries) == 0 {
		return session.Bough
	}
	return session.Penguin
}

// Mixed returns a session whose links are written in each dialect, and whether
// the folder has both.
func (x *Index) Mixed() (bough, penguin string, mixed bool) {
	for _, e := range x.Entries() {
		switch {
		case e.ListLinks:
			bough = e.ID
		case e.Origin() != "":
			penguin = e.ID
		}
	}
	return bough, penguin, bough != "" && penguin != ""
}

// Put takes in a session that was just written, as the file that st describes.
func (x *Index) Put(s session.Summary, st session.Stat) {
	e := &Entry{ID: s.ID, stat: st}
	if old := x.entries[s.ID]; old != nil {
		e.raw = old.raw
	} else {
		x.order = append(x.order, s.ID)
	}
	e.take(s)
	x.entries[s.ID] = e
	x.dirty = true
	if st.ModTime.After(x.newest) {
		x.newest = st.ModTime
	}
	x.sorted, x.children, x.lineages = nil, nil, map[string][]string{}
}

// Says reports whether the index says of a session what its file says, of what a
// person would notice.
func (x *Index) Says(s session.Summary) bool {
	file := &Entry{ID: s.ID}
	file.take(s)
	e := x.Entry(s.ID)
	return e != nil && !e.differs(file)
}

// Correct takes in what the file of a session says, where the index said
// something else of the same file.
func (x *Index) Correct(s session.Summary) { x.Put(s, x.entries[s.ID].stat) }

// Remove forgets a session.
func (x *Index) Remove(id string) {
	delete(x.entries, id)
	x.order = slices.DeleteFunc(x.order, func(s string) bool { return s == id })
	x.dirty = true
	x.sorted, x.children, x.lineages = nil, nil, map[string][]string{}
}

// Stale reports whether the index file does not say what the Index knows.
func (x *Index) Stale() bool { return x.dirty }

// Stage puts the index file into a batch if it does not say what x knows. The
// file is made no older than any session file, which is how Penguin tells that it
// is fresh.
func (x *Index) Stage(root *os.Root, b *durable.Batch) error {
	if !x.dirty {
		if !x.Old {
			return nil
		}
		return durable.Touch(root, session.IndexPath, x.newest)
	}
	if err := durable.MakeDir(root, session.Dir); err != nil {
		return err
	}
	info, err := b.Replace(session.IndexPath, durable.Bytes(x.encode()))
	if err == nil && info.ModTime().Before(x.newest) {
		err = b.Touch(x.newest)
	}
	return err
}

// Save writes the index file if it does not say what x knows.
func (x *Index) Save(root *os.Root) error {
	b := durable.NewBatch(root)
	if err := x.Stage(root, b); err != nil || b.Len() == 0 {
		return err
	}
	_, _, err := b.Commit(context.Background())
	x.dirty = err != nil
	return err
}
