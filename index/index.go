package index

import (
	"cmp"
	"os"
	"slices"
	"sync"

	"github.com/bough-dev/bough/internal/durable"
	"github.com/bough-dev/bough/internal/sessions"
	"github.com/bough-dev/bough/session"
)

// An Index lists the sessions of a workspace and their links.
//
// An Index from [Open] may load a session only when it is requested; the results
// are the same. Entry and Err are safe for concurrent use with each other, but not
// with other methods.
type Index struct {
	// Trouble is one sentence on why the index file could not be used as it was, or
	// "".
	Trouble string
	// Torn reports that the index file exists but is not a JSON object.
	Torn bool
	// Old reports that the index file is older than a session file. Penguin then
	// considers it out of date.
	Old bool
	// Blank reports that the index file is missing, truncated, unreadable or lists
	// no session.
	Blank bool
	// Temporary lists the paths of temporary files beside the sessions, if the
	// folder was listed. While the caller holds the lock, no writer is using them.
	Temporary []string
	// Foreign lists the changes since the index was written, by another program or
	// by an interrupted command, as far as sessions were examined.
	Foreign Foreign

	root    *os.Root
	aliases map[string]string
	reader  Reader
	limits  limits

	mu      sync.Mutex
	entries map[string]*Entry // nil for a deleted session
	last    *last             // the cached table, nil if entries is complete
	failed  error             // why a load that was needed failed

	names    map[name][]string   // candidates by name, possibly outdated; nil until needed
	lineages map[string][]string // complete lineages, as far as requested
	sorted   []string            // the ids of all entries, oldest session first; nil after a change
	count    count
	places   int // next free position among the members of the index

	recipes *PackedCache
	packed  map[string]*Entry // packed checkpoints that were put, nil for one that was removed
	changed map[string]bool   // sessions whose entry in the index is outdated or missing; true if added or removed
	rewrite bool              // the index must be written completely
	absent  bool              // the index does not exist
	found   string            // Trouble at the time when every session was examined
	claimed bool              // an entry has a link that only another session's file records
	newest  int64             // newest modification time of the session files, in nanoseconds since 1970

	files  files
	folder watch
	before look // the look that x was opened from if its index was valid, else zero
}

// Foreign lists sessions whose files differ from the index.
type Foreign struct {
	Added   []string // not in the index
	Changed []string // the file has another size or other properties
	Touched []string // the file has another time and, as far as known, the same properties
	Removed []string // the file no longer exists
	// Had holds the former number of messages of those in Changed that now have
	// more.
	Had map[string]int
}

// A count holds totals of sessions.
type count struct {
	Sessions int64
	Lists    int64 // number of sessions with a list of links
	Bytes    int64 // lower bound of the size of their index
}

func (c *count) add(e *Entry, sign int64) {
	if e.Packed != nil {
		return // not in the index file
	}
	c.Sessions += sign
	c.Bytes += sign * int64(e.size)
	if e.ListLinks {
		c.Lists += sign
	}
}

// set sets the entry of id; nil marks a deleted session.
func (x *Index) set(id string, e *Entry) {
	if old := x.entries[id]; old != nil {
		x.count.add(old, -1)
	}
	x.entries[id] = e
	if e != nil {
		x.count.add(e, 1)
	}
	if e != nil && x.names != nil {
		x.register(id, e.names())
	}
	x.sorted = nil
	if len(x.lineages) > 0 {
		x.lineages = map[string][]string{}
	}
}

// entry returns the entry of id, or nil.
func (x *Index) entry(id string) *Entry {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, known := x.entries[id]
	if !known && x.last != nil {
		e = x.recall(id)
	}
	if x.failed != nil {
		return &Entry{ID: id, Err: x.failed}
	}
	return e
}

// byAge compares entries by the creation time of their sessions.
func byAge(a, b *Entry) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// all examines every session and returns their ids, oldest first.
func (x *Index) all() []string {
	if x.Whole() != nil {
		return nil
	}
	return x.ids()
}

// ids returns the ids of all entries, oldest session first.
func (x *Index) ids() []string {
	if x.sorted == nil {
		list := make([]*Entry, 0, len(x.entries))
		for _, e := range x.entries {
			if e != nil {
				list = append(list, e)
			}
		}
		slices.SortFunc(list, byAge)
		x.sorted = make([]string, len(list))
		for i, e := range list {
			x.sorted[i] = e.ID
		}
	}
	return x.sorted
}

