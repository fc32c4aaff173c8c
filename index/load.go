package index

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/internal/sessionid"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
	"github.com/tidwall/gjson"
)

// Load reads the index and updates it from the session files. It reads every file
// that differs from its entry, and writes nothing. A file that cannot be used
// becomes an entry with an Err. An error means that the folder cannot be read.
//
// aliases maps ids that other programs use for an origin to session ids: Penguin
// refers to its checkpoints. It may be nil. read is called concurrently for the
// files; if nil, files are read and validated from root. The root must stay open
// while the Index is used.
func Load(root *os.Root, aliases map[string]string, read Reader) (*Index, error) {
	x := newIndex(root, aliases, read)
	return x, x.load()
}

func newIndex(root *os.Root, aliases map[string]string, read Reader) *Index {
	if read == nil {
		read = func(id string, _, _ int64) (session.Summary, error) {
			o, err := sessions.New(root, nil).Outline(id)
			if err != nil {
				return session.Summary{}, err
			}
			return o.Summary(), nil
		}
	}
	return &Index{root: root, aliases: aliases, reader: read, limits: defaultLimits}
}

// Whole loads every session, as [Load] does. Methods that need all sessions call
// it; a caller that calls it first gets the error.
func (x *Index) Whole() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.whole()
}

func (x *Index) whole() error {
	if x.last != nil && x.failed == nil {
		x.failed = x.load()
	}
	return x.failed
}

// load loads x from the disk. Sessions that were put or removed since the index was
// saved count as if they were in it.
func (x *Index) load() error {
	pending := map[string]*Entry{}
	for id, own := range x.changed {
		if own {
			pending[id] = x.listed(id)
		}
	}
	x.reset()
	data, journal, err := x.files.read(x.root)
	x.folder.begin(x.root)
	var list []file
	var listErr error
	var lister sync.WaitGroup
	lister.Go(func() { list, x.Temporary, listErr = listFiles(x.root) })
	stored := x.decode(data, err)
	x.Blank = x.rewrite || len(stored) == 0
	x.replay(stored, journal)
	for id, e := range pending {
		x.changed[id] = true
		old := stored[id]
		switch {
		case e == nil:
			delete(stored, id)
			continue
		case old == nil:
			e.place = x.places
			x.places++
		default:
			e.keep(old)
		}
		stored[id] = e
	}
	lister.Wait()
	if listErr != nil {
		return listErr
	}
	x.compare(stored, list, pending)
	if err := x.addPacked(); err != nil {
		return err
	}
	x.settle()
	x.found = x.Trouble
	return nil
}

// compare adds the existing files. An entry is used if it describes its file and
// does not continue an unknown session, which could be due to a corrupt entry; else
// the file is read. Pending sessions take precedence, as their files may not have
// been renamed yet.
func (x *Index) compare(stored map[string]*Entry, list []file, pending map[string]*Entry) {
	x.entries = make(map[string]*Entry, len(list))
	for id, e := range pending {
		if e != nil {
			x.entries[id] = e
			x.count.add(e, 1)
			x.newest = max(x.newest, e.file.ModTime)
		}
	}
	var other []file
	known := func(id string) bool { return stored[x.aliases[id]] != nil || stored[id] != nil || pending[id] != nil }
	for _, f := range list {
		if _, ok := pending[f.id]; ok {
			continue
		}
		x.newest = max(x.newest, f.ModTime)
		if e := stored[f.id]; e != nil && e.describes(f.Identity) && f.Changed <= x.files.changed() && (e.Snapshot || e.from() == "" || known(e.from())) {
			x.describe(e, f)
		} else {
			other = append(other, f)
		}
	}
	slices.SortFunc(other, func(a, b file) int { return strings.Compare(a.id, b.id) })
	read := make([]*Entry, len(other))
	total := int64(0)
	for _, f := range other {
		total += f.Size
	}
	parallel.Do(len(other), func(i int) { read[i] = x.read(other[i], stored[other[i].id], total) })
	var unlisted []*Entry
	for _, e := range read {
		if e == nil {
			continue // deleted since the listing
		}
		old := stored[e.ID]
		if old != nil && e.Err == nil && old.describes(e.file) && !old.differs(e) {
			x.describe(old, file{e.ID, e.file}) // its origin is really missing
			continue
		}
		x.reread(e, old)
		x.entries[e.ID] = e
		x.count.add(e, 1)
		if old == nil {
			unlisted = append(unlisted, e)
		}
	}
	x.compareKeys(stored, unlisted)
}

