package index

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/bough-dev/bough/internal/parallel"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// A Packed describes how a packed checkpoint is stored.
type Packed struct {
	Bytes int64               // size of its plain file
	Items map[string][][2]int // the items that it uses of the pack of each line: the first of each run, and the end of the run
}

// addPacked adds the packed checkpoints. They are not in the index file: their recipes are
// read, unless they are unchanged since an earlier call. A session file hides a recipe with
// the same id.
func (x *Index) addPacked() error {
	folder := sessions.New(x.root, nil)
	all := x.last == nil // then x.entries has all session files
	list, temporary, err := folder.ListPacked(all)
	if err != nil {
		return err
	}
	x.Temporary = append(x.Temporary, temporary...)
	at := time.Now()
	known := x.recipes.known(x.root, len(list))
	read := make([]*Entry, len(list))
	parallel.Do(len(list), func(i int) {
		st := list[i]
		if e := known[st.ID]; e != nil && e.file == sessions.Identity(st) {
			read[i] = e
		} else {
			read[i] = readPacked(folder, st)
		}
	})
	keep := make(map[string]*Entry, len(read))
	for _, e := range read {
		if e == nil {
			continue
		}
		if known[e.ID] == e || isCacheable(e, at) {
			keep[e.ID] = e
		}
		if x.entries[e.ID] == nil {
			own := *e
			x.entries[e.ID] = &own
		}
	}
	x.recipes.keep(keep)
	for id, e := range x.packed {
		x.entries[id] = e
	}
	return nil
}

// readPacked returns the entry of a packed checkpoint, nil if it no longer exists.
func readPacked(folder sessions.Folder, st session.Stat) *Entry {
	e := &Entry{ID: st.ID, file: sessions.Identity(st), Packed: &Packed{}}
	r, st, err := folder.Recipe(e.ID)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err != nil:
		e.Snapshot = true
		e.markUnusable(err)
		return e
	}
	e.Packed, e.file = &Packed{r.Bytes, r.Items()}, sessions.Identity(st)
	e.fill(r.Summary())
	return e
}

// listed returns the entry of a session in the index file, nil if it has none.
func (x *Index) listed(id string) *Entry {
	if e := x.entries[id]; e != nil && e.Packed == nil {
		return e
	}
	return nil
}

// PutPacked adds a packed checkpoint that was written, or will be written, to the file
// that st describes. It replaces a plain one, which the index file then no longer has.
func (x *Index) PutPacked(s session.Summary, p Packed, st session.Stat) {
	if old := x.entry(s.ID); old != nil && old.Packed == nil { // entry loads it, so that it is counted
		x.changed[s.ID] = true
	}
	e := &Entry{ID: s.ID, file: sessions.Identity(st), Packed: &p}
	e.fill(s)
	x.setPacked(s.ID, e)
}

// setPacked sets the entry of a packed checkpoint; nil removes it. A load keeps that until
// x is closed, as the file may not have been renamed yet.
func (x *Index) setPacked(id string, e *Entry) {
	if x.packed == nil {
		x.packed = map[string]*Entry{}
	}
	x.packed[id] = e
	x.set(id, e)
}

// InUse returns the items in the pack of a line that packed checkpoints use, as half-open ranges
// [first, end) in increasing order without overlaps. These items are durable; any other item may be
// left over from an interrupted append.
func (x *Index) InUse(line string) (runs [][2]int) {
	for _, e := range x.entries {
		if e != nil && e.Packed != nil {
			runs = append(runs, e.Packed.Items[line]...)
		}
	}
	slices.SortFunc(runs, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	merged := runs[:0]
	for _, run := range runs {
		if n := len(merged); n > 0 && run[0] <= merged[n-1][1] {
			merged[n-1][1] = max(merged[n-1][1], run[1])
		} else {
			merged = append(merged, run)
		}
	}
	return merged
}