// Entry returns the entry of a session, or nil if it does not exist or cannot be
// used.
func (x *Index) Entry(id string) *Entry {
	if e := x.entry(id); e != nil && e.Err == nil {
		return e
	}
	return nil
}

// Err returns why the file of id cannot be used, nil if it can or does not exist.
func (x *Index) Err(id string) error {
	if e := x.entry(id); e != nil {
		return e.Err
	}
	return nil
}

// Entries returns the sessions, oldest first, none if Whole returns an error. It examines every
// session.
func (x *Index) Entries() []*Entry {
	var list []*Entry
	for _, id := range x.all() {
		if e := x.entries[id]; e.Err == nil {
			list = append(list, e)
		}
	}
	return list
}

// Unusable returns the entries of files that cannot be used, by id. It examines
// every session.
func (x *Index) Unusable() []*Entry {
	var list []*Entry
	for _, id := range x.all() {
		if e := x.entries[id]; e.Err != nil {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *Entry) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Dialect returns the dialect of the folder: bough's if the folder is empty or any
// session or unusable entry has a list as continued_from; else Penguin's.
func (x *Index) Dialect() session.Dialect {
	if x.count.Lists > 0 || x.count.Sessions == 0 {
		return session.Bough
	}
	return session.Penguin
}

// Mixed returns one session of each dialect, and whether the folder has both. It
// examines every session.
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

// A Reader reads the summary of a session from its file. The error is
// [session.ErrNotFound] if the file does not exist. size is the size of the file;
// total is the size of all files that must be read for the index.
type Reader func(id string, size, total int64) (session.Summary, error)

// Put adds or updates a session that was written, or will be written, to the file
// that st describes.
func (x *Index) Put(s session.Summary, st session.Stat) { x.put(s, sessions.Identity(st)) }

// Written updates the Stat of a session that was put, after its file was renamed,
// which changes the Stat.
func (x *Index) Written(st session.Stat) {
	if e := x.entries[st.ID]; e != nil {
		e.file = sessions.Identity(st)
	}
}

func (x *Index) put(s session.Summary, file durable.Identity) {
	e := &Entry{ID: s.ID, file: file, place: x.places}
	if old := x.entry(s.ID); old != nil && old.Packed == nil {
		e.keep(old)
	} else {
		x.places++
	}
	e.fill(s)
	delete(x.packed, s.ID)
	x.set(s.ID, e)
	x.changed[s.ID] = true
	x.newest = max(x.newest, file.ModTime)
	for _, to := range e.Meta.ContinuedTo {
		x.claim(x.entry(to), e.ID)
	}
}

// claim makes e a continuation of from, whose file names it, if e cannot be used
// and has no link of its own.
func (x *Index) claim(e *Entry, from string) {
	if e == nil || e.Err == nil || len(e.ContinuedFrom) > 0 || e.ID == from {
		return
	}
	e.ContinuedFrom = []string{from}
	x.claimed = true
	if x.names != nil {
		x.register(e.ID, e.names())
	}
}

// Matches reports whether the visible properties of a session in the index agree with
// its file.
func (x *Index) Matches(s session.Summary) bool {
	file := &Entry{ID: s.ID}
	file.fill(s)
	e := x.Entry(s.ID)
	return e != nil && !e.differs(file)
}

// Correct updates the entry of a session with its summary if the two differ for the
// same file.
func (x *Index) Correct(s session.Summary) {
	if e := x.entry(s.ID); e.Packed == nil {
		x.put(s, e.file)
	}
}

// Remove removes a session.
func (x *Index) Remove(id string) {
	e := x.entry(id) // loads it, so that it is counted
	if e != nil && e.Packed != nil {
		x.setPacked(id, nil)
		return
	}
	x.set(id, nil)
	x.changed[id] = true
}

// Rewrite makes the next [Index.Save] write the complete index without a journal,
// so that no trace of removed sessions remains.
func (x *Index) Rewrite() { x.rewrite = true }

// Stale reports whether the index file differs from x.
func (x *Index) Stale() bool { return x.rewrite || len(x.changed) > 0 }

// note records that the index file differs from the session's file.
func (x *Index) note(id string) {
	if !x.changed[id] {
		x.changed[id] = false
	}
}

// outOfDate sets Trouble: the index file differed from the session files.
func (x *Index) outOfDate(why string) {
	if x.Trouble == "" {
		x.Trouble = "the index is out of date: " + why
	}
}