// describe adds the entry of a file that it describes.
func (x *Index) describe(e *Entry, f file) {
	e.file = f.Identity
	x.entries[f.id] = e
	x.count.add(e, 1)
}

// compareKeys finds the entries without a file, and assigns positions to files
// without an entry.
func (x *Index) compareKeys(stored map[string]*Entry, unlisted []*Entry) {
	var gone []*Entry
	for id, e := range stored {
		if x.entries[id] == nil {
			gone = append(gone, e)
			x.note(id)
		}
	}
	slices.SortFunc(gone, func(a, b *Entry) int { return a.place - b.place })
	for _, e := range gone {
		x.Foreign.Removed = append(x.Foreign.Removed, e.ID)
	}
	if len(gone) > 0 {
		x.outOfDate("it lists " + gone[0].ID + ", which does not exist")
	}
	slices.SortFunc(unlisted, byAge)
	for _, e := range unlisted {
		e.place = x.places
		x.places++
		x.Foreign.Added = append(x.Foreign.Added, e.ID)
	}
	switch {
	case x.absent && len(x.entries) > 0:
		x.Trouble = "the index is missing"
	case len(unlisted) > 0:
		x.outOfDate(unlisted[0].ID + " is not in it")
	}
}

// settle sets the fields that depend on all entries.
func (x *Index) settle() {
	orphaned := false
	for _, e := range x.entries {
		orphaned = orphaned || e.Err != nil && len(e.ContinuedFrom) == 0
	}
	if orphaned {
		for _, id := range x.ids() {
			for _, to := range x.entries[id].Meta.ContinuedTo {
				x.claim(x.entries[to], id)
			}
		}
	}
	journaled := x.files.journal != durable.Identity{}
	if journaled && !x.large() {
		x.rewrite = true
		x.outOfDate("its journal is not folded in")
	}
	x.Old = !journaled && !x.absent && x.files.index.ModTime < x.newest
}

// read returns the entry for a file that the index does not describe; old is its
// entry in the index, or nil. total is the size of all files that must be read.
// read returns nil if the file no longer exists.
func (x *Index) read(f file, old *Entry, total int64) *Entry {
	e := &Entry{ID: f.id, file: f.Identity}
	if old != nil {
		e.keep(old)
	}
	if !sessionid.Valid(f.id) {
		e.markUnusable(&session.DamageError{Path: session.FileName(f.id), Problem: "the file's name cannot be a session id"})
		return e
	}
	s, err := x.reader(f.id, f.Size, total)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err != nil:
		if old != nil {
			e.Meta, e.CreatedAt, e.LastActive = old.Meta, old.CreatedAt, old.LastActive
			if !gjson.GetBytes(old.raw, "bough").Exists() {
				e.ContinuedFrom = nil // no record says whether it continues or copies its origin
			}
		}
		e.markUnusable(err)
	default:
		e.fill(s)
	}
	return e
}

// reread records that e was read from its file and replaces the entry old of the
// index.
func (x *Index) reread(e, old *Entry) {
	if e.fresh != nil {
		x.note(e.ID)
	}
	if old == nil || old.Err != nil {
		return
	}
	differs := e.Err == nil && old.differs(e)
	if differs {
		x.outOfDate(e.ID + " changed")
	}
	switch {
	case !differs && old.file.Size == 0 && e.file.Size == 0: // still unreadable, as before
	case !differs && old.file.Size == e.file.Size:
		x.Foreign.Touched = append(x.Foreign.Touched, e.ID)
	case differs || old.file.Size > 0:
		x.Foreign.Changed = append(x.Foreign.Changed, e.ID)
		if e.Err == nil && e.MessageCount > old.MessageCount {
			x.Foreign.Had[e.ID] = old.MessageCount
		}
	}
}

// A file identifies a session file.
type file struct {
	id string // the file's stem, whether or not it is a valid id
	durable.Identity
}

// listFiles returns the session files and the paths of temporary files. A file that
// cannot be examined has a zero Identity.
func listFiles(root *os.Root) (list []file, temporary []string, err error) {
	stats, temporary, err := sessions.New(root, nil).List()
	list = make([]file, len(stats))
	for i, st := range stats {
		list[i] = file{st.ID, sessions.Identity(st)}
	}
	return list, temporary, err
}
